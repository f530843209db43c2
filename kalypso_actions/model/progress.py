"""Who is told how far a long step is."""

from __future__ import annotations

from collections.abc import Callable

Progress = Callable[[int, int], None]
"""Called with how many of how many assignments are done."""


def no_progress(_done: int, _total: int) -> None:
    """Progress that nobody is told of."""
