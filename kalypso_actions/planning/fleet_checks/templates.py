"""Templates with a type that Kubernetes refuses, or that does not fit their use."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Final

from kalypso_actions.errors import Location, Problem
from kalypso_actions.model.counts import MAX_LISTED, abbreviated
from kalypso_actions.model.kinds import TEMPLATE_TYPES, Template
from kalypso_actions.model.nearest import nearest
from kalypso_actions.planning.fleet_checks.scope import FleetScope
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
