"""Processes that compute at once."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Protocol, TypeVar

from kalypso_actions.model.object_ids import FileContent

Result = TypeVar("Result")


Keep = Callable[[bytes], FileContent]
"""Keeps the content of a file: it returns the content itself, or the id of a written blob."""


class Processes(Protocol):
    """Computes items in several processes."""

    def usable(self, items: int, /) -> int:
        """Return how many processes compute so many items; 1 if only this process should."""

    def compute(
        self, owners: Sequence[int], compute: Callable[[int, Keep], Result], /
    ) -> Iterator[Result]:
        """Yield `compute(index, keep)` for each index of `owners`, in order.

        An item is computed by the process with the number `owners[index]`; each process computes
        its own items in order. All blobs are written when the last result has been yielded.
        """
