"""Schedulers by name: our own, and the entry points of other packages."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from typing import Final

from kalypso_actions.errors import KalypsoError, UsageError
from kalypso_actions.model.entry_points import find_implementation
from kalypso_actions.model.kinds import Environment
from kalypso_actions.model.nearest import nearest
from kalypso_actions.model.schedulers import DEFAULT_SCHEDULER, PLACEMENT_SCHEDULER
from kalypso_actions.scheduling.interface import Scheduler
from kalypso_actions.scheduling.labels import LabelScheduler
from kalypso_actions.scheduling.plugins import CheckedScheduler

ENTRY_POINT_GROUP: Final = "kalypso_actions.schedulers"


def _placement() -> Scheduler:
    """Import the scheduler of Placements only when it is needed."""
    from kalypso_placement.scheduler import (  # noqa: PLC0415
        PlacementScheduler,
    )

    return PlacementScheduler()


OWN: Final[Mapping[str, Callable[[], Scheduler]]] = {
    DEFAULT_SCHEDULER: LabelScheduler,
    PLACEMENT_SCHEDULER: _placement,
}


def find_scheduler(name: str = DEFAULT_SCHEDULER) -> Scheduler:
    """Return the scheduler registered as `name`; "" is the default.

    Raises UsageError if there is none.
    """
    missing = f"there is no scheduler {name!r}"
    name = name or DEFAULT_SCHEDULER
    scheduler = find_implementation(name, OWN, ENTRY_POINT_GROUP, missing)()
    return scheduler if name in OWN else CheckedScheduler(name, scheduler)


def scheduler_of(environment: Environment | None, name: str = "") -> Scheduler:
    """Return the scheduler `name`, or else the one that the Environment's annotation names.

    Raises UsageError for an unknown `name`, and KalypsoError for an unknown annotation.
    """
    if name or environment is None:
        return find_scheduler(name)
    try:
        return find_scheduler(environment.scheduler)
    except UsageError as error:
        problem = error.problem
        close = nearest(environment.scheduler, sorted(OWN))
        raise KalypsoError(
            f"Environment {environment.name!r}: {problem.message}",
            environment.scheduler_where or environment.where,
            f"did you mean {close}?" if close else problem.advice,
            "scheduler-unknown",
        ) from error


def trusted_scheduler(name: str, known: Collection[str], otherwise: str) -> str:
    """Return the name of the scheduler that plans an unapproved change.

    The change may name one of our schedulers, or a `known` plugin, which the state before the
    change names, too. In any other case, return `otherwise`.
    """
    return name if not name or name in OWN or name in known else otherwise


def uses_present_assignments(name: str) -> bool:
    """Whether a scheduler may depend on the present assignments; scheduling by labels does not."""
    return name not in {"", DEFAULT_SCHEDULER}
