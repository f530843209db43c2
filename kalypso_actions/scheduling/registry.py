"""Schedulers by name: our own, and those that packages register as entry points."""

from __future__ import annotations

from importlib.metadata import entry_points

from kalypso_actions.errors import UsageError
from kalypso_actions.scheduling.interface import Scheduler
from kalypso_actions.scheduling.labels import LabelScheduler

ENTRY_POINT_GROUP = "kalypso_actions.schedulers"
DEFAULT_SCHEDULER = "labels"


def find_scheduler(name: str = DEFAULT_SCHEDULER) -> Scheduler:
    """Return the scheduler registered as `name`. Raises UsageError if there is none."""
    if name == DEFAULT_SCHEDULER:  # available even if the package runs without being installed
        return LabelScheduler()
    installed = {point.name: point for point in entry_points(group=ENTRY_POINT_GROUP)}
    if name not in installed:
        names = ", ".join(sorted({DEFAULT_SCHEDULER, *installed}))
        raise UsageError(f"there is no scheduler {name!r}", advice=f"installed are: {names}")
    scheduler: Scheduler = installed[name].load()()
    return scheduler
