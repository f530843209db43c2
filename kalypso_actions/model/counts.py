"""Numbers of things, for people."""

from __future__ import annotations

from collections.abc import Sequence


def counted(number: int, one: str, many: str = "") -> str:
    """`1 file`, `2 files`; `many` is the plural that is not made by an s."""
    return f"{number} {one if number == 1 else many or f'{one}s'}"


def abbreviated(names: Sequence[str], most: int = 3) -> str:
    """`a, b, c and 2 more`: the first names, and how many there are besides."""
    left = len(names) - most
    shown = ", ".join(names[:most])
    return f"{shown} and {left} more" if left > 0 else shown
