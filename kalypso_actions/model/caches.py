"""Caches with a limit on the total size of their results, not on their number."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Generic, TypeVar

Item = TypeVar("Item")
Result = TypeVar("Result")


class SizedCache(Generic[Result]):
    """Maps keys to results, and drops all results when it is full. Threads may share it."""

    def __init__(self, limit: int) -> None:
        """Keep results with a total size of at most `limit`."""
        self._limit = limit
        self._size = 0
        self._results: dict[Hashable, Result] = {}

    def get(self, key: Hashable) -> Result | None:
        """Return the result for a key; None if there is none."""
        return self._results.get(key)

    def put(self, key: Hashable, result: Result, size: int) -> None:
        """Keep a result, unless it alone exceeds the limit."""
        if size > self._limit:
            return
        if self._size + size > self._limit:
            self._results = {}
            self._size = 0
        self._results[key] = result
        self._size += size


class IdentityCache(Generic[Item, Result]):
    """Maps objects to results by identity, and drops all results when it is full.

    It keeps the objects with their result: Python may give the id of a freed object to another.
    """

    def __init__(self, limit: int) -> None:
        """Keep results with a total size of at most `limit`."""
        self._known: SizedCache[tuple[tuple[Item, ...], Result]] = SizedCache(limit)

    def result(self, make: Callable[..., Result], *objects: Item, size: int = 1) -> Result:
        """Return `make(*objects)`; make it only if these objects have no result yet."""
        key = tuple(map(id, objects))
        known = self._known.get(key)
        if known is None:
            known = objects, make(*objects)
            self._known.put(key, known, size)
        return known[1]
