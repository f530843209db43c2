"""Limits on the size of values: a short expression can need more memory than a machine has.

cel-go does not count memory: its lists share their parts, and the cost of some functions depends on
their arguments alone. Both limits are far above the needs of an expression about a cluster. An
expression that exceeds a limit raises an error, and never decides about a cluster.
"""

from __future__ import annotations

from typing import Final

from kalypso_placement.cel.values import Optional, SizedList, SizedMap, Value

MAX_SIZE: Final = 100_000
"""The parts of a value: elements, entries, and tens of characters."""
MAX_WORK: Final = 2_000_000
"""The parts of all arguments of one evaluation."""
MAX_PRECISION: Final = 1_000
"""The digits of a formatted number."""

_CHARACTERS: Final = 10


class TooLargeError(Exception):
    """A value of the expression, or the work on its values, is larger than allowed."""


def size_of(value: Value) -> int:
    """Return the number of parts of a value."""
    if isinstance(value, SizedList | SizedMap):
        return value.parts
    if isinstance(value, str | bytes):
        return 1 + len(value) // _CHARACTERS
    if isinstance(value, list):
        return 1 + sum(map(size_of, value))
    if isinstance(value, dict):
        return 1 + sum(map(size_of, value.keys())) + sum(map(size_of, value.values()))
    return size_of(value.content) if isinstance(value, Optional) else 1


def checked(value: Value) -> Value:
    """Return a value that knows its size, at all levels. Raises TooLargeError."""
    if type(value) is list:
        return _with_parts(SizedList(map(checked, value)))
    if type(value) is dict:
        return _with_parts(SizedMap({key: checked(item) for key, item in value.items()}))
    if isinstance(value, str | bytes):
        check_length(len(value))
    return value


def joined(first: list[Value], second: list[Value]) -> SizedList:
    """Return two lists as one. Raises TooLargeError."""
    result = SizedList(first)
    result += second
    _limit(result, size_of(first) + size_of(second) - 1)
    return result


def check_length(characters: int) -> None:
    """Raise TooLargeError if a text of this length is too large."""
    if characters // _CHARACTERS >= MAX_SIZE:
        raise TooLargeError


def _with_parts(value: SizedList | SizedMap) -> Value:
    items = value if isinstance(value, list) else [*value.keys(), *value.values()]
    _limit(value, 1 + sum(map(size_of, items)))
    return value


def _limit(value: SizedList | SizedMap, parts: int) -> None:
    if parts > MAX_SIZE:
        raise TooLargeError
    value.parts = parts
