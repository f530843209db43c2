"""ConfigMaps and schemas that apply to no possible assignment."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from kalypso_actions.errors import Problem
from kalypso_actions.fleet_checks.label_advice import label_advice
from kalypso_actions.fleet_checks.scope import FleetScope, FleetView
from kalypso_actions.model.kinds import PLATFORM_CONFIG_LABEL, ConfigMap, ConfigSchema
from kalypso_actions.platform_config import Label, matched_labels

NOUN = "cluster type or target"


def check_configuration(view: FleetView) -> Iterator[Problem]:
    """Report the ConfigMaps and schemas whose labels no cluster type and target have together."""
    for config_map, scopes in view.judged(lambda fleet: fleet.config_maps):
        if config_map.labels.get(PLATFORM_CONFIG_LABEL) == "true":
            yield from _unmatched(config_map, scopes, code="config-unmatched")
    for schema, scopes in view.judged(lambda fleet: fleet.config_schemas):
        yield from _unmatched(schema, scopes, code="schema-unmatched")


def _unmatched(
    resource: ConfigMap | ConfigSchema, scopes: Sequence[FleetScope], code: str
) -> Iterator[Problem]:
    labels = matched_labels(resource.labels)
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
            return  # a registration without workspace is reported, and may be meant
        objects = [item for scope in scopes for item in scope.reach.labels()]
        is_known = any(key in item for item in objects)
        advice = label_advice(key, [value], objects, NOUN)
        reason = f"no {NOUN} has {key} = {value}"
    else:
        key, advice, is_known = labels[0][0], "split it, or correct a label", False
        reason = f"no cluster type has, together with a target, {_shown(labels)}"
    yield Problem(
        f"{type(resource).__name__} {resource.name!r} applies nowhere: {reason}",
        (resource.label_value_places if is_known else resource.label_places).get(
            key, resource.where
        ),
        advice,
        code,
    )


def _shown(labels: Iterable[Label]) -> str:
    return ", ".join(f"{key} = {value}" for key, value in labels)
