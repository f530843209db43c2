"""The Kustomizations that a configuration itself defines, and the commits that they have applied.

The commit that a configuration has synced is that of its source. A Kustomization stays ready with
its earlier revision until its own reconcile begins, and a new revision waits until a running health
check ends (fluxcd/kustomize-controller#1518). Azure's statuses also list the objects that these
Kustomizations apply; those have an `appliedBy`, and never name a commit of the GitOps branch.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from datetime import datetime
from typing import Final

from kalypso_actions.compliance.flux_revisions import synced_commit
from kalypso_actions.model.cluster_reports import ClusterReport, Condition, ReportedObject
from kalypso_actions.model.object_ids import is_commit_id

APPLIED: Final = re.compile(r"applied revision:\s*(\S+)", re.IGNORECASE)
"""Flux's message of a Kustomization that is ready."""


def own_kustomizations(report: ClusterReport) -> Mapping[str, ReportedObject]:
    """Return the Kustomizations that a configuration itself defines, by the names that it gives.

    On the cluster they are named `<configuration>-<name>`, and no other object applies them.
    """
    prefix = f"{report.configuration}-".lower()
    return {
        reported.name.lower().removeprefix(prefix): reported
        for reported in report.objects
        if reported.kind == "Kustomization"
        and reported.applied_by is None
        and reported.name.lower().startswith(prefix)
    }


def applied_commit(kustomization: ReportedObject) -> str:
    """Return the commit that a Kustomization says it has applied; "" if it names none."""
    for condition in kustomization.conditions:
        revision = APPLIED.search(condition.message)
        if is_ready_condition(condition) and revision:
            commit = synced_commit(revision[1])
            return commit if is_commit_id(commit) else ""
    return ""


def runs_earlier_revision(
    kustomization: ReportedObject,
    commits: Collection[str],
    source_updated_at: datetime | None,
) -> bool:
    """Return whether a Kustomization neither applied one of these commits nor failed to do so."""
    commit = applied_commit(kustomization)
    if commit:
        return commit not in commits
    return any(
        condition.status.lower() == "unknown"
        or is_of_earlier_revision(condition, source_updated_at)
        for condition in kustomization.conditions
        if is_ready_condition(condition)
    )


def is_ready_condition(condition: Condition) -> bool:
    """Return whether a condition says that an object is ready, or is not."""
    return condition.type.lower() == "ready"


def is_of_earlier_revision(condition: Condition, source_updated_at: datetime | None) -> bool:
    """Return whether a failure began before the source had the new revision."""
    return (
        condition.status.lower() == "false"
        and condition.last_transition is not None
        and source_updated_at is not None
        and condition.last_transition < source_updated_at
    )
