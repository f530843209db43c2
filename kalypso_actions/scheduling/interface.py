"""What a scheduler is and what it gives."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

from kalypso_actions.errors import Problem
from kalypso_actions.model.kinds import Assignment, ClusterType, DeploymentTarget, Fleet
from kalypso_actions.scheduling.selectors import Term


@dataclass(frozen=True, slots=True)
class Decision:
    """What one policy says of one pair: it selects it if every term of both sides held."""

    policy: str
    target_terms: tuple[Term, ...]
    cluster_type_terms: tuple[Term, ...]

    @property
    def selected(self) -> bool:
        """Whether the policy assigns the target to the cluster type."""
        return all(term.held for term in (*self.target_terms, *self.cluster_type_terms))


@dataclass(frozen=True, slots=True)
class Schedule:
    """Assignments sorted by cluster type and target, one per pair.

    `explain` gives, for a pair, what each policy said of it and why. Reasons follow from frozen
    values alone, so they are worked out when somebody asks and not held for every pair there is.
    """

    assignments: tuple[Assignment, ...]
    problems: tuple[Problem, ...]
    explain: Callable[[DeploymentTarget, ClusterType], tuple[Decision, ...]]


class Scheduler(Protocol):
    """Decides which deployment targets run on which cluster types."""

    def schedule(self, fleet: Fleet) -> Schedule:
        """Assign the fleet's targets to its cluster types; must be deterministic and pure."""
