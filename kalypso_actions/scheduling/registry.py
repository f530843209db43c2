"""Schedulers by name: our own, and those that packages register as entry points."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

from kalypso_actions.model.entry_points import find_implementation
from kalypso_actions.scheduling.interface import Scheduler
from kalypso_actions.scheduling.labels import LabelScheduler

ENTRY_POINT_GROUP: Final = "kalypso_actions.schedulers"
DEFAULT_SCHEDULER: Final = "labels"

OWN: Final[Mapping[str, Callable[[], Scheduler]]] = {DEFAULT_SCHEDULER: LabelScheduler}


def find_scheduler(name: str = DEFAULT_SCHEDULER) -> Scheduler:
    """Return the scheduler registered as `name`. Raises UsageError if there is none."""
    missing = f"there is no scheduler {name!r}"
    return find_implementation(name, OWN, ENTRY_POINT_GROUP, missing)()
