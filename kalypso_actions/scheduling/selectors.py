"""Kubernetes' LabelSelector, validated once, then matched many times.

https://kubernetes.io/docs/concepts/overview/working-with-objects/labels/#resources-that-support-set-based-requirements
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Literal

from kalypso_actions.errors import Location, Problem
from kalypso_actions.model.kinds import LabelExpression, LabelSelector
from kalypso_actions.model.kubernetes_names import label_key_fault, label_value_fault

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
