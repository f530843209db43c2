"""Validate configurations against their schemas, and trace each violation to its files.

Upstream's message names neither the schema nor the ConfigMap that set the value.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Final, Generic, NamedTuple, TypeVar

from kalypso_actions import config_schemas, rendering
from kalypso_actions.errors import Finding, Location, leveled
from kalypso_actions.model.caches import SizedCache
from kalypso_actions.model.config import MergedConfig
from kalypso_actions.model.counts import abbreviated, counted
from kalypso_actions.model.kinds import Assignment, Fleet, Template
from kalypso_actions.model.nearest import nearest
from kalypso_actions.platform_config import PlatformConfig
from kalypso_actions.platform_config.layers import AppliedSchema
from kalypso_go import gotemplate

MAX_TRACED = 5
"""The most violations of one schema to trace; users rarely read more."""

STEP: Final = 10
"""The cost of one evaluation step, in characters."""

KEPT: Final = 10_000
"""The most results to keep."""

KEY_UNSET: Final = "template-key-unset"

_MISSING: Final = re.compile(r"- (?:([\w.-]+): )?([\w.-]+) is required")

Result = TypeVar("Result")

_Places = Mapping[str, tuple[Location, ...]]


class ConfigValidator:
    """Validates configurations against their schemas; many assignments share both.

    It keeps the latest results. It charges each registration once for every result that it uses,
    even if another registration caused the work. The limit of a registration therefore depends
    neither on other registrations nor on the kept results.
    """

    def __init__(self, platform_config: PlatformConfig) -> None:
        self._platform_config = platform_config
        self._messages: _Results[str] = _Results()
        self._traces: _Results[_Trace] = _Results()

    def failure(
        self,
        assignment: Assignment,
        config: MergedConfig,
        spend: rendering.Spend = lambda _: None,
    ) -> rendering.Failure | None:
        """Return a failure with upstream's message if the schemas refuse the configuration.

        `spend` counts the work for the target's own schemas.
        """
        texts = self._platform_config.schemas_of(assignment)
        if not texts:
            return None
        own = assignment.target.config_schemas

        def validate(count: rendering.Spend) -> str:
            return config_schemas.validate(config.values, texts, _steps(count) if own else _nothing)

        combination = self._platform_config.combination(assignment)
        payer = assignment.target.registration
        message = self._messages.get((combination, texts), payer, spend, validate)
        if not message:
            return None

        def trace(count: rendering.Spend) -> _Trace:
            steps = _steps(count) if own else _nothing
            return _trace_all(schemas, config, partial(self._other_layers, assignment), steps)

        schemas = self._platform_config.applied_schemas(assignment)
        traced = self._traces.get((combination, schemas), payer, spend, trace)
        return rendering.Failure(message, traced.where, traced.text, code="config-refused")

    def _other_layers(self, assignment: Assignment, key: str) -> str:
        """Name a layer that sets a key but does not apply to an assignment."""
        for entry in self._platform_config.entries_of(key):
            lacking = self._platform_config.lacking(assignment, entry)
            if lacking:
                labels = ", ".join(f"{name} = {value}" for name, value in lacking)
                return f"{key} is set in {_file(entry.where)}, but only for {labels}"
        return f"no ConfigMap sets {key}"


class ConfigKeyRead(NamedTuple):
    """A key of the configuration that a Template reads without a guard, and all places.

    `path` has the keys above it first, and `gotemplate.EACH` for each item of a list.
    """

    template: str
    path: tuple[str, ...]
    places: tuple[Location, ...]

    @property
    def key(self) -> str:
        """The key with the keys above it, as in `hosts[].name`."""
        return ".".join(self.path).replace(f".{gotemplate.EACH}", gotemplate.EACH)

    @property
    def message(self) -> str:
        """The finding for assignments without a value, without their names."""
        return f"no layer sets .ConfigData.{self.key}, which Template {self.template!r} reads"


class ConfigKeyReads:
    """The keys of the configuration that the Templates of a fleet read without a guard."""

    def __init__(self, fleet: Fleet, platform_config: PlatformConfig) -> None:
        self._platform_config = platform_config
        templates = {template.name: _reads(template) for template in fleet.templates}
        self._reads = {
            item.name: [
                read
                for name in (item.reconciler, item.namespace_service, item.config_type)
                for read in templates.get(name, ())
            ]
            for item in fleet.cluster_types
        }

    def unset(self, assignments: Iterable[Assignment]) -> dict[ConfigKeyRead, list[Assignment]]:
        """Return the assignments for which no layer sets a key, by the place that reads it."""
        by_cluster_type: dict[str, list[Assignment]] = {}
        for item in assignments:
            by_cluster_type.setdefault(item.cluster_type.name, []).append(item)
        unset: dict[ConfigKeyRead, list[Assignment]] = {}
        for name, items in by_cluster_type.items():
            reads = self._reads[name]
            keys = {read.path[0] for read in reads}
            for alike in self._platform_config.combinations(items, keys) if reads else ():
                for read in reads:
                    if self._is_unset(read.path, alike[0]):
                        unset.setdefault(read, []).extend(alike)
        return unset

    def failure(self, assignment: Assignment) -> rendering.Failure | None:
        """Return the first key that no layer sets for an assignment as its failure."""
        for read in self._reads[assignment.cluster_type.name]:
            if self._is_unset(read.path, assignment):
                advice = self._advice(read, assignment)
                return rendering.Failure(read.message, read.places[0], advice, code=KEY_UNSET)
        return None

    def findings(
        self,
        unset: Mapping[ConfigKeyRead, Sequence[Assignment]],
        gaps: Iterable[Finding] = (),
    ) -> list[Finding]:
        """Return one warning for each key, with an assignment as an example.

        `gaps` are warnings about missing values; those with the same cause are left out.
        """
        places = {where for read in unset for where in read.places}
        others = (item for item in gaps if item.where not in places)
        return [*leveled(others, "warning", "assignment")] + [
            Finding(
                f"{read.message}, for {counted(len(items), 'assignment')} "
                f"({abbreviated([_name(items[0])], 1, len(items) - 1)})",
                read.places[0],
                self._advice(read, items[0]),
                KEY_UNSET,
                level="warning",
                scope="assignment",
            )
            for read, items in unset.items()
        ]

    def _is_unset(self, path: Sequence[str], assignment: Assignment) -> bool:
        """Return whether an assignment lacks a key, and has the keys above it."""
        key, *inner = path
        entries = self._platform_config.entries_of(key)
        applies = any(not self._platform_config.lacking(assignment, entry) for entry in entries)
        if not (inner and applies):
            return not (inner or applies)
        maps = self._maps(path, assignment)
        return bool(maps) and all(isinstance(m, Mapping) and path[-1] not in m for m in maps)

    def _maps(self, path: Sequence[str], assignment: Assignment) -> list[object]:
        """Return the values that should have the last key of a path."""
        values: list[object] = [self._platform_config.config_of(assignment).values]
        for key in path[:-1]:
            values = [inner for outer in values for inner in _below(outer, key)]
        return values

    def _advice(self, read: ConfigKeyRead, assignment: Assignment) -> str:
        *above, key = read.path
        known = {entry.key for entry in self._platform_config.entries}
        if above:
            maps = self._maps(read.path, assignment)
            known = {str(name) for item in maps if isinstance(item, Mapping) for name in item}
        close = nearest(key, sorted(known - {key}))
        suggestion = f"did you mean {close}? Otherwise set" if close else "set"
        field = f".{key}" if gotemplate.EACH in above else f".ConfigData.{read.key}"
        return (
            f"{suggestion} the key in a ConfigMap that applies there, or give it a default: "
            f'{{{{ {field} | default "" }}}}'
        )


def _below(value: object, key: str) -> Iterable[object]:
    """Return the value of a key, or each item."""
    if isinstance(value, Mapping):
        return value.values() if key == gotemplate.EACH else [value[key]] if key in value else ()
    return value if key == gotemplate.EACH and isinstance(value, list | tuple) else ()


def _reads(template: Template) -> list[ConfigKeyRead]:
    places: dict[tuple[str, ...], dict[Location, None]] = {}
    for keys, guarded, where in rendering.keys_read(template):
        for number in range(guarded, len(keys)):
            if keys[number] != gotemplate.EACH:
                places.setdefault(keys[: number + 1], {})[where] = None
    return [ConfigKeyRead(template.name, path, tuple(at)) for path, at in places.items()]


def _name(assignment: Assignment) -> str:
    return f"{assignment.target.name} on {assignment.cluster_type.name}"


class _Results(Generic[Result]):
    """The latest results, with the work that each took."""

    def __init__(self) -> None:
        self._results: SizedCache[tuple[Result, int]] = SizedCache(KEPT)
        self._paid: set[int] = set()

    def get(
        self,
        key: Hashable,
        payer: str,
        spend: rendering.Spend,
        compute: Callable[[rendering.Spend], Result],
    ) -> Result:
        """Return the result for a key; `spend` counts its work unless the payer has paid before."""
        payment = hash((payer, key))
        count = _nothing if payment in self._paid else spend
        known = self._results.get(key)
        if known is None:
            parts: list[int] = []

            def count_part(work: int) -> None:
                parts.append(work)
                count(work)

            result = compute(count_part)
            self._results.put(key, (result, sum(parts)), 1)
        else:
            result, work = known
            count(work)
        self._paid.add(payment)
        return result


@dataclass(frozen=True, slots=True)
class _Trace:
    """A place to look at, and a sentence about the wrong values and their schema."""

    where: Location
    text: str
    is_value: bool = False


def _nothing(_: int) -> None:
    """Ignore the work for the platform's schemas: no registration pays for it."""


def _steps(spend: rendering.Spend) -> rendering.Spend:
    return lambda steps: spend(STEP * steps)


def _trace_all(
    schemas: Sequence[AppliedSchema],
    config: MergedConfig,
    other_layers: Callable[[str], str],
    spend: rendering.Spend,
) -> _Trace:
    """Trace the violations of all schemas; at least one schema must be violated."""
    places = {".".join(map(str, path)): origins for path, origins in config.origins.items()}
    all_traces = (_trace(schema, config, places, other_layers, spend) for schema in schemas)
    traces = [trace for trace in all_traces if trace]
    first = next((trace for trace in traces if trace.is_value), traces[0])
    return _Trace(first.where, "; ".join(trace.text for trace in traces))


def _trace(
    schema: AppliedSchema,
    config: MergedConfig,
    places: _Places,
    other_layers: Callable[[str], str],
    spend: rendering.Spend,
) -> _Trace | None:
    """Trace the violations of one schema; None if there are none."""
    message = config_schemas.validate(config.values, (schema.text,), spend)
    lines = [line.strip() for line in message.splitlines()[1:] if line.strip()]
    if not lines:
        return None
    wrong: dict[str, Location] = {}
    missing = [match[2] for line in lines if (match := _MISSING.fullmatch(line)) and not match[1]][
        :MAX_TRACED
    ]
    for line in lines:
        field, separator, _ = line.removeprefix("- ").partition(": ")
        where = _place(field, places) if separator else None
        if where:
            wrong[field] = where
    causes = [f"{field} is set in {_file(where)}" for field, where in wrong.items()][:MAX_TRACED]
    causes += map(other_layers, missing)
    if len(wrong) < len(lines):
        layers = ", ".join(config.config_maps)
        causes.append(
            f"the ConfigMaps that apply are {layers}" if layers else "no ConfigMap applies"
        )
    where = next(iter(wrong.values()), None)
    if where is None:
        where = schema.locate(config_schemas.position_of(schema.text, _requirement(lines[0])))
    text = f"refused by {schema.name}: {', '.join(causes)}"
    if missing:
        text += "; kalypso explain shows every layer"
    return _Trace(where, text, is_value=bool(wrong))


def _place(field: str, places: _Places) -> Location | None:
    """Return the last place that set a field, or the value that contains it."""
    while field:
        if field in places:
            return places[field][-1]
        field = field.rpartition(".")[0]
    return None


def _requirement(line: str) -> tuple[str, ...]:
    """Return the path in the schema of the keyword that a violation without a value is about."""
    match = _MISSING.fullmatch(line)
    steps = match[1].split(".") if match and match[1] else []
    return (*(part for step in steps for part in ("properties", step)), "required")


def _file(where: Location) -> str:
    return f"{where.path}:{where.line}"
