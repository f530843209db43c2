"""Templates with a type that Kubernetes refuses, or that does not fit their use."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Final

from kalypso_actions.config_schemas import schema_fault, unknown_keywords
from kalypso_actions.errors import Location, Problem
from kalypso_actions.model.counts import MAX_LISTED, abbreviated
from kalypso_actions.model.kinds import (
    PLATFORM_CONFIG_LABEL,
    TEMPLATE_TYPES,
    ConfigMap,
    ConfigSchema,
    DeploymentTarget,
    Template,
)
from kalypso_actions.model.nearest import nearest
from kalypso_actions.planning.fleet_checks.policies import label_advice
from kalypso_actions.planning.fleet_checks.scope import FleetScope, FleetView
from kalypso_actions.platform_config.layers import AZURE_APP_CONFIG_PREFIX, split_azure_key
from kalypso_actions.platform_config.matching import Label, matched_labels
from kalypso_actions.rendering import unknown_fields

FIELD_UNKNOWN: Final = "template-field-unknown"
CONTENT_TYPES: Final = frozenset({"", "sh", "yaml"})
NO_VALUE: Final = "template-no-value"
FAILURES: Final = frozenset({"template-failed", NO_VALUE})
"""The problems that an unknown field of a template causes."""


def unknown_types(templates: Iterable[Template]) -> Iterator[Problem]:
    """Report the types that upstream's custom resource definition does not accept."""
    for template in templates:
        if template.type not in TEMPLATE_TYPES:
            close = nearest(template.type, TEMPLATE_TYPES)
            suggestion = f"did you mean {close}? " if close else ""
            yield Problem(
                f"Template {template.name!r}: {template.type!r} is not a type of Template",
                template.type_where or template.where,
                f"{suggestion}Types: {', '.join(TEMPLATE_TYPES)}",
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
    """Report the fields of Templates that no target has, if all targets are known."""
    if not scope.may_have_more_targets():
        keys = {key for target in scope.all_targets for key in target.manifests}
        for template in scope.fleet.templates:
            yield from unknown_fields(template, keys)


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
        item.where: item.message.partition(": ")[2] for item in remaining if item.code == NO_VALUE
    }
    return advised, [
        _with_effect(item, effects)
        for item in remaining
        if not (item.code == FIELD_UNKNOWN and item.where in failed)
        and not (item.code == NO_VALUE and item.where in advice)
    ]


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
            yield Problem(
                f"ClusterType {cluster_type.name!r}: {field} names the Template {name!r}, whose "
                f"type is {template.type}",
                cluster_type.at(field),
                f"Templates of type {expected}: {abbreviated(others, MAX_LISTED) or 'none'}",
                "template-type-wrong",
            )


def _unknown(template: Template) -> set[str]:
    return {template.type} - {*TEMPLATE_TYPES}


NOUN = "cluster type or target"


def check_configuration(view: FleetView) -> Iterator[Problem]:
    """Report objects and keys whose labels no cluster type and target have together."""
    for config_map, scopes in view.judged(lambda fleet: fleet.config_maps):
        if config_map.labels.get(PLATFORM_CONFIG_LABEL) == "true":
            yield from _unmatched_object(config_map, scopes, code="config-unmatched")
        if config_map.name.startswith(AZURE_APP_CONFIG_PREFIX):
            yield from _unmatched_keys(config_map, scopes)
    for schema, scopes in view.judged(lambda fleet: fleet.config_schemas):
        yield from _unmatched_object(schema, scopes, code="schema-unmatched")
    for scope in view.scopes:
        yield from misspelled_keywords(scope.fleet.config_schemas, scope.all_targets)


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
    """Report keywords without effect in schemas; of equal schemas of targets, only in the first."""
    for schema in schemas:
        for keyword, advice in unknown_keywords(schema.schema):
            where = schema.at(max(schema.schema.find(f'"{keyword}"'), 0))
            yield _unknown_keyword(f"ConfigSchema {schema.name!r}", keyword, where, advice)
    first: dict[str, DeploymentTarget] = {}
    for target in targets:
        for text in target.config_schemas:
            if text not in first:
                first[text] = target
                for keyword, advice in unknown_keywords(text):
                    name = f"configSchemas of {target.name!r}"
                    yield _unknown_keyword(name, keyword, target.where, advice)


def _unknown_keyword(name: str, keyword: str, where: Location, advice: str) -> Problem:
    message = f"{name}: the keyword {keyword!r} has no effect"
    return Problem(message, where, advice, "schema-keyword-unknown")


def _unmatched_object(
    resource: ConfigMap | ConfigSchema, scopes: Sequence[FleetScope], code: str
) -> Iterator[Problem]:
    def place(label: str, is_known: bool) -> Location:
        places = resource.label_value_places if is_known else resource.label_places
        return places.get(label, resource.where)

    name = f"{type(resource).__name__} {resource.name!r}"
    yield from _unmatched(name, matched_labels(resource.labels), scopes, place, code)


def _unmatched_keys(config_map: ConfigMap, scopes: Sequence[FleetScope]) -> Iterator[Problem]:
    """Report the first key of each combination of labels."""
    keys: dict[tuple[Label, ...], str] = {}
    for full_key in config_map.data:
        keys.setdefault(split_azure_key(full_key)[1], full_key)
    for labels, full_key in keys.items():
        name = f"the key {full_key!r} of ConfigMap {config_map.name!r}"
        where = config_map.at(full_key)
        yield from _unmatched(
            name, labels, scopes, lambda *_, at=where: at, code="config-unmatched"
        )


def _unmatched(
    name: str,
    labels: Sequence[Label],
    scopes: Sequence[FleetScope],
    place: Callable[[str, bool], Location],
    code: str,
) -> Iterator[Problem]:
    """Report labels without a match; `place` takes a label, and whether its value is at fault."""
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
