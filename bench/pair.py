"""The time of a comparison of two plans with secrets masked, in relation to one full plan.

The plans differ in one ConfigMap: of one workload, of one cluster type, or of all assignments.
Both kinds of plans are made as the commands make them: from 2,000 assignments on, by several
processes, whose processor time counts.

    python -m bench.pair --assignments 100000 --rounds 1
"""

from __future__ import annotations

import argparse
import dataclasses
import gc
import resource
import sys
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Final, NamedTuple

from bench.fleet import Fleet, make_fleet
from bench.snapshots import snapshot_of
from kalypso_actions.cli.process import COLLECTED_AFTER
from kalypso_actions.clients.worker_processes import WorkerProcesses
from kalypso_actions.comparison import Mask
from kalypso_actions.model.kinds import ConfigMap
from kalypso_actions.model.processes import no_progress
from kalypso_actions.model.tree import Snapshot
from kalypso_actions.planning.plan import PlanOptions, make_plan
from kalypso_actions.planning.plan_pair import plan_pair
from kalypso_actions.scheduling import Scheduler
from kalypso_actions.scheduling.registry import find_scheduler

CHANGES: Final = (
    ("one workload", "d-", 0.25),
    ("one cluster type", "c-", 0.25),
    ("all", "a-", 2.0),
)
"""The scope of a change, the prefix of its ConfigMap, and the allowed part of a full plan."""
ROUNDS = 3


def main() -> int:
    """Print the times; return 1 if a target is missed."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--assignments", type=int, default=10_000)
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="kalypso-bench-") as folder:
        missed = measure(make_fleet(Path(folder), given.assignments), given.rounds)
    print("\n".join(f"missed: {line}" for line in missed))
    return 1 if missed else 0


def measure(fleet: Fleet, rounds: int = ROUNDS) -> list[str]:
    """Print the times of a full plan and of each change; return the missed targets."""
    gc.set_threshold(COLLECTED_AFTER)
    snapshot = snapshot_of(fleet)
    scheduler = find_scheduler()
    plan = _least(partial(_plan, snapshot, scheduler), rounds)
    print(f"\n  {'':<46}{'elapsed':>9}{'':10}{'processor time':>19}", flush=True)
    print(f"  {'a full plan':<46}{plan.elapsed:7.2f} s{'':10}{plan.used:12.2f} s", flush=True)
    missed = []
    for what, prefix, allowed in CHANGES:
        head = _changed(snapshot, prefix)
        pair = _least(partial(_compare, snapshot, head, scheduler), rounds)
        name = f"two plans: configuration of {what}"
        elapsed, used = pair.elapsed / plan.elapsed, pair.used / plan.used
        line = f"{pair.elapsed:7.2f} s ({elapsed:4.2f} ×){pair.used:12.2f} s ({used:4.2f} ×)"
        print(f"  {name:<46}{line}", flush=True)
        if elapsed > allowed:
            missed.append(f"{name}: {elapsed:.2f} × a full plan, {allowed} × is allowed")
    return missed


def _plan(snapshot: Snapshot, scheduler: Scheduler) -> None:
    make_plan(snapshot, PlanOptions(), scheduler, no_progress, WorkerProcesses())


def _compare(base: Snapshot, head: Snapshot, scheduler: Scheduler) -> None:
    mask = Mask()
    pair = plan_pair(
        base, head, PlanOptions(), scheduler, no_progress, mask, processes=WorkerProcesses()
    )
    pair.masked(mask)


def _changed(snapshot: Snapshot, prefix: str) -> Snapshot:
    """Return the snapshot with another value in the first ConfigMap with this prefix."""
    config_maps = [*snapshot.fleet.config_maps]
    index = next(i for i, item in enumerate(config_maps) if item.name.startswith(prefix))
    changed: ConfigMap = config_maps[index]
    data = {**changed.data, "CHANGED": "true"}
    config_maps[index] = dataclasses.replace(changed, data=data)
    fleet = dataclasses.replace(snapshot.fleet, config_maps=tuple(config_maps))
    return dataclasses.replace(snapshot, fleet=fleet)


class _Seconds(NamedTuple):
    elapsed: float
    used: float


def _least(measured: Callable[[], object], rounds: int) -> _Seconds:
    """Return the least elapsed time and the least processor time of several rounds."""
    times = [_once(measured) for _ in range(rounds)]
    return _Seconds(min(item.elapsed for item in times), min(item.used for item in times))


def _once(measured: Callable[[], object]) -> _Seconds:
    started, used = time.monotonic(), _used()
    measured()
    return _Seconds(time.monotonic() - started, _used() - used)


def _used() -> float:
    """Return the processor time of this process and of its children that have ended."""
    times = map(resource.getrusage, (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(item.ru_utime + item.ru_stime for item in times)


if __name__ == "__main__":
    sys.exit(main())
