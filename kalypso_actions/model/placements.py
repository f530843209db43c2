"""The inputs of a scheduler of Placements besides the fleet, and its decisions."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Final

from kalypso_actions.model.documents import Document

PLACEMENTS_FOLDER: Final = ".github/kalypso"
"""Of the environment branch: Flux and upstream leave it alone."""

PLACEMENT_ANNOTATION: Final = "kalypso.io/placement"
SCOPE_ANNOTATION: Final = "kalypso.io/placement-scope"
SCHEDULER_ANNOTATION: Final = "kalypso.io/scheduler"
EVERY_TARGET: Final = "*"


@dataclass(frozen=True, slots=True)
class PlacedDecision:
    """The cluster types of a policy, for one target or for all (`*`), and since when."""

    policy: str
    placement: str
    target: str
    cluster_types: tuple[str, ...]
    time: str = ""


@dataclass(frozen=True, slots=True)
class PlacementState:
    """The documents of `.github/kalypso`, the decisions so far, and the time of the run.

    `decisions` is None without a record of them: then the cluster types that hold a target
    (`assigned`, by target) are incumbents.
    """

    documents: tuple[Document, ...] = ()
    decisions: tuple[PlacedDecision, ...] | None = None
    assigned: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    now: datetime | None = None
