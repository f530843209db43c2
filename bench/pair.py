"""The time of a comparison of two plans with secrets masked, in relation to one full plan.

The plans differ in one ConfigMap: of one workload, of one cluster type, or of all assignments.
Everything is measured in one process, by processor time.

    python -m bench.pair --assignments 100000 --rounds 1
"""

from __future__ import annotations

import argparse
import dataclasses
import gc
import sys
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Final

from bench.fleet import Fleet, make_fleet
from bench.snapshots import snapshot_of
from kalypso_actions.cli.command_list import COLLECTED_AFTER
from kalypso_actions.comparison import Mask
from kalypso_actions.model.kinds import ConfigMap
from kalypso_actions.model.progress import no_progress
from kalypso_actions.model.tree import Snapshot
from kalypso_actions.plan import PlanOptions, make_plan
from kalypso_actions.plan_pair import plan_pair
from kalypso_actions.scheduling import Scheduler, find_scheduler

CHANGES: Final = (
    ("one workload", "d-", 0.25),
    ("one cluster type", "c-", 0.25),
    ("all", "a-", 2.0),
)
"""Whose configuration differs, the prefix of its ConfigMap, and the allowed part of a full plan."""
ROUNDS = 3


def main() -> int:
    """Print the times; 1 if a target is missed."""
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
    plan = _seconds(lambda: make_plan(snapshot, PlanOptions(), scheduler, no_progress), rounds)
    print(f"\n  {'a full plan':<40}{plan:14.2f} s", flush=True)
    missed = []
    for what, prefix, allowed in CHANGES:
        head = _changed(snapshot, prefix)
        pair = _seconds(partial(_compare, snapshot, head, scheduler), rounds)
        name = f"two plans: configuration of {what}"
        print(f"  {name:<46}{pair:8.2f} s {pair / plan:6.2f} × the full plan", flush=True)
        if pair > allowed * plan:
            missed.append(f"{name}: {pair / plan:.2f} × a full plan, {allowed} × is allowed")
    return missed


def _compare(base: Snapshot, head: Snapshot, scheduler: Scheduler) -> None:
    plan_pair(base, head, PlanOptions(), scheduler, no_progress).masked(Mask())


def _changed(snapshot: Snapshot, prefix: str) -> Snapshot:
    """Return the snapshot with another value in the first ConfigMap with this prefix."""
    config_maps = [*snapshot.fleet.config_maps]
    index = next(i for i, item in enumerate(config_maps) if item.name.startswith(prefix))
    changed: ConfigMap = config_maps[index]
    data = {**changed.data, "CHANGED": "true"}
    config_maps[index] = dataclasses.replace(changed, data=data)
    fleet = dataclasses.replace(snapshot.fleet, config_maps=tuple(config_maps))
    return dataclasses.replace(snapshot, fleet=fleet)


def _seconds(measured: Callable[[], object], rounds: int) -> float:
    """Return the least processor time of several rounds."""

    def once() -> float:
        started = time.process_time()
        measured()
        return time.process_time() - started

    return min(once() for _ in range(rounds))


if __name__ == "__main__":
    sys.exit(main())
