"""Processes that compute at once."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Protocol, TypeVar

Result = TypeVar("Result")


class Processes(Protocol):
    """Computes items in several processes."""

    def usable(self, items: int, /) -> int:
        """Return how many processes compute so many items; 1 if only this process should."""

    def compute(
        self, owners: Sequence[int], compute: Callable[[int], Result], /
    ) -> Iterator[Result]:
        """Yield `compute(index)` for each index of `owners`, in order.

        An item is computed by the process with the number `owners[index]`; each process computes
        its own items in order.
        """
