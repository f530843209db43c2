"""Schedulers by name: our own, and those that packages register as entry points."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib.metadata import entry_points
from typing import Final

from kalypso_actions.errors import UsageError
from kalypso_actions.scheduling.interface import Scheduler
from kalypso_actions.scheduling.labels import LabelScheduler

ENTRY_POINT_GROUP: Final = "kalypso_actions.schedulers"
DEFAULT_SCHEDULER: Final = "labels"

OWN: Final[Mapping[str, Callable[[], Scheduler]]] = {DEFAULT_SCHEDULER: LabelScheduler}
"""Known in actions as well, which run the package without its entry points."""


def find_scheduler(name: str = DEFAULT_SCHEDULER) -> Scheduler:
    """Return the scheduler registered as `name`. Raises UsageError if there is none."""
    if name in OWN:
        return OWN[name]()
    installed = {point.name: point for point in entry_points(group=ENTRY_POINT_GROUP)}
    if name not in installed:
        names = ", ".join(sorted({*OWN, *installed}))
        raise UsageError(f"there is no scheduler {name!r}", advice=f"installed are: {names}")
    scheduler: Scheduler = installed[name].load()()
    return scheduler
