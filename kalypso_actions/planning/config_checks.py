"""Validate configurations against their schemas, and trace each violation to its files.

Upstream's message names neither the schema nor the ConfigMap that set the value.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Final, Generic, NamedTuple, TypeVar

from kalypso_actions import config_schemas, rendering
from kalypso_actions.errors import Finding, Location, leveled
from kalypso_actions.model.caches import SizedCache
from kalypso_actions.model.config import MergedConfig
from kalypso_actions.model.counts import abbreviated, counted
from kalypso_actions.model.kinds import Assignment, DeploymentTarget, Fleet, Template
from kalypso_actions.model.nearest import nearest
from kalypso_actions.platform_config import PlatformConfig
from kalypso_actions.platform_config.layers import AppliedSchema
from kalypso_go import gotemplate

KEY_UNSET: Final = "template-key-unset"
TEXT_TRUE: Final = "template-text-true"
COLLECTION_PRINTED: Final = "template-collection-printed"
OF_MISSING_VALUES: Final = frozenset({KEY_UNSET, "template-no-value"})
"""The codes of findings whose level `missing-values` decides."""

FALSE_TEXTS: Final = frozenset({"false", "no", "off", "0", "n", "f", "disabled"})
"""The texts that people mean as false, in lower case; templates take every text as true."""

MAX_TRACED = 5
"""The most violations of one schema to trace; users rarely read more."""

STEP: Final = 10
"""The cost of one evaluation step, in characters."""

KEPT: Final = 10_000
"""The most results to keep."""

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
        return rendering.Failure(message, traced.where, traced.text, code=traced.code)

    def _other_layers(self, assignment: Assignment, key: str) -> str:
        """Name a layer that sets a key but does not apply to an assignment."""
        for entry in self._platform_config.entries_of(key):
            lacking = self._platform_config.lacking(assignment, entry)
            if lacking:
                labels = ", ".join(f"{name} = {value}" for name, value in lacking)
                return f"{key} is set in {_file(entry.where)}, but only for {labels}"
        return f"no ConfigMap sets {key}"


class ConfigKeyRead(NamedTuple):
    """A key of a map of assignments that a Template reads without a guard, and all places.

    `path` has the field and the keys above it first, and `gotemplate.EACH` for each item of a list.
    A key whose truth a `condition` tests may have a `text` that is meant as false, from `set_at`. A
    key that it prints (`is_print`) may be a list or a mapping.
    """

    template: str
    path: tuple[str, ...]
    places: tuple[Location, ...]
    condition: str = ""
    text: str = ""
    set_at: Location | None = None
    is_print: bool = False

    @property
    def is_of_config(self) -> bool:
        """Whether the key is one of the configuration, and not of a target."""
        return self.path[0] == "ConfigData"

    @property
    def key(self) -> str:
        """The field and the key, as in `ConfigData.hosts[].name`."""
        return ".".join(self.path).replace(f".{gotemplate.EACH}", gotemplate.EACH)

    @property
    def code(self) -> str:
        """The code of the finding."""
        if self.is_print:
            return COLLECTION_PRINTED
        return TEXT_TRUE if self.text else KEY_UNSET

    @property
    def message(self) -> str:
        """The finding for assignments without a value, without their names."""
        if self.text:
            branch = f" (branch {self.set_at.branch})" if self.set_at and self.set_at.branch else ""
            place = f", set in {_file(self.set_at)}{branch}" if self.set_at else ""
            if self.is_print:
                return (
                    f"Template {self.template!r}: {self.condition!r} prints {self.text} as Go "
                    f"writes it, not as YAML: .{self.key}{place}"
                )
            return (
                f"Template {self.template!r}: {self.condition!r} takes .{self.key} as true, since "
                f"it is the text {self.text!r}{place}"
            )
        nobody = "no layer sets" if self.is_of_config else "the target has no"
        return f"{nobody} .{self.key}, which Template {self.template!r} reads"

    def is_of(self, target: DeploymentTarget) -> bool:
        """Return whether a target has the key; for keys of targets alone."""
        return self.path[1] in (target.labels if self.path[0] == "Labels" else target.manifests)


class ConfigKeyReads:
    """The keys that the Templates of a fleet read of configuration and targets without a guard."""

    def __init__(self, fleet: Fleet, platform_config: PlatformConfig) -> None:
        self._platform_config = platform_config
        templates = {template.name: _reads(template) for template in fleet.templates}
        conditions = {template.name: _conditions(template) for template in fleet.templates}
        self._reads, self._conditions = (
            {
                item.name: [
                    read
                    for name in (item.reconciler, item.namespace_service, item.config_type)
                    for read in by_template.get(name, ())
                ]
                for item in fleet.cluster_types
            }
            for by_template in (templates, conditions)
        )
        self._manifest_keys = {key for target in fleet.targets for key in target.manifests}
        of_targets = (read for reads in templates.values() for read in reads)
        self._lacking = {
            read: {target.name for target in fleet.targets if not read.is_of(target)}
            for read in of_targets
            if not read.is_of_config
        }

    def unset(self, assignments: Iterable[Assignment]) -> dict[ConfigKeyRead, list[Assignment]]:
        """Return the assignments for which nothing sets a key, by the place that reads it.

        Also those for which a condition takes a text that is meant as false as true.
        """
        by_cluster_type: dict[str, list[Assignment]] = {}
        for item in assignments:
            by_cluster_type.setdefault(item.cluster_type.name, []).append(item)
        unset: dict[ConfigKeyRead, list[Assignment]] = {}
        for name, items in by_cluster_type.items():
            for read, alike in (*self._of_config(name, items), *self._of_targets(name, items)):
                unset.setdefault(read, []).extend(alike)
        return unset

    def _of_config(
        self, cluster_type: str, assignments: Sequence[Assignment]
    ) -> Iterator[tuple[ConfigKeyRead, Sequence[Assignment]]]:
        """Yield the faulty reads of the configuration; assignments with the same keys are alike."""
        reads = [read for read in self._reads[cluster_type] if read.is_of_config]
        conditions = [read for read in self._conditions[cluster_type] if read.is_of_config]
        keys = {read.path[1] for read in (*reads, *conditions)}
        for alike in self._platform_config.combinations(assignments, keys) if keys else ():
            yield from ((read, alike) for read in reads if self._is_unset(read, alike[0]))
            for read in conditions:
                yield from ((taken, alike) for taken in self._taken_as_true(read, alike[0]))

    def _of_targets(
        self, cluster_type: str, assignments: Sequence[Assignment]
    ) -> Iterator[tuple[ConfigKeyRead, Sequence[Assignment]]]:
        """Yield the faulty reads of labels and manifests."""
        for read in self._reads[cluster_type]:
            lacking = self._lacking.get(read)
            alike = [item for item in assignments if item.target.name in lacking] if lacking else []
            if alike:
                yield read, alike
        for read in self._conditions[cluster_type]:
            for item in () if read.is_of_config else assignments:
                yield from ((taken, [item]) for taken in self._taken_as_true(read, item))

    def failure(self, assignment: Assignment, *, of_config: bool) -> rendering.Failure | None:
        """Return the first key that nothing sets for an assignment as its failure."""
        for read in self._reads[assignment.cluster_type.name]:
            if read.is_of_config == of_config and self._is_unset(read, assignment):
                where, advice = self._place(read, assignment), self._advice(read, assignment)
                return rendering.Failure(read.message, where, advice, code=KEY_UNSET)
        return None

    def findings(
        self,
        unset: Mapping[ConfigKeyRead, Sequence[Assignment]],
        gaps: Iterable[Finding] = (),
    ) -> list[Finding]:
        """Return one warning for each key, with an assignment as an example.

        `gaps` are warnings about missing values; of two with one cause, only one is returned.
        """
        gaps = list(gaps)
        of_config = (read for read in unset if read.is_of_config and not read.text)
        places = {where for read in of_config for where in read.places}
        told = {item.where for item in gaps}
        others = (item for item in gaps if item.where not in places)
        return [*leveled(others, "warning", "assignment")] + [
            Finding(
                f"{read.message}, for {counted(len(items), 'assignment')} "
                f"({abbreviated([_name(items[0])], 1, len(items) - 1)})",
                self._place(read, items[0]),
                self._advice(read, items[0]),
                read.code,
                level="warning",
                scope="assignment",
                related=(read.set_at,) if read.set_at else read.places[:1],
            )
            for read, items in unset.items()
            if read.is_of_config or read.text or told.isdisjoint(read.places)
        ]

    def _is_unset(self, read: ConfigKeyRead, assignment: Assignment) -> bool:
        """Return whether an assignment lacks a key, and has the keys above it."""
        if not read.is_of_config:
            return not read.is_of(assignment.target)
        _, key, *inner = read.path
        entries = self._platform_config.entries_of(key)
        applies = any(not self._platform_config.lacking(assignment, entry) for entry in entries)
        if not (inner and applies):
            return not (inner or applies)
        maps = self._maps(read, assignment)
        return bool(maps) and all(isinstance(m, Mapping) and inner[-1] not in m for m in maps)

    def _taken_as_true(
        self, read: ConfigKeyRead, assignment: Assignment
    ) -> Iterator[ConfigKeyRead]:
        """Yield a condition with each text that is meant as false."""
        target, (field, key, *below) = assignment.target, read.path
        if field == "Labels":
            values: list[object] = [target.labels.get(key)]
        elif field == "Manifests":
            values = [target.manifests.get(key)]
        else:
            values = self._maps(read, assignment)
            values = [inner for outer in values for inner in _below(outer, read.path[-1])]
        if read.is_print:
            texts = ["a list" for item in values if isinstance(item, list)]
            texts += ["a mapping" for item in values if isinstance(item, Mapping)]
        else:
            texts = [item for item in values if isinstance(item, str)]
        for text in dict.fromkeys(texts):
            if not read.is_print and text.strip().lower() not in FALSE_TEXTS:
                continue
            if field == "Labels":
                set_at = target.where
            elif field == "Manifests":
                set_at = target.at(key)
            else:
                origins = self._platform_config.config_of(assignment).origins_of(key)
                set_at = (origins.get((key, *below)) or origins.get((key,)) or [target.where])[-1]
            yield read._replace(text=text, set_at=set_at)

    def _maps(self, read: ConfigKeyRead, assignment: Assignment) -> list[object]:
        """Return the values that should have a key of the configuration."""
        values: list[object] = [self._platform_config.config_of(assignment).values]
        for key in read.path[1:-1]:
            values = [inner for outer in values for inner in _below(outer, key)]
        return values

    def _place(self, read: ConfigKeyRead, assignment: Assignment) -> Location:
        """Return the target that lacks a key that others have, else the place in the Template."""
        if read.text:
            return read.places[0]
        is_usual = read.path[-1] in {*rendering.USUAL_KEYS, *self._manifest_keys}
        is_of_target = read.path[0] == "Manifests" and is_usual
        return assignment.target.where if is_of_target else read.places[0]

    def _advice(self, read: ConfigKeyRead, assignment: Assignment) -> str:
        field, *above, key = read.path
        target = assignment.target
        if read.is_print:
            return f"write it as YAML or JSON: {{{{ .{read.key} | toJson }}}}, or print its items"
        if read.text:
            shown = f'.{read.key} "true"'
            return (
                f"compare the text: {{{{ if eq {shown} }}}}, or leave the key out where it is false"
            )
        if read.is_of_config:
            known = {entry.key for entry in self._platform_config.entries}
            if above:
                maps = self._maps(read, assignment)
                known = {str(name) for item in maps if isinstance(item, Mapping) for name in item}
            action = "set the key in a ConfigMap that applies there"
        elif field == "Labels":
            known = {*target.labels}
            action = "add the label to the target"
        else:
            known = {*target.manifests}
            action = "add the key to the target's manifests"
        close = nearest(key, sorted(known - {key}))
        if close:
            action = f"did you mean {close}? Otherwise {action}"
        shown = f".{key}" if gotemplate.EACH in above else f".{read.key}"
        return f'{action}, or give it a default: {{{{ {shown} | default "" }}}}'


def _below(value: object, key: str) -> Iterable[object]:
    """Return the value of a key, or each item."""
    if isinstance(value, Mapping):
        return value.values() if key == gotemplate.EACH else [value[key]] if key in value else ()
    return value if key == gotemplate.EACH and isinstance(value, list | tuple) else ()


def _reads(template: Template) -> list[ConfigKeyRead]:
    places: dict[tuple[str, ...], dict[Location, None]] = {}
    for path, guarded, where in rendering.keys_read(template):
        for number in range(max(guarded, 1), len(path)):
            if path[number] != gotemplate.EACH:
                places.setdefault(path[: number + 1], {})[where] = None
    return [ConfigKeyRead(template.name, path, tuple(at)) for path, at in places.items()]


def _conditions(template: Template) -> list[ConfigKeyRead]:
    """Return the keys of maps whose truth a Template tests, or that it prints, each once.

    Who walks over all keys or items has to expect each kind of value.
    """
    tested: dict[tuple[tuple[str, ...], bool], tuple[str, Location]] = {}
    for use, where in rendering.uses(template):
        path = use.operands[0].path if use.function in _OF_FIELDS else None
        is_key = path and len(path) > 1 and path[0] in rendering.MAPS
        if path and is_key and gotemplate.EACH not in path:
            tested.setdefault((path, use.function == gotemplate.PRINT), (use.text, where))
    return [
        ConfigKeyRead(template.name, path, (where,), text, is_print=is_print)
        for (path, is_print), (text, where) in tested.items()
    ]


_OF_FIELDS: Final = frozenset({gotemplate.CONDITION, gotemplate.PRINT})
"""The uses of fields whose values decide whether they mean what they say."""


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
    code: str = rendering.REFUSED_CONFIG


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
    """Trace the violations of all schemas; at least one schema must be violated, or broken."""
    for schema in schemas:
        fault = config_schemas.schema_fault(schema.text)
        if fault:
            where, text = schema.locate(fault.position), f"{schema.name}: {fault.advice}"
            return _Trace(where, text, code=rendering.BROKEN_SCHEMA)
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
    text += next(filter(None, (_number_advice(line, config.values) for line in lines)), "")
    if missing:
        text += "; kalypso explain shows every layer"
    return _Trace(where, text, is_value=bool(wrong))


_ENUMERATION: Final = re.compile(
    r'(\S+): \S+ (?:must be one of the following|does not match): (".*")'
)
_OTHER_TYPE: Final = re.compile(
    r"\S+: Invalid type\. Expected: (string|boolean), given: (integer|number|string)"
)


def _number_advice(line: str, values: object) -> str:
    """Explain a violation of a text that looks like a number, or a boolean; "" for another one."""
    violation = line.removeprefix("- ")
    given = _OTHER_TYPE.fullmatch(violation)
    if given and given[1] == "string":
        advice = f'write "type": "{given[2]}" in the schema'
        return f"; a value that looks like a number is checked as a number: {advice}"
    if given and given[2] == "string":
        return '; a boolean is checked as a text: write "enum": ["true", "false"] in the schema'
    listed = _ENUMERATION.fullmatch(violation)
    value = values
    for step in listed[1].split(".") if listed else ():
        value = value.get(step) if isinstance(value, Mapping) else None
    if not listed or not isinstance(value, str) or f'"{value}"' not in listed[2]:
        return ""
    return (
        f"; {value} looks like a number and is compared as one: write {value} for "
        f'"{value}" in the schema'
    )


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
