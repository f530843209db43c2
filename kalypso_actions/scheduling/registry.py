"""Schedulers by name: ours, and those that others register as entry points."""

from __future__ import annotations

from importlib.metadata import entry_points

from kalypso_actions.errors import UsageError
from kalypso_actions.scheduling.interface import Scheduler
from kalypso_actions.scheduling.labels import LabelScheduler

ENTRY_POINT_GROUP = "kalypso_actions.schedulers"
DEFAULT_SCHEDULER = "labels"


def find_scheduler(name: str = DEFAULT_SCHEDULER) -> Scheduler:
    """The scheduler registered as `name`. Raises UsageError when none is."""
    if name == DEFAULT_SCHEDULER:  # known even where the package runs without being installed
        return LabelScheduler()
    found = {point.name: point for point in entry_points(group=ENTRY_POINT_GROUP)}
    if name not in found:
        known = ", ".join(sorted({DEFAULT_SCHEDULER, *found}))
        raise UsageError(f"there is no scheduler {name!r}", advice=f"installed are: {known}")
    scheduler: Scheduler = found[name].load()()
    return scheduler
