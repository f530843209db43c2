"""The layers of a configuration value: every ConfigMap that sets it, in order, and the winner."""

from __future__ import annotations

from collections.abc import Collection, Hashable, Iterator, Sequence
from functools import cached_property
from typing import Any

from kalypso_actions.errors import Location, UsageError
from kalypso_actions.model.config import MergedConfig, Path
from kalypso_actions.model.counts import MAX_LISTED, abbreviated
from kalypso_actions.model.kinds import Assignment
from kalypso_actions.planning.explanation.environment import ExplainedEnvironment, names_of
from kalypso_actions.planning.explanation.names import Question, suggestion
from kalypso_actions.platform_config import parse_value
from kalypso_actions.platform_config.layers import Entry
from kalypso_actions.report.comparison_entries import key_text, value_text
from kalypso_actions.report.documents import Where
from kalypso_actions.report.explain_document import (
    ElementEntry,
    LayerEntry,
    OtherLayerEntry,
    ValueEntry,
)


def explain_key(question: Question, key: str) -> tuple[ValueEntry, ...]:
    """Return the value of a key for all assignments of a question, once for equal layers.

    `key` may lead into a value: `REGION.name`, `hosts[0]`. Raises UsageError for a key that no
    assignment and no ConfigMap has.
    """
    environment = question.environment
    groups: dict[Hashable, list[Assignment]] = {}
    for assignment in question.assignments:
        groups.setdefault(environment.config.combination(assignment), []).append(assignment)
    rows = [_Answer(environment, key, assignments) for assignments in groups.values()]
    tops = {entry.key for entry in environment.config.entries}
    if key not in tops and not any(row.path for row in rows):
        known = {key_text(path) for row in rows for path in row.config.origins} | tops
        raise UsageError(
            f"no ConfigMap sets {key!r} in {environment.fleet.environment}",
            advice=f"{suggestion(key, sorted(known))}"
            f"keys: {abbreviated(sorted(tops), MAX_LISTED) or 'none'}",
        )
    merged: dict[str, list[_Answer]] = {}
    for row in rows:
        merged.setdefault(row.identity, []).append(row)
    return tuple(
        same[0].entry([a for row in same for a in row.assignments]) for same in merged.values()
    )


class _Answer:
    """The value of a key for assignments with one configuration."""

    def __init__(
        self, environment: ExplainedEnvironment, key: str, assignments: Sequence[Assignment]
    ) -> None:
        self.assignments = assignments
        self._environment = environment
        self._key = key
        self._first = assignments[0]
        self.config: MergedConfig = environment.config.config_of(self._first)
        self.path = _path_of(self.config, key)
        top = self.path[0] if self.path else key
        entries = [entry for entry in environment.config.entries if entry.key == top]
        lacking = [(environment.config.lacking(self._first, entry), entry) for entry in entries]
        self._layers = [entry for labels, entry in lacking if not labels]
        self._others = [(dict(labels), entry) for labels, entry in lacking if labels]

    @property
    def identity(self) -> str:
        """A text that is the same for answers with equal layers."""
        return repr(([(each.where, each.text) for each in self._layers], self._others))

    def entry(self, assignments: Sequence[Assignment]) -> ValueEntry:
        """Return the answer for all assignments that share it."""
        origins = self.config.origins
        below = {p: places for p, places in origins.items() if p[: len(self.path)] == self.path}
        winners = {places[-1] for places in below.values()} if self.path else set()
        value = _value_at(self.config.values, self.path) if self.path else None
        return ValueEntry(
            key=self._key,
            value=self._shown(self.path, value) if self.path else None,
            assignments=names_of(sorted(assignments, key=lambda item: item.folder)),
            layers=tuple(self._layer(entry, winners) for entry in self._layers),
            elements=tuple(self._elements(below)) if isinstance(value, dict | list) else (),
            other_layers=tuple(
                OtherLayerEntry(
                    config_map=entry.config_map, lacks=labels, where=Where.of(entry.where)
                )
                for labels, entry in self._others
            ),
        )

    def _layer(self, entry: Entry, winners: set[Location]) -> LayerEntry:
        return LayerEntry(
            config_map=entry.config_map,
            labels=dict(entry.labels),
            value=self._shown((entry.key,), parse_value(entry.text)),
            where=Where.of(entry.where),
            wins=entry.where in winners,
        )

    def _elements(self, below: dict[Path, tuple[Location, ...]]) -> Iterator[ElementEntry]:
        """Yield the elements of the value that are neither lists nor mappings."""
        for path, places in below.items():
            value = _value_at(self.config.values, path)
            if not isinstance(value, dict | list):
                yield ElementEntry(
                    key=key_text(path), value=self._shown(path, value), where=Where.of(places[-1])
                )

    def _shown(self, path: Path, value: object) -> str:
        return value_text(self._environment.mask.value(path, value, self._secrets))

    @cached_property
    def _secrets(self) -> Collection[str]:
        return self._environment.secrets_of(self._first)


def _path_of(config: MergedConfig, key: str) -> Path:
    """Return the path of a key or of a value within a key; () if the configuration has neither."""
    if key in config.values:
        return (key,)
    return next((path for path in config.origins if key_text(path) == key), ())


def _value_at(values: Any, path: Path) -> object:
    """Return the value at a path within these values."""
    for step in path:
        values = values[step]
    return values
