"""Numbers of things, for people."""

from __future__ import annotations


def counted(number: int, one: str, many: str = "") -> str:
    """`1 file`, `2 files`; `many` is the plural that is not made by an s."""
    return f"{number} {one if number == 1 else many or f'{one}s'}"
