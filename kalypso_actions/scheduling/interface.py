"""The interface of schedulers, and their results."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Protocol

from kalypso_actions.errors import Finding
from kalypso_actions.model.documents import Document
from kalypso_actions.model.kinds import Assignment, ClusterType, DeploymentTarget, Fleet
from kalypso_actions.model.placements import PlacedDecision
from kalypso_actions.scheduling.selectors import RequirementMatch


@dataclass(frozen=True, slots=True)
class DecisionStep:
    """A step of a scheduler after the match of labels: a filter, a score, or a maximum number.

    `name` is the scheduler's name for the step, `detail` explains its result to people. `passed` is
    None if the step ranks the cluster type without dropping it.
    """

    name: str
    detail: str
    passed: bool | None = None


@dataclass(frozen=True, slots=True)
class Decision:
    """The match of one policy's requirements with a target and a cluster type.

    A scheduler that decides by more than labels adds its `steps`, in order.
    """

    policy: str
    target_matches: tuple[RequirementMatch, ...]
    cluster_type_matches: tuple[RequirementMatch, ...]
    steps: tuple[DecisionStep, ...] = ()

    @property
    def selected(self) -> bool:
        """Whether the policy assigns the target to the cluster type."""
        matches = (*self.target_matches, *self.cluster_type_matches)
        return all(match.matched for match in matches) and not any(
            step.passed is False for step in self.steps
        )


@dataclass(frozen=True, slots=True)
class Schedule:
    """Assignments sorted by cluster type and target, one for each pair.

    `explain` returns the decision of each policy on a pair. It is a function because there are far
    more pairs than anybody asks about. A scheduler that depends on its earlier decisions returns
    the new ones as `placements`, which the tree records; at `requeue_time` they may change without
    any change of the fleet. `explain_assignment` returns only the decisions of the policies that
    an assignment names; with hundreds of policies it spares a report most of its time.
    """

    assignments: tuple[Assignment, ...]
    problems: tuple[Finding, ...]
    explain: Callable[[DeploymentTarget, ClusterType], tuple[Decision, ...]]
    warnings: tuple[Finding, ...] = ()
    placements: tuple[PlacedDecision, ...] | None = None
    requeue_time: datetime | None = None
    explain_assignment: Callable[[Assignment], tuple[Decision, ...]] | None = None

    def decisions_of(self, assignment: Assignment) -> tuple[Decision, ...]:
        """Return the decisions that select an assignment."""
        if self.explain_assignment is not None:
            return self.explain_assignment(assignment)
        decisions = self.explain(assignment.target, assignment.cluster_type)
        return tuple(decision for decision in decisions if decision.selected)


class Scheduler(Protocol):
    """Decides which deployment targets run on which cluster types.

    Only `schedule` is required: a class without the other methods has no documents of its own.
    """

    def schedule(self, fleet: Fleet) -> Schedule:
        """Assign the fleet's targets to its cluster types; must be deterministic and pure."""

    def check(self, documents: Sequence[Document]) -> Sequence[Finding]:  # noqa: ARG002
        """Return what is wrong with a branch's documents of `.github/kalypso`.

        `kalypso validate` asks every installed scheduler, which ignores the documents of others.
        """
        return ()

    def json_schemas(self) -> Mapping[str, Mapping[str, Any]]:
        """Return the JSON Schema of each kind of its documents, for editors.

        A schema has no definitions, and lists the kind's versions in the `enum` of `apiVersion`.
        """
        return {}
