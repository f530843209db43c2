"""Counts and lists in messages."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

MAX_LISTED: Final = 8
"""The most names that advice lists: nobody reads more."""


def counted(number: int, singular: str, plural: str = "") -> str:
    """Return `1 file`, `2 files`; `plural` is an irregular plural."""
    return f"{number} {singular if number == 1 else plural or f'{singular}s'}"


def abbreviated(names: Sequence[str], most: int = 3, more: int = 0) -> str:
    """Return `a, b, c and 2 more`: the first names, and the number of others.

    `more` is the number of those that `names` lack.
    """
    left = len(names) + more - most
    shown = ", ".join(names[:most])
    return f"{shown} and {left} more" if left > 0 else shown
