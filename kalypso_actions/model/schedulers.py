"""The names of schedulers."""

from __future__ import annotations

from typing import Final

from kalypso_actions.model.entry_points import own_points

DEFAULT_SCHEDULER: Final = "labels"

SCHEDULERS: Final = "kalypso_actions.schedulers"
"""The group of the entry points of schedulers."""


def is_own_scheduler(name: str) -> bool:
    """Whether a scheduler belongs to this distribution; "" is the default scheduler."""
    return name in {"", DEFAULT_SCHEDULER} or name in own_points(SCHEDULERS)
