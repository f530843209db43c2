"""Long steps: parallel processes, and the progress that people see."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Protocol, TypeVar

from kalypso_actions.model.object_ids import FileContent

Result = TypeVar("Result")


Keep = Callable[[bytes], FileContent]
"""Keeps the content of a file: it returns the content itself, or the id of a written blob."""


WriteBlobs = Callable[[Iterable[bytes]], None]
"""Writes blobs that a later commit has; several processes may write at once."""


class Processes(Protocol):
    """Computes items in several processes."""

    def usable(self, items: int, /) -> int:
        """Return the number of processes for a number of items; 1 means this process alone."""

    def compute(
        self, owners: Sequence[int], compute: Callable[[int, Keep], Result], /
    ) -> Iterator[Result]:
        """Yield `compute(index, keep)` for each index of `owners`, in order.

        The process with the number `owners[index]` computes an item; each process computes its own
        items in order. All blobs are written when the last result has been yielded.
        """


Progress = Callable[[int, int], None]
"""A function to call with the numbers of finished and of all parts, first with 0 finished."""


def no_progress(_done: int, _total: int) -> None:
    """Ignore the progress."""
