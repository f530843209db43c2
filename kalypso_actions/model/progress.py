"""Progress of long steps."""

from __future__ import annotations

from collections.abc import Callable

Progress = Callable[[int, int], None]
"""A function to call with the numbers of finished and of all parts, first with 0 finished."""


def no_progress(_done: int, _total: int) -> None:
    """Ignore the progress."""
