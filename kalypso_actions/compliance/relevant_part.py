"""The part of a cluster's report that decides the cluster's state."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field

from kalypso_actions.compliance.followed_paths import FollowedPaths
from kalypso_actions.compliance.kustomizations import is_ready_condition, own_kustomizations
from kalypso_actions.model.cluster_reports import ClusterReport, ObjectReference, ReportedObject
from kalypso_actions.model.counts import abbreviated


@dataclass(frozen=True, slots=True)
class RelevantPart:
    """The state as reported, and the objects behind it.

    `own` are the Kustomizations of the paths that count; None if a Kustomization has no status.
    `origins` has the own Kustomization from which each object comes, if one is known; an own
    Kustomization comes from itself. `note` says which part of the report this is; "" for all of it.
    """

    state: str
    objects: tuple[ReportedObject, ...]
    own: tuple[ReportedObject | None, ...]
    origins: Mapping[ReportedObject, ReportedObject] = field(default_factory=dict)
    note: str = ""


def relevant_part(report: ClusterReport, followed: FollowedPaths) -> RelevantPart:
    """Return the part of a report that counts: all of it if every path counts.

    Without a state of each Kustomization that counts, the paths cannot be told apart.
    """
    kustomizations = own_kustomizations(report)
    counted = {path.kustomization.lower() for path in followed.counted}
    own = tuple(kustomizations.get(name) for name in sorted(counted))
    roots = _roots(report)
    origins = {
        reported: kustomizations[root]
        for reported, root in roots.items()
        if root is not None and root in kustomizations
    }
    if not followed.passed_over:
        return RelevantPart(report.state, report.objects, own, origins)
    passed_over = abbreviated(followed.passed_over)
    if not all(kustomization and _state(kustomization) for kustomization in own):
        note = f"judged by the whole configuration with {passed_over}: statuses are missing"
        return RelevantPart(report.state, report.objects, own, origins, note)
    objects = tuple(reported for reported, root in roots.items() if root is None or root in counted)
    return RelevantPart(_worst(objects), objects, own, origins, f"judged without {passed_over}")


def normal_state(state: str) -> str:
    """Return a state as letters: Azure's portal says `Not Compliant`, its API `Non-Compliant`."""
    letters = re.sub(r"[^a-z]", "", state.lower())
    return "noncompliant" if letters == "notcompliant" else letters


def _roots(report: ClusterReport) -> Mapping[ReportedObject, str | None]:
    """Return each object with the declared Kustomization that it is, or that applied it."""
    declared = {
        f"{report.configuration}-{path.kustomization}".lower(): path.kustomization.lower()
        for path in report.paths
    }
    appliers = {
        _key(reported.reference): reported
        for reported in report.objects
        if reported.kind == "Kustomization"
    }
    return {
        reported: declared.get(_root(reported, appliers, declared)) for reported in report.objects
    }


def _root(
    reported: ReportedObject,
    appliers: Mapping[tuple[str, str], ReportedObject],
    declared: Collection[str],
) -> str:
    """Return the name of the declared Kustomization that an object comes from; "" for none."""
    seen: set[tuple[str, str]] = set()
    while reported.applied_by is not None:
        key = _key(reported.applied_by)
        if key[1] in declared:
            return key[1]
        if key in seen or key not in appliers:
            return ""
        seen.add(key)
        reported = appliers[key]
    name = reported.name.lower()
    return name if reported.kind == "Kustomization" and name in declared else ""


def _key(reference: ObjectReference) -> tuple[str, str]:
    return reference.namespace.lower(), reference.name.lower()


def _worst(objects: Collection[ReportedObject]) -> str:
    """Return the worst state: suspended, then not compliant, then any other except compliant."""
    states = [state for reported in objects if (state := _state(reported))]
    for worst in ("suspended", "noncompliant"):
        for state in states:
            if normal_state(state) == worst:
                return state
    return next((state for state in states if normal_state(state) != "compliant"), "Compliant")


def _state(reported: ReportedObject) -> str:
    """Return an object's state: as reported, else by its condition Ready; "" without both."""
    if reported.state:
        return reported.state
    ready = [
        condition.status.lower()
        for condition in reported.conditions
        if is_ready_condition(condition)
    ]
    if not ready:
        return ""
    return {"true": "Compliant", "false": "Non-Compliant"}.get(ready[-1], "Unknown")
