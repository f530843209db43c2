"""Schedulers by name: by labels, and the entry points of this and other packages."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from typing import Final

from kalypso_actions.errors import KalypsoError, UsageError
from kalypso_actions.model.entry_points import find_implementation, installed_points
from kalypso_actions.model.kinds import Environment
from kalypso_actions.model.nearest import nearest
from kalypso_actions.model.schedulers import DEFAULT_SCHEDULER, SCHEDULERS, is_own_scheduler
from kalypso_actions.scheduling.interface import Scheduler
from kalypso_actions.scheduling.labels import LabelScheduler
from kalypso_actions.scheduling.plugins import CheckedScheduler, ask_plugin

BUILT_IN: Final[Mapping[str, Callable[[], Scheduler]]] = {DEFAULT_SCHEDULER: LabelScheduler}


def find_scheduler(name: str = DEFAULT_SCHEDULER) -> Scheduler:
    """Return the scheduler registered as `name`; "" is the default.

    Raises UsageError if there is none, and KalypsoError if it cannot be imported.
    """
    missing = f"there is no scheduler {name!r}"
    name = name or DEFAULT_SCHEDULER
    make = find_implementation(name, BUILT_IN, SCHEDULERS, missing)
    return make() if is_own_scheduler(name) else CheckedScheduler(name, ask_plugin(name, make))


def installed_schedulers() -> Iterator[Scheduler]:
    """Yield every scheduler, in the order of names. Raises KalypsoError as `find_scheduler`."""
    yield from map(find_scheduler, _names())


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
        close = nearest(environment.scheduler, _names())
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
    return name if name in known or is_own_scheduler(name) else otherwise


def uses_present_assignments(name: str) -> bool:
    """Whether a scheduler may depend on the present assignments; scheduling by labels does not."""
    return name not in {"", DEFAULT_SCHEDULER}


def _names() -> list[str]:
    return sorted({*BUILT_IN, *installed_points(SCHEDULERS)})
