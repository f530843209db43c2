"""A cache of results for equal values: many clusters share the same configuration.

The key is the content of the value. Large and deep values have no key, nor have values of types
that compare equal but are written differently.
"""

from __future__ import annotations

from collections.abc import Hashable
from typing import Final, Generic, TypeVar

from kalypso_go.goyaml.keys import InOrder

Result = TypeVar("Result")

MAX_ELEMENTS: Final = 32
"""Larger values, such as whole configurations, are rarely equal unless they are the same object."""
MAX_DEPTH: Final = 6
MAX_CHARACTERS: Final = 1 << 24


class _NoKeyError(Exception):
    """The value has no key."""


class ContentCache(Generic[Result]):
    """Maps the content of values to results, and empties itself when it is full.

    It holds at most `size` results, whose keys have texts of at most `MAX_CHARACTERS` in all.
    """

    def __init__(self, size: int) -> None:
        self._size = size
        self._characters = 0
        self._results: dict[Hashable, Result] = {}

    def get(self, key: Hashable | None) -> Result | None:
        """Return the result for a key of `content_key`; None if there is none."""
        return None if key is None else self._results.get(key)

    def put(self, key: Hashable | None, result: Result, characters: int) -> None:
        """Keep a result, unless its value has no key.

        `characters` is at least the number of characters in the texts of the key.
        """
        if key is None:
            return
        if len(self._results) >= self._size or self._characters + characters > MAX_CHARACTERS:
            self._results.clear()
            self._characters = 0
        if characters <= MAX_CHARACTERS:
            self._results[key] = result
            self._characters += characters


def content_key(value: object) -> Hashable | None:
    """Return a key for a list or mapping; equal content in equal order has an equal key.

    Returns None for other values, and for content without a key: floats, because 0.0 equals -0.0,
    and types beyond YAML's own, because `represent` may write them in any way.
    """
    if not isinstance(value, dict | list):
        return None
    try:
        return _key(value, [MAX_ELEMENTS], 0)
    except _NoKeyError:
        return None


def _key(value: object, left: list[int], depth: int) -> Hashable:
    kind = type(value)
    if kind is str or value is None:
        return value
    if kind is int or kind is bool:
        return (kind, value)  # 1 equals true
    if not isinstance(value, dict | list) or kind is InOrder or depth > MAX_DEPTH:
        raise _NoKeyError
    left[0] -= len(value)
    if left[0] < 0:
        raise _NoKeyError
    if isinstance(value, list):
        return ("-", *[v if type(v) is str else _key(v, left, depth + 1) for v in value])
    keys = [k if type(k) is str else _key(k, left, depth + 1) for k in value]
    values = [v if type(v) is str else _key(v, left, depth + 1) for v in value.values()]
    return (":", *keys, *values)
