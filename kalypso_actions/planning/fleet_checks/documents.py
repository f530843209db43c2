"""Templates of the wrong type, layers that never count, and schemas that describe nothing."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from itertools import combinations, islice, product
from math import prod
from typing import Final, NamedTuple

from kalypso_actions.config_schemas import properties, schema_fault, unknown_keywords
from kalypso_actions.errors import Location, Problem
from kalypso_actions.model.counts import MAX_LISTED, abbreviated
from kalypso_actions.model.kinds import (
    PLATFORM_CONFIG_LABEL,
    TEMPLATE_TYPES,
    ClusterType,
    ConfigMap,
    ConfigSchema,
    DeploymentTarget,
    Template,
)
from kalypso_actions.model.nearest import nearest, replaces, suggestion
from kalypso_actions.planning.config_checks import KEY_UNSET
from kalypso_actions.planning.fleet_checks.policies import label_advice
from kalypso_actions.planning.fleet_checks.scope import FleetScope, FleetView
from kalypso_actions.platform_config import parse_value
from kalypso_actions.platform_config.layers import (
    AZURE_APP_CONFIG_PREFIX,
    LayerKey,
    read_entries,
    split_azure_key,
)
from kalypso_actions.platform_config.matching import NAMES, Label, labels_of, matched_labels
from kalypso_actions.rendering import (
    BROKEN_SCHEMA,
    is_builtin_config,
    missing_template,
    unknown_fields,
)

FIELD_UNKNOWN: Final = "template-field-unknown"
CONTENT_TYPES: Final = frozenset({"", "sh", "yaml"})
NO_VALUE: Final = "template-no-value"
FAILURES: Final = frozenset({"template-failed", NO_VALUE})
"""The problems that an unknown field of a template causes."""


def unknown_types(templates: Iterable[Template]) -> Iterator[Problem]:
    """Report the types that upstream's custom resource definition does not accept."""
    for template in templates:
        if template.type not in TEMPLATE_TYPES:
            yield Problem(
                f"Template {template.name!r}: {template.type!r} is not a type of Template",
                template.type_where or template.where,
                f"{suggestion(template.type, TEMPLATE_TYPES)}Types: {', '.join(TEMPLATE_TYPES)}",
                "template-type-unknown",
            )


def unknown_content_types(templates: Iterable[Template]) -> Iterator[Problem]:
    """Report unknown content types: all except sh produce YAML."""
    for template in templates:
        if template.type == "config" and template.content_type not in CONTENT_TYPES:
            yield Problem(
                f"Template {template.name!r}: the contentType {template.content_type!r} has no "
                "effect, the file is YAML",
                template.content_type_where or template.where,
                "write sh for a shell script, or remove it",
                "content-type-unknown",
            )


def misspelled_fields(scope: FleetScope) -> Iterator[Problem]:
    """Report the fields of Templates that no target has; keys only if all targets are known."""
    keys = {key for target in scope.all_targets for key in target.manifests}
    known = None if scope.may_have_more_targets() else keys
    for template in scope.fleet.templates:
        yield from unknown_fields(template, known)


def missing_templates(
    cluster_types: Iterable[ClusterType],
    names: Collection[str],
    may_exist: Callable[[str], bool] = lambda _: False,
) -> Iterator[Problem]:
    """Report the Templates that cluster types name and nobody has, if there are any Templates.

    `names` are those of the Templates; `may_exist` tells of another one whether it may be there.
    """
    for cluster_type in cluster_types if names else ():
        for field, name in (
            ("reconciler", cluster_type.reconciler),
            ("namespaceService", cluster_type.namespace_service),
            ("configType", cluster_type.config_type),
        ):
            is_builtin = field == "configType" and is_builtin_config(name)
            if not (name in names or is_builtin or may_exist(name)):
                yield missing_template(name, cluster_type, field, names)


def invalid_schemas(schemas: Iterable[ConfigSchema]) -> Iterator[Problem]:
    """Report ConfigSchemas that are no JSON Schema."""
    for schema in schemas:
        fault = schema_fault(schema.schema)
        if fault:
            message = f"ConfigSchema {schema.name!r}: {fault.message}"
            yield Problem(message, schema.at(fault.position), fault.advice, BROKEN_SCHEMA)


def merge_field_faults(
    problems: Iterable[Problem], warnings: Iterable[Problem]
) -> tuple[list[Problem], list[Problem]]:
    """Report an unknown field once, with the advice on it.

    An unknown field makes a template fail or write `<no value>`. The failure gets the advice, and
    this drops the warning about the missing value.
    """
    remaining = list(warnings)
    advice = {item.where: item.advice for item in remaining if item.code == FIELD_UNKNOWN}
    failed = [item.where for item in problems if item.code in FAILURES]
    advised = [
        _with_advice(item, advice[item.where])
        if item.code in FAILURES and advice.get(item.where)
        else item
        for item in problems
    ]
    effects = {
        item.where: _SUBJECT.sub("", item.message) for item in remaining if item.code == NO_VALUE
    }
    return advised, [
        _with_effect(item, effects)
        for item in remaining
        if not (item.code == FIELD_UNKNOWN and item.where in failed)
        and not (item.code == NO_VALUE and item.where in advice)
        and not (item.code == KEY_UNSET and {item.where, *item.related} & advice.keys())
    ]


_SUBJECT: Final = re.compile(r".*?Template '[^']+': ")
"""The beginning of a message of a Template, also behind the names of environments."""


def _with_effect(problem: Problem, effects: Mapping[Location | None, str]) -> Problem:
    """Add the files that lack a value to the problem of an unknown field."""
    effect = effects.get(problem.where) if problem.code == FIELD_UNKNOWN else None
    return replace(problem, message=f"{problem.message}: {effect}") if effect else problem


def _with_advice(problem: Problem, advice: str) -> Problem:
    """Replace the first line of the advice; an engine's message may follow."""
    engine = problem.advice.partition("\n")[2]
    return replace(problem, advice=f"{advice}\n{engine}" if engine else advice)


def wrong_types(scope: FleetScope) -> Iterator[Problem]:
    """Report cluster types that name a Template of another type; upstream compares no types."""
    templates = {template.name: template for template in scope.fleet.templates}
    for cluster_type in scope.fleet.cluster_types:
        for field, expected, name in (
            ("reconciler", "reconciler", cluster_type.reconciler),
            ("namespaceService", "namespace", cluster_type.namespace_service),
            ("configType", "config", cluster_type.config_type),
        ):
            template = templates.get(name)
            if template is None or template.type in {expected, *_unknown(template)}:
                continue
            others = sorted(item.name for item in templates.values() if item.type == expected)
            if others:
                yield Problem(
                    f"ClusterType {cluster_type.name!r}: {field} names the Template {name!r}, "
                    f"whose type is {template.type}",
                    cluster_type.at(field),
                    f"Templates of type {expected}: {abbreviated(others, MAX_LISTED)}",
                    "template-type-wrong",
                )
            else:  # cluster types can name no other one
                yield Problem(
                    f"Template {name!r} has the type {template.type}, but cluster types name it as "
                    f"{field}",
                    template.type_where or template.where,
                    f"write type: {expected}, or add a Template of that type",
                    "template-type-wrong",
                )


def _unknown(template: Template) -> set[str]:
    return {template.type} - {*TEMPLATE_TYPES}


NOUN = "cluster type or target"


class _Selector(NamedTuple):
    """The labels of an object or of keys, and the environments that have it.

    `place` takes a label, and whether its value is at fault.
    """

    name: str
    labels: Sequence[Label]
    scopes: Sequence[FleetScope]
    place: Callable[[str, bool], Location]
    code: str


def _selectors(view: FleetView) -> Iterator[_Selector]:
    """Yield the labels of configuration and schemas that can be judged."""
    for config_map, scopes in view.judged(lambda fleet: fleet.config_maps):
        if config_map.labels.get(PLATFORM_CONFIG_LABEL) == "true":
            yield _of_object(config_map, scopes, code="config-unmatched")
        if config_map.name.startswith(AZURE_APP_CONFIG_PREFIX):
            yield from _of_keys(config_map, scopes)
    for schema, scopes in view.judged(lambda fleet: fleet.config_schemas):
        yield _of_object(schema, scopes, code="schema-unmatched")


def check_configuration(view: FleetView) -> Iterator[Problem]:
    """Report objects and keys whose labels no cluster type and target have together."""
    for selector in _selectors(view):
        yield from _unmatched(selector)
    for scope in view.scopes:
        yield from misspelled_keywords(scope.fleet.config_schemas, scope.all_targets)
        yield from _other_cases(scope)


def renamed_cluster_types(view: FleetView) -> Iterator[Problem]:
    """Yield notes on labels of which some environments have a cluster type with a similar value.

    No environment has both values, and nothing else names the similar one: it may be a new name.
    """
    selectors = [*_selectors(view)]
    named = {label for selector in selectors for label in selector.labels}
    values: dict[FleetScope, set[Label]] = {
        scope: {label for item in scope.fleet.cluster_types for label in labels_of(item).items()}
        for scope in view.scopes
    }
    for name, labels, scopes, place, code in selectors:
        for label in labels:
            lacking = [scope for scope in scopes if label not in values[scope]]
            having = [scope for scope in scopes if label in values[scope]]
            if not (lacking and having) or lacking[0].reach.includes([label]):
                continue  # targets, which are those of all environments, may have it as well
            beside = named.union(*(values[scope] for scope in having))
            new: dict[str, list[str]] = {}
            for scope in lacking:
                for other in sorted(values[scope] - beside):
                    if other[0] == label[0] and replaces(other[1], label[1]):
                        new.setdefault(other[1], []).append(scope.environment)
            for value, environments in new.items():
                yield Problem(
                    f"{name} applies to nothing in {', '.join(environments)}: no {NOUN} there has "
                    f"{_shown([label])}, but one has {label[0]} = {value}",
                    place(label[0], True),
                    f"if {value} is the new name of {label[1]}, add the same for {value}",
                    code,
                )


def _other_cases(scope: FleetScope) -> Iterator[Problem]:
    """Report keys of the environment that differ from one of main by case alone: both count."""
    entries = [*read_entries(scope.fleet.config_maps)]
    own = {item.name for item in scope.fleet.config_maps if scope.is_own(item)}
    of_main = {each.key.casefold(): each for each in entries if each.config_map not in own}
    exact = {each.key for each in entries if each.config_map not in own}
    for entry in entries:
        other = of_main.get(entry.key.casefold())
        if other and entry.config_map in own and entry.key not in exact:
            yield Problem(
                f"ConfigMap {entry.config_map!r}: {entry.key} differs from {other.key} of "
                f"ConfigMap {other.config_map!r} by case alone, so both keys count",
                entry.where,
                f"write {other.key}, if that is meant",
                "config-key-misspelled",
                related=(other.where,),
            )


_Labels = tuple[Label, ...]


class _Layers:
    """The layers of an environment by key, in the order of merging."""

    def __init__(self, scope: FleetScope) -> None:
        self._scope = scope
        self.entries: dict[str, list[LayerKey]] = {}
        for entry in read_entries(scope.fleet.config_maps):
            self.entries.setdefault(entry.key, []).append(entry)
        self._reached: dict[_Labels, bool] = {}
        self._values: dict[_Labels, Mapping[str, set[str]]] = {}

    def winner(self, entry: LayerKey) -> LayerKey | None:
        """Return a later layer that applies wherever a layer applies, and replaces its value."""
        subsets = {
            labels
            for size in range(len(entry.labels) + 1)
            for labels in combinations(entry.labels, size)
        }
        later = self._last_of_labels[entry.key]
        found = (later[labels] for labels in subsets if labels in later)
        position, winner = max(found, key=lambda item: item[0])
        is_later = self.entries[entry.key][position] != entry
        return winner if is_later and _replaces(entry, winner) else None

    @cached_property
    def _last_of_labels(self) -> dict[str, dict[_Labels, tuple[int, LayerKey]]]:
        return {
            key: {entry.labels: (number, entry) for number, entry in enumerate(entries)}
            for key, entries in self.entries.items()
        }

    def conflicts(self) -> Iterator[tuple[LayerKey, LayerKey]]:
        """Yield layers of a key that replace others for some assignments, the later one second.

        One pair for each key and pair of labels whose values differ.
        """
        for entries in self.entries.values():
            by_labels: dict[tuple[str, ...], list[LayerKey]] = {}
            for entry in entries:
                by_labels.setdefault(tuple(key for key, _ in entry.labels), []).append(entry)
            for first, second in combinations(by_labels.values(), 2):
                pairs = map(_in_order(entries), self._together(first, second))
                yield from islice(filter(self._is_conflict, pairs), 1)
            for labels in by_labels.values():
                before: dict[_Labels, LayerKey] = {}
                for entry in labels:
                    pair = before.get(entry.labels, entry), entry
                    before[entry.labels] = entry
                    if self._is_conflict(pair):
                        yield pair

    def _together(
        self, first: Sequence[LayerKey], second: Sequence[LayerKey]
    ) -> Iterator[tuple[LayerKey, LayerKey]]:
        """Yield the pairs of layers that may apply together, and perhaps more.

        A fleet has thousands of sites with a region each: only one region is beside a site.
        """
        by_labels: dict[_Labels, list[LayerKey]] = {}
        for other in second:
            by_labels.setdefault(other.labels, []).append(other)
        for one in first:
            beside = self._beside(one.labels)
            values = [("", *sorted(beside.get(key, ()))) for key, _ in second[0].labels]
            if prod(map(len, values)) > len(by_labels):
                yield from ((one, other) for other in second)
                continue
            for combination in product(*values):
                labels = zip((key for key, _ in second[0].labels), combination, strict=True)
                yield from ((one, other) for other in by_labels.get(tuple(labels), ()))

    def _beside(self, labels: _Labels) -> Mapping[str, set[str]]:
        if labels not in self._values:
            self._values[labels] = self._scope.reach.beside(labels)
        return self._values[labels]

    def _is_conflict(self, pair: tuple[LayerKey, LayerKey]) -> bool:
        one, other = pair
        labels = {**dict(one.labels), **dict(other.labels)}
        if one == other or not _replaces(one, other):
            return False
        if {*one.labels, *other.labels} != {*labels.items()}:
            return False  # one label has two values
        is_nested = {*one.labels} <= {*other.labels} or {*other.labels} <= {*one.labels}
        names_one = NAMES.isdisjoint(dict(one.labels)) and not NAMES.isdisjoint(dict(other.labels))
        if (is_nested or names_one) and not _changes_form(one, other):
            return False  # the layer with more labels, or for one name, is meant to win
        both = tuple(sorted(labels.items()))
        if both not in self._reached:
            self._reached[both] = not both or self._scope.reach.includes(both)
        return self._reached[both]


def _in_order(
    entries: Sequence[LayerKey],
) -> Callable[[tuple[LayerKey, LayerKey]], tuple[LayerKey, LayerKey]]:
    numbers = {id(entry): number for number, entry in enumerate(entries)}
    return lambda pair: pair if numbers[id(pair[0])] <= numbers[id(pair[1])] else (pair[1], pair[0])


def _replaces(one: LayerKey, other: LayerKey) -> bool:
    """Whether another value replaces one, instead of merging with it or repeating it."""
    forms = _form(one), _form(other)
    return one.text != other.text and (forms[0] != forms[1] or forms[0] == "text")


def _changes_form(one: LayerKey, other: LayerKey) -> bool:
    return _form(one) != _form(other)


def _form(entry: LayerKey) -> str:
    value = parse_value(entry.text)
    if isinstance(value, list):
        return "list"
    return "mapping" if isinstance(value, dict) else "text"


def check_layers(view: FleetView) -> Iterator[Problem]:
    """Yield notes on values that never count, or that win by the order of names alone."""
    layers = {scope: _Layers(scope) for scope in view.scopes}
    for config_map, scopes in view.judged(lambda fleet: fleet.config_maps):
        lost: dict[str, list[tuple[LayerKey, LayerKey]]] = {}
        for entry in read_entries([config_map]):
            winners = [layers[scope].winner(entry) for scope in scopes]
            if winners and winners[0] and all(winners):
                lost.setdefault(winners[0].config_map, []).append((entry, winners[0]))
        for name, pairs in lost.items():
            entry, winner = pairs[0]
            keys = abbreviated([each.key for each, _ in pairs], MAX_LISTED)
            yield Problem(
                f"ConfigMap {config_map.name!r}: {keys} never counts: ConfigMap {name!r} in "
                f"{winner.where} applies wherever this one does, and comes later by name",
                entry.where,
                f"remove it, give {name!r} more labels, or rename one of the two",
                "config-overridden",
                related=(winner.where,),
            )
    for scope in view.scopes:
        for entry, winner in layers[scope].conflicts():
            if not _changes_form(entry, winner):
                yield Problem(
                    f"{entry.key} has two values where {_shown(entry.labels)} and "
                    f"{_shown(winner.labels)} meet: that of ConfigMap {winner.config_map!r} wins "
                    f"over {entry.config_map!r} in {entry.where}, because its name comes later",
                    winner.where,
                    "set the key for both labels in a ConfigMap of its own with a later name, or "
                    "rename one of the two",
                    "config-ambiguous",
                    related=(entry.where,),
                )
            else:
                yield Problem(
                    f"ConfigMap {winner.config_map!r}: {entry.key} is a {_form(winner)}, which "
                    f"replaces the {_form(entry)} of ConfigMap {entry.config_map!r} in "
                    f"{entry.where}: only values of one form merge",
                    winner.where,
                    f"write a {_form(entry)}, or use another key",
                    "config-form-differs",
                    related=(entry.where,),
                )


def unset_properties(view: FleetView) -> Iterator[Problem]:
    """Yield notes on the properties of schemas that no layer of any environment sets."""
    if not view.scopes:
        return
    keys = {entry.key for scope in view.scopes for entry in read_entries(scope.fleet.config_maps)}
    for schema, _ in view.judged(lambda fleet: fleet.config_schemas):
        for name in properties(schema.schema):
            if name not in keys:
                close = nearest(name, sorted(keys))
                yield Problem(
                    f"ConfigSchema {schema.name!r}: no layer sets the property {name}",
                    schema.at(_position(schema.schema, name)),
                    f"did you mean {close}?" if close else "set it, or remove it from the schema",
                    "schema-property-unset",
                )


def schema_faults(targets: Iterable[DeploymentTarget]) -> Iterator[Problem]:
    """Report faulty schemas, each text once."""
    seen: set[str] = set()
    for target in targets:
        for text in target.config_schemas:
            fault = None if text in seen else schema_fault(text)
            seen.add(text)
            if fault:
                message = f"configSchemas of {target.name!r}: {fault.message}"
                where = target.schema_at(text, fault.position)
                yield Problem(message, where, fault.advice, "schema-invalid")


def misspelled_keywords(
    schemas: Iterable[ConfigSchema], targets: Iterable[DeploymentTarget]
) -> Iterator[Problem]:
    """Report keywords of schemas that are probably mistakes."""
    return (item for item in _unknown_keywords(schemas, targets) if item.advice != _OTHER_KEYWORD)


def other_keywords(view: FleetView) -> Iterator[Problem]:
    """Yield notes on other keywords of schemas without effect."""
    for scope in view.scopes:
        for item in _unknown_keywords(scope.fleet.config_schemas, scope.all_targets):
            if item.advice == _OTHER_KEYWORD:
                yield item


_OTHER_KEYWORD: Final = "remove it, or let it begin with x- if a tool reads it"


def _unknown_keywords(
    schemas: Iterable[ConfigSchema], targets: Iterable[DeploymentTarget]
) -> Iterator[Problem]:
    """Yield keywords without effect; of equal schemas of targets, only in the first."""
    first: dict[str, DeploymentTarget] = {}
    for target in targets:
        for text in target.config_schemas:
            first.setdefault(text, target)
    found = [
        (f"ConfigSchema {schema.name!r}", schema.at(_position(schema.schema, keyword)), *unknown)
        for schema in schemas
        for unknown in unknown_keywords(schema.schema)
        for keyword in unknown[:1]
    ]
    found += [
        (
            f"configSchemas of {target.name!r}",
            target.schema_at(text, _position(text, keyword)),
            *unknown,
        )
        for text, target in first.items()
        for unknown in unknown_keywords(text)
        for keyword in unknown[:1]
    ]
    for name, where, keyword, advice in found:
        message = f"{name}: the keyword {keyword!r} has no effect"
        yield Problem(message, where, advice or _OTHER_KEYWORD, "schema-keyword-unknown")


def _position(schema: str, name: str) -> int:
    """Return the position of a name in the text of a schema."""
    return max(schema.find(f'"{name}"'), 0)


def _of_object(
    resource: ConfigMap | ConfigSchema, scopes: Sequence[FleetScope], code: str
) -> _Selector:
    def place(label: str, is_known: bool) -> Location:
        places = resource.label_value_places if is_known else resource.label_places
        return places.get(label, resource.where)

    name = f"{type(resource).__name__} {resource.name!r}"
    return _Selector(name, matched_labels(resource.labels), scopes, place, code)


def _of_keys(config_map: ConfigMap, scopes: Sequence[FleetScope]) -> Iterator[_Selector]:
    """Yield the labels in keys; the first key of each combination."""
    keys: dict[tuple[Label, ...], str] = {}
    for full_key in config_map.data:
        keys.setdefault(split_azure_key(full_key)[1], full_key)
    for labels, full_key in keys.items():
        name = f"the key {full_key!r} of ConfigMap {config_map.name!r}"
        where = config_map.at(full_key)
        yield _Selector(name, labels, scopes, lambda *_, at=where: at, "config-unmatched")


def _unmatched(selector: _Selector) -> Iterator[Problem]:
    """Report labels without a match."""
    name, labels, scopes, place, code = selector
    if not labels or any(scope.reach.includes(labels) for scope in scopes):
        return
    if any(scope.may_have_more_targets() for scope in scopes):
        return
    alone = [
        label for label in labels if not any(scope.reach.includes((label,)) for scope in scopes)
    ]
    if alone:
        key, value = alone[0]
        if key == "workspace" and any(scope.without_workspace for scope in scopes):
            return  # a registration without workspace, which has its own problem, may belong to it
        objects = [item for scope in scopes for item in scope.reach.labels()]
        is_known = any(key in item for item in objects)
        advice = label_advice(key, [value], objects, NOUN)
        reason = f"no {NOUN} has {key} = {value}"
    else:
        key, advice, is_known = labels[0][0], "split it, or correct a label", False
        reason = f"no cluster type has, together with a target, {_shown(labels)}"
    yield Problem(f"{name} applies nowhere: {reason}", place(key, is_known), advice, code)


def _shown(labels: Iterable[Label]) -> str:
    return ", ".join(f"{key} = {value}" for key, value in labels)
