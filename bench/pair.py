"""The time of a comparison of two plans, as a part of that of one full plan.

The plans differ in one ConfigMap. Both are measured in one process, by processor time.
"""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Callable
from functools import partial

from bench.fleet import Fleet
from bench.snapshots import snapshot_of
from kalypso_actions.model.kinds import ConfigMap
from kalypso_actions.model.progress import no_progress
from kalypso_actions.model.tree import Snapshot
from kalypso_actions.plan import PlanOptions, make_plan
from kalypso_actions.plan_pair import plan_pair
from kalypso_actions.scheduling import find_scheduler

PART_ALLOWED = 0.25
ROUNDS = 3


def measure(fleet: Fleet) -> list[str]:
    """Print the times for a change of one workload's and of one cluster type's configuration."""
    snapshot = snapshot_of(fleet)
    scheduler = find_scheduler()
    full = _seconds(lambda: make_plan(snapshot, PlanOptions(), scheduler, no_progress))
    print(f"\n  {'a full plan':<40}{full:14.2f} s")
    missed = []
    for what, prefix in (("workload", "d-"), ("cluster type", "c-")):
        head = _changed(snapshot, prefix)
        plans = partial(plan_pair, snapshot, head, PlanOptions(), scheduler, no_progress)
        pair = _seconds(plans)
        name = f"two plans: configuration of one {what}"
        print(f"  {name:<46}{pair:8.2f} s {pair / full:6.2f} × the full plan")
        if pair > PART_ALLOWED * full:
            missed.append(f"{name}: {pair / full:.2f} of a full plan, {PART_ALLOWED} is allowed")
    return missed


def _changed(snapshot: Snapshot, prefix: str) -> Snapshot:
    """Return the snapshot with another value in the first ConfigMap with this prefix."""
    config_maps = [*snapshot.fleet.config_maps]
    index = next(i for i, item in enumerate(config_maps) if item.name.startswith(prefix))
    changed: ConfigMap = config_maps[index]
    data = {**changed.data, "CHANGED": "true"}
    config_maps[index] = dataclasses.replace(changed, data=data)
    fleet = dataclasses.replace(snapshot.fleet, config_maps=tuple(config_maps))
    return dataclasses.replace(snapshot, fleet=fleet)


def _seconds(measured: Callable[[], object]) -> float:
    """Return the least processor time of several rounds."""

    def once() -> float:
        started = time.process_time()
        measured()
        return time.process_time() - started

    return min(once() for _ in range(ROUNDS))
