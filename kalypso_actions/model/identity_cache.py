"""A cache of results for the same objects, where comparing their contents would take longer."""

from __future__ import annotations

from collections.abc import Callable
from typing import Generic, TypeVar

from kalypso_actions.model.sized_cache import SizedCache

Item = TypeVar("Item")
Result = TypeVar("Result")


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
