"""The part of a Flux configuration by which its cluster is judged."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass

from kalypso_actions.compliance.paths import FollowedPaths
from kalypso_actions.model.counts import abbreviated
from kalypso_actions.model.flux import FluxConfiguration, FluxObject, FluxReference


@dataclass(frozen=True, slots=True)
class Judged:
    """The state in Azure's words, and the objects behind it.

    `note` says which part of the configuration that is; "" for all of it.
    """

    compliance_state: str
    objects: tuple[FluxObject, ...]
    note: str = ""


def judged_part(row: FluxConfiguration, followed: FollowedPaths) -> Judged:
    """Return what counts of a configuration, all of it where every path counts.

    Without a status of each counted kustomization nobody can tell the paths apart.
    """
    if not followed.passed_over:
        return Judged(row.compliance_state, row.objects)
    passed_over = abbreviated(followed.passed_over)
    statuses = _own_statuses(row)
    counted = {one.name.lower() for one in followed.counted}
    if not all(name in statuses and _state(statuses[name]) for name in counted):
        note = f"judged by the whole configuration with {passed_over}: statuses are missing"
        return Judged(row.compliance_state, row.objects, note)
    objects = _counted_objects(row, counted)
    return Judged(_worst(objects), objects, f"judged without {passed_over}")


def words(compliance_state: str) -> str:
    """Return Azure's state as letters: its portal says `Not Compliant`, its API `Non-Compliant`."""
    letters = re.sub(r"[^a-z]", "", compliance_state.lower())
    return "noncompliant" if letters == "notcompliant" else letters


def _own_statuses(row: FluxConfiguration) -> Mapping[str, FluxObject]:
    """The Kustomizations that the configuration itself declares, by their names there.

    On the cluster they are named `<configuration>-<name>`, and nothing has applied them.
    """
    prefix = f"{row.name}-".lower()
    return {
        one.name.lower().removeprefix(prefix): one
        for one in row.objects
        if one.kind == "Kustomization"
        and one.applied_by is None
        and one.name.lower().startswith(prefix)
    }


def _counted_objects(row: FluxConfiguration, counted: Collection[str]) -> tuple[FluxObject, ...]:
    """The objects but for those that a kustomization which does not count is or has applied."""
    declared = {f"{row.name}-{one.name}".lower(): one.name.lower() for one in row.kustomizations}
    left_out = {name for name, key in declared.items() if key not in counted}
    appliers = {_key(one.reference): one for one in row.objects if one.kind == "Kustomization"}
    return tuple(one for one in row.objects if _root(one, appliers, declared) not in left_out)


def _root(
    one: FluxObject,
    appliers: Mapping[tuple[str, str], FluxObject],
    declared: Collection[str],
) -> str:
    """The declared Kustomization that an object goes back to, by its name; "" for none."""
    seen: set[tuple[str, str]] = set()
    at = one
    while at.applied_by is not None:
        key = _key(at.applied_by)
        if key[1] in declared:
            return key[1]
        if key in seen or key not in appliers:
            return ""
        seen.add(key)
        at = appliers[key]
    name = at.name.lower()
    return name if at.kind == "Kustomization" and name in declared else ""


def _key(reference: FluxReference) -> tuple[str, str]:
    return reference.namespace.lower(), reference.name.lower()


def _worst(objects: Collection[FluxObject]) -> str:
    """The state that decides: suspended, then not compliant, then any that is not yet compliant."""
    states = [state for one in objects if (state := _state(one))]
    for state in states:
        if words(state) == "suspended":
            return state
    for state in states:
        if words(state) == "noncompliant":
            return state
    return next((state for state in states if words(state) != "compliant"), "Compliant")


def _state(one: FluxObject) -> str:
    """An object's state; where Azure gives none, by its condition Ready; "" where it has none."""
    if one.compliance_state:
        return one.compliance_state
    ready = [each.status.lower() for each in one.conditions if each.type.lower() == "ready"]
    if not ready:
        return ""
    return {"true": "Compliant", "false": "Non-Compliant"}.get(ready[-1], "Unknown")
