"""The inputs of a scheduler of Placements besides the fleet, and its decisions."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Final

from kalypso_actions.model.documents import Document

PLACEMENT_GROUP: Final = "cluster.open-cluster-management.io/"
"""The beginning of the apiVersion of OCM's kinds."""

PLACEMENT_ANNOTATION: Final = "kalypso.io/placement"
SCOPE_ANNOTATION: Final = "kalypso.io/placement-scope"
SCHEDULER_ANNOTATION: Final = "kalypso.io/scheduler"
EVERY_TARGET: Final = "*"


@dataclass(frozen=True, slots=True)
class PlacedDecision:
    """The cluster types of a policy for one target or all (`*`), and the time of the decision."""

    policy: str
    placement: str
    target: str
    cluster_types: tuple[str, ...]
    time: str = ""


@dataclass(frozen=True, slots=True)
class PlacementState:
    """The documents of `.github/kalypso`, the decisions so far, and the time of the run.

    `decisions` is None without a record of them: in this case, the cluster types that have a target
    now (`assigned`, by target) are the incumbents.
    """

    documents: tuple[Document, ...] = ()
    decisions: tuple[PlacedDecision, ...] | None = None
    assigned: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    now: datetime | None = None
