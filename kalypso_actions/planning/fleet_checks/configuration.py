"""ConfigMaps, their keys of Azure App Configuration, and schemas that apply to no assignment."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence

from kalypso_actions.config_schemas import schema_error, unknown_keywords
from kalypso_actions.errors import Location, Problem
from kalypso_actions.model.kinds import (
    PLATFORM_CONFIG_LABEL,
    ConfigMap,
    ConfigSchema,
    DeploymentTarget,
)
from kalypso_actions.planning.fleet_checks.label_advice import label_advice
from kalypso_actions.planning.fleet_checks.scope import FleetScope, FleetView
from kalypso_actions.platform_config.layers import AZURE_APP_CONFIG_PREFIX, split_azure_key
from kalypso_actions.platform_config.matching import Label, matched_labels

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
            fault = schema_error(text)
            if fault and text not in seen:
                seen.add(text)
                message = f"configSchemas of {target.name!r}: {fault}"
                yield Problem(message, target.where, code="schema-invalid")


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
