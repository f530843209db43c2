"""A cache with a limit on the total size of its results, not on their number."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Generic, TypeVar

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
