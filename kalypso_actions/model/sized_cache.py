"""A cache that is bounded by the size of what it keeps, not by the number of entries."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Generic, TypeVar

Result = TypeVar("Result")


class SizedCache(Generic[Result]):
    """Maps keys to results; a full cache is emptied. Threads may share it."""

    def __init__(self, limit: int) -> None:
        """Keep results whose sizes sum up to at most `limit`."""
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
