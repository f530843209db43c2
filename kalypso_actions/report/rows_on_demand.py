"""The rows of a long table, which are made when somebody reads them.

A run with 100,000 assignments prints the first 500 of them, or writes them one by one as JSON.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice
from typing import Final, Generic, TypeVar, overload

Row = TypeVar("Row")

LONG: Final = 1000
"""The most rows to make at once; more of them would take more memory than the run."""


class RowsOnDemand(Sequence[Row], Generic[Row]):
    """The rows that `make` returns, anew for each reader; there are `length` of them."""

    def __init__(self, length: int, make: Callable[[], Iterable[Row]]) -> None:
        self._length = length
        self._make = make

    def __len__(self) -> int:
        return self._length

    def __iter__(self) -> Iterator[Row]:
        return iter(self._make())

    @overload
    def __getitem__(self, index: int) -> Row: ...

    @overload
    def __getitem__(self, index: slice) -> Sequence[Row]: ...

    def __getitem__(self, index: int | slice) -> Row | Sequence[Row]:
        if isinstance(index, slice):
            places = range(*index.indices(self._length))
            first = list(islice(self, max(places, default=-1) + 1))
            return [first[place] for place in places]
        return next(islice(self, range(self._length)[index], None))


def rows(length: int, make: Callable[[], Iterable[Row]]) -> Sequence[Row]:
    """Return the rows of `make`: a tuple of few, or many of them on demand."""
    return tuple(make()) if length <= LONG else RowsOnDemand(length, make)
