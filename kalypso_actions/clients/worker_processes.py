"""Compute many items by several processes that know everything this process knows.

Processes are forked, so that nothing is copied or sent but the results. Only Linux forks safely,
and only a process with a single thread.
"""

from __future__ import annotations

import gc
import multiprocessing
import os
import signal
import sys
import threading
import traceback
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from multiprocessing.connection import Connection
from typing import Final, TypeVar

from kalypso_actions.errors import KalypsoError

Result = TypeVar("Result")

MOST: Final = 4
"""Processes; each takes memory of its own."""

PARALLEL_FROM: Final = 20_000
"""Assignments; of fewer, the processes' start and results take what they save."""

BATCH: Final = 64
"""Results that are sent at once."""


class WorkerProcesses:
    """Forked processes."""

    def __init__(self, parallel_from: int = PARALLEL_FROM) -> None:
        """`parallel_from` is the number of items that are worth it."""
        self._parallel_from = parallel_from

    def usable(self, items: int) -> int:
        """Return how many processes compute the items; 1 where forking is not safe."""
        if items < self._parallel_from or sys.platform != "linux" or threading.active_count() > 1:
            return 1
        return min(MOST, len(os.sched_getaffinity(0)))

    def compute(self, owners: Sequence[int], compute: Callable[[int], Result]) -> Iterator[Result]:
        """Yield `compute(index)` for each index of `owners`, in order.

        Raises what `compute` raises, and KalypsoError if a process is killed.
        """
        for stream in (sys.stdout, sys.stderr):
            stream.flush()  # a child would write what is buffered, too
        context = multiprocessing.get_context("fork")
        gc.freeze()  # a collection would copy the pages that are shared
        processes = []
        receivers: list[Iterator[Result]] = []
        try:
            for owner in range(max(owners, default=-1) + 1):
                receiver, sender = context.Pipe(duplex=False)
                process = context.Process(
                    target=_send_all, args=(owner, owners, compute, sender), daemon=True
                )
                process.start()
                sender.close()
                processes.append(process)
                receivers.append(_received(receiver))
            for owner in owners:
                yield next(receivers[owner])
        finally:
            gc.unfreeze()
            for process in processes:
                process.kill()
                process.join()


def _send_all(
    owner: int, owners: Sequence[int], compute: Callable[[int], Result], sender: Connection
) -> None:
    """Compute one process's items; after an exception, send it and end."""
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.SIG_DFL)  # this process's handlers are for its programs
    batch: list[Result] = []
    with suppress(BrokenPipeError):  # nobody waits for more
        try:
            for index, of_item in enumerate(owners):
                if of_item == owner:
                    batch.append(compute(index))
                    if len(batch) == BATCH:
                        sender.send(batch)
                        batch = []
        except Exception as error:  # noqa: BLE001 - the other process raises it
            error.add_note(traceback.format_exc())
            sender.send(batch)
            sender.send(error)
        else:
            sender.send(batch)


def _received(receiver: Connection) -> Iterator[Result]:
    while True:
        try:
            received = receiver.recv()
        except EOFError:
            raise KalypsoError(
                "a process that renders was killed, probably for want of memory",
                advice="run on a machine with more memory",
            ) from None
        if isinstance(received, Exception):
            raise received
        yield from received
