"""Templates of a type that Kubernetes refuses, or that cluster types use as another."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Final

from kalypso_actions.errors import Problem
from kalypso_actions.fleet_checks.scope import FleetScope
from kalypso_actions.model.kinds import TEMPLATE_TYPES, Template
from kalypso_actions.model.nearest import nearest
from kalypso_actions.rendering import unknown_fields

FIELD_UNKNOWN: Final = "template-field-unknown"


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


def misspelled_fields(scope: FleetScope) -> Iterator[Problem]:
    """Report the fields of Templates that no target has, if all targets are known."""
    if not scope.may_have_more_targets():
        keys = {key for target in scope.all_targets for key in target.manifests}
        for template in scope.fleet.templates:
            yield from unknown_fields(template, keys)


def merge_field_faults(
    problems: Iterable[Problem], warnings: Iterable[Problem]
) -> tuple[list[Problem], list[Problem]]:
    """Give the advice on unknown fields to the failures that they cause, instead of a warning."""
    remaining = list(warnings)
    advice = {item.where: item.advice for item in remaining if item.code == FIELD_UNKNOWN}
    failed = [item.where for item in problems if item.code == "template-failed"]
    advised = [
        replace(item, advice=item.advice or advice[item.where])
        if item.code == "template-failed" and item.where in advice
        else item
        for item in problems
    ]
    return advised, [
        item for item in remaining if item.code != FIELD_UNKNOWN or item.where not in failed
    ]


def wrong_types(scope: FleetScope) -> Iterator[Problem]:
    """Report cluster types that name a Template of another type, which upstream never compares."""
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
                f"Templates of type {expected}: {', '.join(others) or 'none'}",
                "template-type-wrong",
            )


def _unknown(template: Template) -> set[str]:
    return {template.type} - {*TEMPLATE_TYPES}
