"""The JSON output of explain."""

from __future__ import annotations

from pydantic import Field

from kalypso_actions.report.comparison_entries import AssignmentNameEntry
from kalypso_actions.report.documents import (
    Document,
    PositionEntry,
    ProblemEntry,
    SourceEntry,
    Where,
)


class TermEntry(Document):
    """A term of a selector, and the value of the label that it tests; null without that label."""

    requirement: str
    value: str | None
    matched: bool
    where: Where | None


class StepEntry(Document):
    """A step of a scheduler after labels; `passed` is null if it drops nothing."""

    name: str
    detail: str
    passed: bool | None


class DecisionEntry(Document):
    """How the terms of one policy match a target and a cluster type."""

    policy: str
    where: Where | None
    selected: bool
    target_terms: tuple[TermEntry, ...]
    cluster_type_terms: tuple[TermEntry, ...]
    steps: tuple[StepEntry, ...] = ()

    @property
    def terms(self) -> tuple[tuple[str, TermEntry], ...]:
        """All terms, each with the kind of object whose labels it tests."""
        return (
            *(("target", term) for term in self.target_terms),
            *(("cluster type", term) for term in self.cluster_type_terms),
        )

    @property
    def misses(self) -> int:
        """The number of terms and steps that fail."""
        terms = sum(not term.matched for _, term in self.terms)
        return terms + sum(step.passed is False for step in self.steps)


class PairEntry(Document):
    """A target and a cluster type, and the policies that select both.

    If the question is about one pair, `decisions` are those of all policies, the nearest first.
    Otherwise they are those that select the pair, or the nearest one.
    """

    target: str
    cluster_type: str
    target_where: Where | None
    cluster_type_where: Where | None
    policies: tuple[str, ...]
    decisions: tuple[DecisionEntry, ...]


class PolicyEntry(Document):
    """A policy, with the targets and the cluster types of its assignments."""

    policy: str
    where: Where | None
    targets: tuple[str, ...]
    cluster_types: tuple[str, ...]


class LayerEntry(Document):
    """A layer that sets a value: a key of a ConfigMap, as text, and the labels that it requires.

    `wins` means that this layer has set the final value, or a part of it.
    """

    config_map: str
    labels: dict[str, str]
    value: str
    where: Where | None
    wins: bool


class OtherLayerEntry(Document):
    """A layer that sets the key for other assignments.

    `lacks` are the labels that the layer requires and this assignment lacks.
    """

    config_map: str
    lacks: dict[str, str]
    where: Where | None


class ElementEntry(Document):
    """An element of a value that is a list or a mapping, and the place that has set it."""

    key: str
    value: str
    where: Where | None


class ValueEntry(Document):
    """A configuration value of `assignments`; null without one.

    `layers` are in the order of merging.
    """

    key: str
    value: str | None
    assignments: tuple[AssignmentNameEntry, ...]
    layers: tuple[LayerEntry, ...]
    elements: tuple[ElementEntry, ...] = ()
    other_layers: tuple[OtherLayerEntry, ...] = ()


class UsedValueEntry(Document):
    """A field that a Template reads at `where`; `value` is null if the assignment has none.

    `set_at` is the place that sets the value.
    """

    field: str
    value: str | None
    where: Where | None
    set_at: Where | None


class ExplainedFileEntry(Document):
    """A file of the tree, its Template, and the values in it.

    `template` is "" for a file without a Template. `named_by` is the field of the cluster type that
    names the Template. `written` is false if the assignment has no such file.
    """

    path: str
    assignment: AssignmentNameEntry
    template: str
    where: Where | None
    named_by: str
    named_at: Where | None
    written: bool
    values: tuple[UsedValueEntry, ...]


class ExplainDocument(Document):
    """The output of `kalypso explain --output json`, without secrets.

    Without a question, `policies`, `unassigned_targets` and `empty_cluster_types` describe the
    environment; otherwise, `pairs`, `values` or `files` have the answer.
    """

    schema_name: str = Field("kalypso.explain/v1", alias="schema")
    environment: str = ""
    scheduler: str = ""
    main: PositionEntry | None = None
    sources: tuple[SourceEntry, ...] = ()
    policies: tuple[PolicyEntry, ...] = ()
    unassigned_targets: tuple[str, ...] = ()
    empty_cluster_types: tuple[str, ...] = ()
    pairs: tuple[PairEntry, ...] = ()
    values: tuple[ValueEntry, ...] = ()
    files: tuple[ExplainedFileEntry, ...] = ()
    warnings: tuple[ProblemEntry, ...] = ()
    problems: tuple[ProblemEntry, ...] = ()
