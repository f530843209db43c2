"""Events in the middle of a run: right before its n-th write to GitHub or git."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager

from tests.commands.chain.killing import before_writes


def before_write(number: int, event: Callable[[], object]) -> AbstractContextManager[None]:
    """Let `event` happen before the write with this number, counted from 0."""
    return before_writes(lambda write: event() if write == number else None)
