"""The names of Kalypso's own schedulers."""

from __future__ import annotations

from typing import Final

DEFAULT_SCHEDULER: Final = "labels"
PLACEMENT_SCHEDULER: Final = "placement"

OWN_SCHEDULERS: Final = frozenset({DEFAULT_SCHEDULER, PLACEMENT_SCHEDULER})
