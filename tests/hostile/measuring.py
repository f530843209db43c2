"""The cost of an attack: processor time and memory of a process of its own."""

from __future__ import annotations

import json
import multiprocessing
import os
import re
import resource
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Final

from tests.breaks import BREAKING

_MEGABYTE: Final = 1 << 20

_REFERENCE_SECONDS: Final = 1
"""The processor time of the work of `slowness` on the machine that the bounds are written for."""

# A break is in this process alone, and in its forks.
_PROCESSES: Final = (
    multiprocessing.get_context("fork")
    if BREAKING in os.environ
    else multiprocessing.get_context("forkserver")
)


@dataclass(frozen=True, slots=True)
class Cost:
    """The cost of one attack, and the `text` that it ends with."""

    seconds: float
    megabytes: float
    text: str


def measured(most_seconds: int, attack: Callable[..., str], *arguments: object) -> Cost:
    """Measure an attack and its children in a process of its own; it must be importable.

    It is killed when it has used `most_seconds` of processor time.
    """
    # Each process would import the attacks for half a second. There is one list for all contexts:
    # a module that set another one on import would replace a list that is set above.
    _PROCESSES.set_forkserver_preload(["tests.hostile.attacks"])
    ours, theirs = _PROCESSES.Pipe(duplex=False)
    process = _PROCESSES.Process(target=_run, args=(theirs, most_seconds, attack, arguments))
    process.start()
    theirs.close()
    try:
        cost: Cost = ours.recv()
    except EOFError:
        process.join()
        cost = Cost(most_seconds, 0, f"the attack was killed: {process.exitcode}")
    process.join()
    return cost


def slowness() -> float:
    """Return how many times longer this machine works now than the one of the bounds, at least 1.

    A slow machine, or other work on it, says nothing about the product.
    """
    started = time.process_time()
    for _ in range(20_000):
        mapping = {f"key{number}": [str(number), {"a": number}] for number in range(30)}
        text = json.dumps(mapping)
        assert len(re.findall(r"key\d+", text)) == len(json.loads(text))
    return max(1, (time.process_time() - started) / _REFERENCE_SECONDS)


def _run(
    result: Connection,
    most_seconds: int,
    attack: Callable[..., str],
    arguments: tuple[object, ...],
) -> None:
    resource.setrlimit(resource.RLIMIT_CPU, (most_seconds, most_seconds))
    before = _memory("VmRSS")
    _forget_peak()
    text = attack(*arguments)
    own, children = (
        resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)
    )
    seconds = own.ru_utime + own.ru_stime + children.ru_utime + children.ru_stime
    of_children = children.ru_maxrss * (1 if sys.platform == "darwin" else 1024)
    if BREAKING in os.environ:
        # A child counts what its parent had when the child became another program: all tests.
        of_children -= before
    megabytes = max(_memory("VmHWM") - before, of_children) / _MEGABYTE
    result.send(Cost(seconds, megabytes, text))


def _memory(field: str) -> int:
    """Return a field of Linux's status of this process in bytes; 0 elsewhere."""
    status = Path("/proc/self/status")
    for line in status.read_text().splitlines() if status.exists() else ():
        if line.startswith(field):
            return int(line.split()[1]) * 1024
    return 0


def _forget_peak() -> None:
    """Reset VmHWM: see proc_pid_clear_refs(5)."""
    file = Path("/proc/self/clear_refs")
    if file.exists():
        file.write_text("5")
