"""Plan two snapshots of an environment at once, and render only what differs."""

from __future__ import annotations

from dataclasses import dataclass

from kalypso_actions.model.differences import Comparison
from kalypso_actions.model.kinds import Fleet
from kalypso_actions.model.progress import Progress
from kalypso_actions.model.tree import Snapshot
from kalypso_actions.plan import PlannedAssignment, PlanOptions
from kalypso_actions.scheduling import Schedule, Scheduler


@dataclass(frozen=True, slots=True)
class PairedPlan:
    """One side of a pair.

    `assignments` are all, by folder; `files` are those of the rendered ones, by path in the tree.
    """

    fleet: Fleet
    schedule: Schedule
    assignments: dict[str, PlannedAssignment]
    files: dict[str, bytes]


@dataclass(frozen=True, slots=True)
class PlanPair:
    """Two plans, and what differs between them, with secrets: show it through a Mask."""

    base: PairedPlan
    head: PairedPlan
    comparison: Comparison


def plan_pair(
    base: Snapshot,
    head: Snapshot,
    options: PlanOptions,
    scheduler: Scheduler,
    progress: Progress,
) -> PlanPair:
    """Plan both snapshots; render assignments whose inputs differ, on both sides.

    The result is that of two full plans. Base trees are needed by neither side; with those of
    `head`, its mass removals are counted in them, otherwise in the assignments of `base`.
    """
    raise NotImplementedError
