"""Kubernetes' LabelSelector, validated once, then matched many times.

https://kubernetes.io/docs/concepts/overview/working-with-objects/labels/#resources-that-support-set-based-requirements
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Literal

from kalypso_actions.errors import Problem
from kalypso_actions.model.kinds import LabelExpression, LabelSelector
from kalypso_actions.model.kubernetes_names import label_key_fault, label_value_fault

Operator = Literal["In", "NotIn", "Exists", "DoesNotExist"]
OPERATORS: tuple[Operator, ...] = ("In", "NotIn", "Exists", "DoesNotExist")


@dataclass(frozen=True, slots=True)
class Term:
    """One requirement held against one object: what was asked, what was met, how it ended."""

    requirement: str
    met: str | None
    held: bool


@dataclass(frozen=True, slots=True)
class Requirement:
    """A valid requirement on one label; a pair of `matchLabels` is `In` with one value."""

    key: str
    operator: Operator
    values: frozenset[str] = frozenset()

    def holds(self, labels: Mapping[str, str]) -> bool:
        """Whether `labels` satisfy it; `NotIn` and `DoesNotExist` hold for an absent key."""
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
        """As people write it: `size in (large, small)`."""
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
                return f"{self.key} does not exist"


@dataclass(frozen=True, slots=True)
class Selector:
    """Requirements that must all hold; without any it matches everything."""

    requirements: tuple[Requirement, ...]

    def matches(self, labels: Mapping[str, str]) -> bool:
        """Whether every requirement holds."""
        return all(requirement.holds(labels) for requirement in self.requirements)

    def explain(self, labels: Mapping[str, str]) -> tuple[Term, ...]:
        """Every requirement with the value that it met (None: the label is absent)."""
        return tuple(
            Term(str(requirement), labels.get(requirement.key), requirement.holds(labels))
            for requirement in self.requirements
        )


def compile_selector(
    selector: LabelSelector, owner: str
) -> tuple[Selector | None, tuple[Problem, ...]]:
    """A selector ready to match, or None and everything that is wrong with it.

    `owner` begins each message: `SchedulingPolicy "x": clusterTypeSelector`.
    """
    pairs = (
        LabelExpression(key, "In", (value,)) for key, value in sorted(selector.match_labels.items())
    )
    requirements: list[Requirement] = []
    problems: list[Problem] = []
    for expression in (*pairs, *selector.match_expressions):
        faults = [
            Problem(f"{owner}: {fault}", selector.where, advice)
            for fault, advice in _faults(expression)
        ]
        problems.extend(faults)
        operator = next((known for known in OPERATORS if known == expression.operator), None)
        if not faults and operator is not None:
            requirements.append(Requirement(expression.key, operator, frozenset(expression.values)))
    return (None if problems else Selector(tuple(requirements))), tuple(problems)


def _faults(expression: LabelExpression) -> Iterator[tuple[str, str]]:
    """What Kubernetes' NewRequirement refuses, each with an advice."""
    key_fault = label_key_fault(expression.key)
    if key_fault:
        yield f"the label key {expression.key!r} {key_fault}", ""
    if expression.operator not in OPERATORS:
        yield (
            f"{expression.operator!r} is not a selector operator",
            f"write one of {', '.join(OPERATORS)}",
        )
    elif expression.operator in {"In", "NotIn"} and not expression.values:
        yield f"{expression.operator} on {expression.key!r} needs at least one value", ""
    elif expression.operator in {"Exists", "DoesNotExist"} and expression.values:
        yield f"{expression.operator} on {expression.key!r} takes no values", "remove them"
    for value in expression.values:
        value_fault = label_value_fault(value)
        if value_fault:
            yield f"the value {value!r} for label {expression.key!r} {value_fault}", ""
