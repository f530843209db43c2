"""What has been worked out for a value before: the same configuration goes to many clusters.

A value is looked up by its content. Nothing is remembered of values that are large, deep, or of
types that equal one another without being written alike.
"""

from __future__ import annotations

from collections.abc import Hashable
from typing import Final, Generic, TypeVar

from kalypso_actions.goyaml.represented import InOrder

Result = TypeVar("Result")

MAX_ELEMENTS: Final = 256
MAX_DEPTH: Final = 6


class _UnlikeError(Exception):
    """A value that has no key."""


class Remembered(Generic[Result]):
    """Results by the content of the values that they belong to; it forgets all when it is full."""

    def __init__(self, size: int) -> None:
        self._size = size
        self._results: dict[Hashable, Result] = {}

    def get(self, key: Hashable | None) -> Result | None:
        """The result for a key of `content_key`; None where there is none."""
        return None if key is None else self._results.get(key)

    def put(self, key: Hashable | None, result: Result) -> None:
        """Remember a result, unless its value has no key."""
        if key is None:
            return
        if len(self._results) >= self._size:
            self._results.clear()
        self._results[key] = result


def content_key(value: object) -> Hashable | None:
    """Equal for lists and mappings of equal content, order included; None for other values.

    Floats have none: 0.0 equals -0.0. Neither have values of other types than YAML's plain ones,
    which may be written in ways of their own.
    """
    if not isinstance(value, dict | list):
        return None
    try:
        return _key(value, [MAX_ELEMENTS], 0)
    except _UnlikeError:
        return None


def _key(value: object, left: list[int], depth: int) -> Hashable:
    kind = type(value)
    if kind is str or value is None:
        return value
    if kind is int or kind is bool:
        return (kind, value)  # 1 equals true
    if not isinstance(value, dict | list) or kind is InOrder or depth > MAX_DEPTH:
        raise _UnlikeError
    left[0] -= len(value)
    if left[0] < 0:
        raise _UnlikeError
    if isinstance(value, list):
        return ("-", *[v if type(v) is str else _key(v, left, depth + 1) for v in value])
    keys = [k if type(k) is str else _key(k, left, depth + 1) for k in value]
    values = [v if type(v) is str else _key(v, left, depth + 1) for v in value.values()]
    return (":", *keys, *values)
