"""The output of `kalypso explain`: its document, and its text."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from typing import Final

from pydantic import Field
from rich.console import Console

from kalypso_actions.model.counts import abbreviated, counted
from kalypso_actions.report.comparison_entries import AssignmentNameEntry
from kalypso_actions.report.documents import (
    OutputDocument,
    PositionEntry,
    ProblemEntry,
    SourceEntry,
    Where,
)
from kalypso_actions.report.escaping import shortened
from kalypso_actions.report.terminal import NO_COMMITS, NO_FILES, Files, shown_place, styled

MOST_ROWS: Final = 200
"""Rows of each list; the JSON output has all."""

MOST_NAMES: Final = 6
LONGEST_VALUE: Final = 120


class TermEntry(OutputDocument):
    """A term of a selector, and the value of the label that it tests; null without that label."""

    requirement: str
    value: str | None
    matched: bool
    where: Where | None


class StepEntry(OutputDocument):
    """A step of a scheduler after labels; `passed` is null if it drops nothing."""

    name: str
    detail: str
    passed: bool | None


class DecisionEntry(OutputDocument):
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


class PairEntry(OutputDocument):
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


class PolicyEntry(OutputDocument):
    """A policy, with the targets and the cluster types of its assignments."""

    policy: str
    where: Where | None
    targets: tuple[str, ...]
    cluster_types: tuple[str, ...]


class LayerEntry(OutputDocument):
    """A layer that sets a value: a key of a ConfigMap, as text, and the labels that it requires.

    `wins` means that this layer has set the final value, or a part of it.
    """

    config_map: str
    labels: dict[str, str]
    value: str
    where: Where | None
    wins: bool


class OtherLayerEntry(OutputDocument):
    """A layer that sets the key for other assignments.

    `lacks` are the labels that the layer requires and this assignment lacks.
    """

    config_map: str
    lacks: dict[str, str]
    where: Where | None


class ElementEntry(OutputDocument):
    """An element of a value that is a list or a mapping, and the place that has set it."""

    key: str
    value: str
    where: Where | None


class ValueEntry(OutputDocument):
    """A configuration value of `assignments`; null without one.

    `layers` are in the order of merging.
    """

    key: str
    value: str | None
    assignments: tuple[AssignmentNameEntry, ...]
    layers: tuple[LayerEntry, ...]
    elements: tuple[ElementEntry, ...] = ()
    other_layers: tuple[OtherLayerEntry, ...] = ()


class UsedValueEntry(OutputDocument):
    """A field that a Template reads at `where`; `value` is null if the assignment has none.

    `set_at` is the place that sets the value.
    """

    field: str
    value: str | None
    where: Where | None
    set_at: Where | None


class ExplainedFileEntry(OutputDocument):
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


class ExplainDocument(OutputDocument):
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


class ExplainReport:
    """The text of an answer; places are paths from the current folder where possible."""

    def __init__(
        self, console: Console, document: ExplainDocument, files: Files = NO_FILES
    ) -> None:
        self._console = console
        self._document = document
        self._files = files
        main = document.main
        self._commits = {main.commit: f"{main.branch} at {main.commit[:7]}"} if main else NO_COMMITS

    def lines(self) -> Iterator[str]:
        """Yield the lines."""
        document = self._document
        if len(document.pairs) == 1:
            yield from self._pair(document.pairs[0])
        elif document.pairs:
            yield from self._pairs(document.pairs)
        elif document.values:
            yield from _apart(self._value(entry) for entry in document.values[:MOST_ROWS])
        elif document.files:
            yield from _apart(self._file(entry) for entry in document.files)
        else:
            yield from self._environment()

    def _environment(self) -> Iterator[str]:
        document = self._document
        number = counted(len(document.policies), "policy", "policies")
        yield self._heading(f"{document.environment}: {number}")
        for policy in document.policies[:MOST_ROWS]:
            yield from self._policy(policy)
        yield from _more(len(document.policies) - MOST_ROWS)
        for noun, names in (
            ("on no cluster type", document.unassigned_targets),
            ("cluster types without a target", document.empty_cluster_types),
        ):
            if names:
                yield self._no(f"{noun}: {_names(names)}")
        yield (
            "--target and --cluster-type explain a pair, --key a configuration value, --file a "
            "file of the tree"
        )

    def _policy(self, policy: PolicyEntry) -> Iterator[str]:
        yield self._line(f"  {policy.policy}", policy.where)
        if not policy.targets:
            yield "    assigns nothing"
            return
        targets = counted(len(policy.targets), "target")
        cluster_types = counted(len(policy.cluster_types), "cluster type")
        yield self._line(f"    {targets}: {_names(policy.targets)}")
        yield self._line(f"    on {cluster_types}: {_names(policy.cluster_types)}")

    def _pair(self, pair: PairEntry) -> Iterator[str]:
        document = self._document
        subject = f"{pair.target} on {pair.cluster_type} in {document.environment}"
        state = f"assigned by {_names(pair.policies)}" if pair.policies else "not assigned"
        yield self._heading(f"{subject}: {state}")
        yield self._line(f"  target {pair.target}", pair.target_where)
        yield self._line(f"  cluster type {pair.cluster_type}", pair.cluster_type_where)
        if not pair.decisions:
            yield self._no(f"{document.environment} has no valid SchedulingPolicy")
        for index, decision in enumerate(pair.decisions[:MOST_ROWS]):
            nearest = "nearest miss: " if not pair.policies and not index else ""
            yield ""
            yield from self._decision(decision, nearest)
        yield from _more(len(pair.decisions) - MOST_ROWS)

    def _decision(self, decision: DecisionEntry, nearest: str) -> Iterator[str]:
        number = len(decision.terms) + len(decision.steps)
        if decision.selected:
            result = "selects it" if number else "selects everything"
        else:
            result = f"{decision.misses} of {counted(number, 'term')} fail"
            result += "s" if decision.misses == 1 else ""
        yield self._line(f"{nearest}policy {decision.policy}: {result}", decision.where)
        width = max((len(term.requirement) for _, term in decision.terms), default=0)
        for noun, term in decision.terms:
            text = f"{noun:<12}  {term.requirement:<{width}}"
            if term.matched:
                yield self._line(f"  ✓ {text}".rstrip())
            else:
                yield self._line(f"  ✗ {text}  {_actual(term)}", term.where, "red")
        for step in decision.steps:
            sign = {True: "✓", False: "✗", None: "·"}[step.passed]
            style = "red" if step.passed is False else ""
            text = ": ".join(filter(None, (step.name, step.detail)))
            yield self._line(f"  {sign} {text}", style=style)

    def _pairs(self, pairs: Sequence[PairEntry]) -> Iterator[str]:
        """Yield a line for each pair, below the side that all pairs of a group share."""
        by_target = len({pair.cluster_type for pair in pairs}) > 1
        environment = self._document.environment

        def shared(pair: PairEntry) -> str:
            return pair.target if by_target else pair.cluster_type

        for name, group in groupby(pairs, key=shared):
            rows = list(group)
            number = sum(bool(pair.policies) for pair in rows)
            noun = "cluster type" if by_target else "target"
            total = counted(len(rows), noun)
            relation = f"on {number} of {total}" if by_target else f"has {number} of {total}"
            yield self._heading(f"{name} in {environment}: {relation}")
            for pair in sorted(rows, key=lambda pair: not pair.policies)[:MOST_ROWS]:
                yield self._pair_row(pair, pair.cluster_type if by_target else pair.target)
            yield from _more(len(rows) - MOST_ROWS)

    def _pair_row(self, pair: PairEntry, other: str) -> str:
        if pair.policies:
            return self._line(f"  ✓ {other}  by {_names(pair.policies)}", style="green")
        if not pair.decisions:
            return self._line(f"  ✗ {other}  there is no valid policy", style="red")
        decision = pair.decisions[0]
        reasons = [f"{t.requirement}, {_actual(t)}" for _, t in decision.terms if not t.matched]
        asks = [f"{decision.policy} asks {'; '.join(reasons)}"] if reasons else []
        steps = [f"{s.name}: {s.detail}" for s in decision.steps if s.passed is False]
        text = "; ".join(asks or [f"{decision.policy}, {step}" for step in steps])
        return self._line(f"  ✗ {other}  {text}", style="red")

    def _value(self, entry: ValueEntry) -> Iterator[str]:
        owners = _names([_assignment(name) for name in entry.assignments])
        value = "has no value" if entry.value is None else f"= {_short(entry.value)}"
        yield self._heading(f"{entry.key} {value}")
        yield self._line(f"  for {owners}")
        wins = "sets a part" if sum(layer.wins for layer in entry.layers) > 1 else "wins"
        for number, layer in enumerate(entry.layers, start=1):
            yield self._layer(number, layer, wins)
        if entry.elements:
            yield "  its elements:"
            for element in entry.elements[:MOST_ROWS]:
                yield self._line(f"    {element.key} = {_short(element.value)}", element.where)
            yield from _more(len(entry.elements) - MOST_ROWS)
        if entry.other_layers:
            yield "  set by layers that do not apply:"
            for other in entry.other_layers[:MOST_ROWS]:
                lacks = ", ".join(f"{key} = {value}" for key, value in other.lacks.items())
                text = f"    ConfigMap {other.config_map} needs {lacks}"
                yield self._line(text, other.where)
            yield from _more(len(entry.other_layers) - MOST_ROWS)

    def _layer(self, number: int, layer: LayerEntry, winner: str) -> str:
        labels = ", ".join(f"{key} = {value}" for key, value in layer.labels.items())
        condition = f" for {labels}" if labels else " for all"
        wins = f"  ← {winner}" if layer.wins else ""
        text = f"  {number}. {_short(layer.value)}{wins}  ConfigMap {layer.config_map}{condition}"
        return self._line(text, layer.where, "green" if layer.wins else "")

    def _file(self, entry: ExplainedFileEntry) -> Iterator[str]:
        yield self._heading(f"{entry.path} in {self._document.environment}")
        if not entry.written:
            yield self._no("  the assignment has no such file")
        template = f"Template {entry.template}" if entry.template else "no Template"
        yield self._line(f"  {template}", entry.where)
        owner = f"  named by {entry.named_by} of ClusterType {entry.assignment.cluster_type}"
        yield self._line(owner, entry.named_at)
        if entry.values:
            yield "  the values that it reads:" if entry.template else "  its values:"
        width = min(40, max((len(value.field) for value in entry.values), default=0))
        for value in entry.values[:MOST_ROWS]:
            yield self._used(value, width)
        yield from _more(len(entry.values) - MOST_ROWS)

    def _used(self, value: UsedValueEntry, width: int) -> str:
        shown = "has no value" if value.value is None else f"= {_short(value.value)}"
        style = "red" if value.value is None else ""
        return self._line(f"    {value.field:<{width}} {shown}", value.set_at, style)

    def _heading(self, text: str) -> str:
        return styled(self._console, text, "bold")

    def _no(self, text: str) -> str:
        return styled(self._console, text, "red")

    def _line(self, text: str, where: Where | None = None, style: str = "") -> str:
        line = styled(self._console, text, style)
        if where is None:
            return line
        place = shown_place(where.location(), self._files, self._commits)
        return f"{line}  {styled(self._console, place, 'dim')}"


def _actual(term: TermEntry) -> str:
    if term.value is None:
        return "there is no such label"
    return f"it is {term.value}" if term.value else "it is empty"


def _short(value: str) -> str:
    line = value.rstrip("\n").replace("\n", "↵")
    return shortened(line, LONGEST_VALUE)


def _names(names: Sequence[str]) -> str:
    return abbreviated(names, MOST_NAMES)


def _assignment(name: AssignmentNameEntry) -> str:
    return f"{name.target} on {name.cluster_type}"


def _more(number: int) -> Iterator[str]:
    if number > 0:
        yield f"  … and {number} more; --output json lists all"


def _apart(parts: Iterable[Iterator[str]]) -> Iterator[str]:
    for index, part in enumerate(parts):
        if index:
            yield ""
        yield from part
