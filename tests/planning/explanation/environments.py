"""Environments to explain."""

from __future__ import annotations

from kalypso_actions.comparison import Mask
from kalypso_actions.model.documents import Reading
from kalypso_actions.model.kinds import Fleet
from kalypso_actions.model.tree import RegistrationReading, Snapshot
from kalypso_actions.planning.explanation import ExplainedEnvironment
from kalypso_actions.planning.plan import PlanOptions
from kalypso_actions.scheduling import LabelScheduler, Scheduler
from tests.plans import REVISION


def environment(
    fleet_: Fleet,
    *registrations: RegistrationReading,
    scheduler: Scheduler | None = None,
    mask: str = "",
) -> ExplainedEnvironment:
    """Return the environment of a fleet; `mask` is a glob of secret keys."""
    snapshot = Snapshot(
        environment=fleet_.environment,
        own=Reading(REVISION),
        bases=(),
        fleet=fleet_,
        registrations=registrations,
        base_trees=(),
        problems=(),
        warnings=(),
    )
    masked = Mask([mask] if mask else [])
    return ExplainedEnvironment.of(snapshot, PlanOptions(), scheduler or LabelScheduler(), masked)
