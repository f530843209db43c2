"""The interface of schedulers, and their results."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Literal, Protocol

from kalypso_actions.errors import Finding, Location, Problem
from kalypso_actions.model.documents import Document
from kalypso_actions.model.kinds import (
    Assignment,
    ClusterType,
    DeploymentTarget,
    Fleet,
    LabelExpression,
    LabelSelector,
)
from kalypso_actions.model.kubernetes_names import label_key_fault, label_value_fault
from kalypso_actions.model.placements import PlacedDecision

Operator = Literal["In", "NotIn", "Exists", "DoesNotExist"]
OPERATORS: tuple[Operator, ...] = ("In", "NotIn", "Exists", "DoesNotExist")


@dataclass(frozen=True, slots=True)
class RequirementMatch:
    """The match of one requirement with one object; `value` is the label's value or None.

    `where` is the place of the requirement, if it is known.
    """

    requirement: str
    value: str | None
    matched: bool
    where: Location | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True)
class Requirement:
    """A valid requirement on one label; a pair of `matchLabels` becomes `In` with one value."""

    key: str
    operator: Operator
    values: frozenset[str] = frozenset()
    where: Location | None = field(default=None, compare=False)

    def matches(self, labels: Mapping[str, str]) -> bool:
        """Return whether `labels` match; an absent key matches `NotIn` and `DoesNotExist`."""
        match self.operator:
            case "In":
                return labels.get(self.key) in self.values
            case "NotIn":
                return labels.get(self.key) not in self.values
            case "Exists":
                return self.key in labels
            case "DoesNotExist":
                return self.key not in labels

    def __str__(self) -> str:
        """Return the usual notation: `size in (large, small)`."""
        match self.operator:
            case "In" if len(self.values) == 1:
                return f"{self.key} = {next(iter(self.values))}"
            case "In":
                return f"{self.key} in ({', '.join(sorted(self.values))})"
            case "NotIn":
                return f"{self.key} not in ({', '.join(sorted(self.values))})"
            case "Exists":
                return f"{self.key} exists"
            case "DoesNotExist":
                return f"no label {self.key}"


@dataclass(frozen=True, slots=True)
class Selector:
    """Requirements that must all match; a selector without requirements matches everything."""

    requirements: tuple[Requirement, ...]

    def matches(self, labels: Mapping[str, str]) -> bool:
        """Return whether every requirement matches."""
        return all(requirement.matches(labels) for requirement in self.requirements)

    def explain(self, labels: Mapping[str, str]) -> tuple[RequirementMatch, ...]:
        """Return how each requirement matches."""
        return tuple(
            RequirementMatch(str(each), labels.get(each.key), each.matches(labels), each.where)
            for each in self.requirements
        )


def compile_selector(
    selector: LabelSelector, owner: str
) -> tuple[Selector | None, tuple[Problem, ...]]:
    """Return a selector that is ready to match, or None and all problems.

    `owner` begins each message: `SchedulingPolicy "x": clusterTypeSelector`.
    """
    labels = sorted(selector.match_labels.items())
    pairs = (LabelExpression(key, "In", (value,)) for key, value in labels)
    requirements: list[Requirement] = []
    problems: list[Problem] = []
    for expression in (*pairs, *selector.match_expressions):
        faults = [
            Problem(f"{owner}: {fault}", selector.at(expression.key), advice, "selector-invalid")
            for fault, advice in _faults(expression)
        ]
        problems.extend(faults)
        operator = next((known for known in OPERATORS if known == expression.operator), None)
        if not faults and operator is not None:
            values, where = frozenset(expression.values), selector.at(expression.key)
            requirements.append(Requirement(expression.key, operator, values, where))
    return (None if problems else Selector(tuple(requirements))), tuple(problems)


def _faults(expression: LabelExpression) -> Iterator[tuple[str, str]]:
    """Yield the faults that Kubernetes' NewRequirement refuses, each with advice."""
    if key_fault := label_key_fault(expression.key):
        yield f"the label key {expression.key!r} {key_fault}", ""
    if expression.operator not in OPERATORS:
        advice = f"write one of {', '.join(OPERATORS)}"
        yield f"{expression.operator!r} is not a selector operator", advice
    elif expression.operator in {"In", "NotIn"} and not expression.values:
        yield f"{expression.operator} on {expression.key!r} needs at least one value", ""
    elif expression.operator in {"Exists", "DoesNotExist"} and expression.values:
        yield f"{expression.operator} on {expression.key!r} takes no values", "remove them"
    for value in expression.values:
        if value_fault := label_value_fault(value):
            yield f"the value {value!r} for label {expression.key!r} {value_fault}", ""


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
