"""Conditions of Templates that never hold, or always do, and defaults without effect."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Set
from typing import Final

from kalypso_actions import rendering
from kalypso_actions.errors import Diagnostics, Location, Problem
from kalypso_actions.model.counts import MAX_LISTED, abbreviated
from kalypso_actions.model.kinds import Template
from kalypso_actions.model.nearest import misspelled, nearest
from kalypso_actions.planning.config_checks import FALSE_TEXTS, TEXT_TRUE
from kalypso_actions.planning.fleet_checks.scope import FleetScope, FleetView
from kalypso_actions.platform_config.layers import read_entries
from kalypso_go import gotemplate

UNMATCHED: Final = "template-comparison-unmatched"
KEY_MISSPELLED: Final = "template-key-misspelled"
CONFIG_MISSPELLED: Final = "config-key-misspelled"

_HOLDS: Final[Mapping[str, Callable[[str, str], bool]]] = {
    "eq": str.__eq__,
    "ne": str.__eq__,
    "has": str.__eq__,
    "hasPrefix": str.startswith,
    "hasSuffix": str.endswith,
    "contains": str.__contains__,
}
"""The comparisons of a value with a constant."""


def check_templates(view: FleetView, found: Diagnostics) -> None:
    """Report what Templates compare or test without effect; each Template is read once."""
    known: dict[str, Set[str] | None] = {}
    keys = _keys(view)
    templates = {item.where: item for scope in view.scopes for item in scope.fleet.templates}
    for template in templates.values():
        found.warnings += rendering.reversed_defaults(template)
        found.warnings += _misspelled_keys(template, keys)
        for use, where in rendering.uses(template):
            if use.function == gotemplate.CONDITION:
                found.warnings += _constant_conditions(template, use, where)
            elif use.function in _HOLDS:
                for problem in _unmatched(template, use, where, view, known):
                    is_near = problem.advice.startswith("did you mean")
                    (found.warnings if is_near else found.notes).append(problem)
    found.warnings += _misspelled_entries(view, templates.values())


def _keys(view: FleetView) -> Mapping[str, Set[str]]:
    """Return the keys that some assignment has of each map that is known as a whole."""
    if not view.is_complete:
        return {}
    maps = [config_map for scope in view.scopes for config_map in scope.fleet.config_maps]
    keys: dict[str, Set[str]] = {"ConfigData": {entry.key for entry in read_entries(maps)}}
    if not any(scope.may_have_more_targets() for scope in view.scopes):
        targets = [target for scope in view.scopes for target in scope.all_targets]
        keys["Labels"] = {key for target in targets for key in target.labels}
    return keys


def _misspelled_keys(template: Template, keys: Mapping[str, Set[str]]) -> Iterator[Problem]:
    """Report keys that nothing sets, near to one that something sets, behind a guard.

    A key without a guard is a missing value.
    """
    unguarded = {path[:2] for path, *_ in rendering.keys_read(template)}
    for names, where in rendering.fields_read(template):
        field, *rest = names
        if not rest or rest[0] in keys.get(field, {rest[0]}) or names[:2] in unguarded:
            continue
        close = misspelled(rest[0], keys[field])
        if close:
            dot = "" if rendering.is_jinja(template) else "."
            yield Problem(
                f"Template {template.name!r}: nothing sets {dot}{field}.{rest[0]}, so its default "
                "always counts",
                where,
                f"did you mean {dot}{field}.{close}?",
                KEY_MISSPELLED,
            )


def _misspelled_entries(view: FleetView, templates: Iterable[Template]) -> Iterator[Problem]:
    """Report keys that no Template reads, near to one that another layer sets and one reads.

    If no layer sets that one, the finding is about the Template.
    """
    maps = (config_map for scope in view.scopes for config_map in scope.fleet.config_maps)
    entries = list(read_entries(maps)) if view.is_complete else []
    all_read = {
        names[1]: template.name
        for template in templates
        for names, _ in rendering.fields_read(template)
        if names[0] == "ConfigData" and len(names) > 1
    }
    read = {key: all_read[key] for key in all_read.keys() & {entry.key for entry in entries}}
    for entry in entries:
        close = misspelled(entry.key, read) if entry.key not in all_read else ""
        if close:
            yield Problem(
                f"ConfigMap {entry.config_map!r}: no Template reads {entry.key}",
                entry.where,
                f"did you mean {close}, which Template {read[close]!r} reads?",
                CONFIG_MISSPELLED,
            )


def _constant_conditions(
    template: Template, use: gotemplate.Use, where: Location
) -> Iterator[Problem]:
    """Report a condition whose default is a text that is meant as false."""
    operand = use.operands[0]
    for text in operand.texts:
        if operand.path and operand.is_set and text.lower() in FALSE_TEXTS:
            yield Problem(
                f"Template {template.name!r}: {use.text!r} is always true, since the default is "
                f"the text {text!r}",
                where,
                'compare the text: {{ if eq (…) "true" }}',
                TEXT_TRUE,
            )


def _unmatched(
    template: Template,
    use: gotemplate.Use,
    where: Location,
    view: FleetView,
    known: dict[str, Set[str] | None],
) -> Iterator[Problem]:
    """Report the constants of a comparison that the field has for no assignment."""
    paths = [operand.path for operand in use.operands if operand.path]
    texts = [text for operand in use.operands if operand.is_constant for text in operand.texts]
    if len(paths) != 1 or not texts:
        return
    field = ".".join(map(str, paths[0]))
    if field not in known:
        known[field] = _values(paths[0], view)
    values = known[field]
    holds = _HOLDS[use.function]
    if not values or (holds is not str.__eq__ and not use.operands[-1].path):
        return
    for text in texts:
        if any(holds(value, text) for value in values):
            continue
        close = nearest(text, sorted(values))
        if paths[0][0] == "ConfigData":  # another text may be the value tomorrow
            close = next((item for item in values if item.casefold() == text.casefold()), "")
            if not close:
                continue
        shown = field if rendering.is_jinja(template) else f".{field}"
        all_values = abbreviated(sorted(values), MAX_LISTED)
        yield Problem(
            f"Template {template.name!r}: {use.text!r} compares {shown} with {text!r}, which it is "
            "for no assignment",
            where,
            f"did you mean {close!r}? Values: {all_values}" if close else f"values: {all_values}",
            UNMATCHED,
        )


def _values(path: tuple[str, ...], view: FleetView) -> Set[str] | None:
    """Return all values of a field in the fleet; None if some may be unknown."""
    scopes = view.scopes
    if path == ("Environment",):
        return view.environments.keys() if view.environments is not None else None
    if not view.is_complete:
        return None
    match path:
        case ("ClusterType",):
            return {item.name for scope in scopes for item in scope.fleet.cluster_types}
        case ("ConfigData", key):
            config_maps = (item for scope in scopes for item in scope.fleet.config_maps)
            return {entry.text for entry in read_entries(config_maps) if entry.key == key}
    return _values_of_targets(path, scopes)


def _values_of_targets(path: tuple[str, ...], scopes: Iterable[FleetScope]) -> Set[str] | None:
    if any(scope.may_have_more_targets() for scope in scopes):
        return None
    targets = [target for scope in scopes for target in scope.all_targets]
    match path:
        case ("DeploymentTargetName",):
            return {target.name for target in targets}
        case ("Workload",):
            return {target.workload for target in targets}
        case ("Workspace",):
            return {target.workspace for target in targets}
        case ("Labels", key):
            return {target.labels[key] for target in targets if key in target.labels}
    return None
