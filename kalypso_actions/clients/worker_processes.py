"""Compute many items in several processes that share the memory of this one.

Forked processes have everything that this process has in memory, so they receive nothing, and send
back only results. Forking is safe only on Linux, and only in a process with a single thread.
"""

from __future__ import annotations

import gc
import multiprocessing
import os
import signal
import sys
import threading
import traceback
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from multiprocessing.connection import Connection
from typing import Final, Generic, TypeVar

from kalypso_actions.errors import KalypsoError
from kalypso_actions.model.object_ids import FileContent, blob_id
from kalypso_actions.model.processes import Keep, WriteBlobs

Result = TypeVar("Result")

MOST: Final = 4
"""The maximum number of processes; each takes memory of its own."""

PARALLEL_FROM: Final = 2_000
"""The fewest assignments for which processes save more time than their start takes."""

BATCH: Final = 256
"""The number of results that a process sends at once."""


class WorkerProcesses:
    """Forked processes, which keep the contents of files with `write_blobs` if it is given."""

    def __init__(
        self, parallel_from: int = PARALLEL_FROM, write_blobs: WriteBlobs | None = None
    ) -> None:
        """`parallel_from` is the fewest items that are worth several processes."""
        self._parallel_from = parallel_from
        self._write_blobs = write_blobs

    def usable(self, items: int) -> int:
        """Return how many processes to use: 1 for few items, or if forking is not safe."""
        if items < self._parallel_from or sys.platform != "linux" or threading.active_count() > 1:
            return 1
        return min(MOST, len(os.sched_getaffinity(0)))

    def compute(
        self, owners: Sequence[int], compute: Callable[[int, Keep], Result]
    ) -> Iterator[Result]:
        """Yield `compute(index, keep)` for each index of `owners`, in order.

        An item of `owners` is the number of the process that computes that index. Raises what
        `compute` and `write_blobs` raise, and KalypsoError if a process is killed.
        """
        for stream in (sys.stdout, sys.stderr):
            stream.flush()  # a child would write the buffered text again
        context = multiprocessing.get_context("fork")
        gc.freeze()  # a garbage collection in a child would copy the shared pages
        processes = []
        receivers: list[Iterator[Result]] = []
        try:
            for owner in range(max(owners, default=-1) + 1):
                receiver, sender = context.Pipe(duplex=False)
                indexes = [index for index, other in enumerate(owners) if other == owner]
                worker = _Worker(indexes, compute, sender, self._write_blobs)
                process = context.Process(target=worker.run, daemon=True)
                process.start()
                sender.close()
                processes.append(process)
                receivers.append(_received(receiver))
            for owner in owners:
                yield next(receivers[owner])
            for receiver_ in receivers:
                next(receiver_, None)  # wait until the process has written its blobs
        finally:
            gc.unfreeze()
            for process in processes:
                process.kill()
                process.join()


@dataclass(frozen=True, slots=True)
class _Worker(Generic[Result]):
    """Computes the items of one process, and sends the results in batches, then None."""

    indexes: Sequence[int]
    compute: Callable[[int, Keep], Result]
    sender: Connection
    write_blobs: WriteBlobs | None

    def run(self) -> None:
        """Send all results, or an exception."""
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, signal.SIG_DFL)  # the parent's handlers end the parent's programs
        with suppress(BrokenPipeError):  # the parent needs no more results
            try:
                contents = self._contents()
                if self.write_blobs:
                    self.write_blobs(contents)
                else:
                    deque(contents, maxlen=0)
            except Exception as error:  # noqa: BLE001 - the parent raises it
                error.add_note(traceback.format_exc())
                self.sender.send(error)
            else:
                self.sender.send(None)

    def _contents(self) -> Iterator[bytes]:
        """Compute and send the results, and yield the contents of files that they keep."""
        kept: list[bytes] = []

        def keep(content: bytes) -> FileContent:
            if not self.write_blobs:
                return content
            kept.append(content)
            return blob_id(content)

        batches = (self.indexes[at : at + BATCH] for at in range(0, len(self.indexes), BATCH))
        for batch in batches:
            results = [self.compute(index, keep) for index in batch]
            yield from kept
            kept.clear()
            self.sender.send(results)


def _received(receiver: Connection) -> Iterator[Result]:
    while True:
        try:
            received = receiver.recv()
        except EOFError:
            raise KalypsoError(
                "a rendering process was killed, probably for lack of memory",
                advice="run on a machine with more memory",
            ) from None
        if received is None:
            return
        if isinstance(received, Exception):
            raise received
        yield from received
