"""The `statuses` of a configuration: the conditions of a cluster's Flux objects."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from typing import Any, Final

from kalypso_sandbox.azure.clusters import Configuration
from kalypso_sandbox.azure.sync import SyncState

APPLICATION_REVISION: Final = f"main@sha1:{'5' * 40}"
"""The revision of nested Kustomizations: a commit of an application's repository."""

COMPLIANCE: Final = {"True": "Compliant", "False": "Non-Compliant", "Unknown": "Pending"}
"""The compliance state, by the status of an object's Ready condition."""


def statuses(configuration: Configuration, sync_state: SyncState) -> list[dict[str, Any] | None]:
    """Return the statuses of the source and each kustomization; none before the first sync."""
    if sync_state.phase == "waiting" or configuration.source_kind != "GitRepository":
        return []
    if not configuration.tells_statuses:
        return []
    message = f"stored artifact for revision '{revision(configuration, sync_state.commit)}'"
    stored = _ready("True", "Succeeded", message, sync_state.synced_at)
    return [
        *[None] * configuration.null_entries,
        _status(configuration, "GitRepository", configuration.name, stored),
        *(
            status
            for position, name in enumerate(kustomization_names(configuration))
            for status in _kustomization_statuses(configuration, sync_state, position, name)
        ),
    ]


def _kustomization_statuses(
    configuration: Configuration, sync_state: SyncState, position: int, name: str
) -> Iterator[dict[str, Any]]:
    """Yield the status of a kustomization, and of the objects that it applies."""
    readiness = _readiness(configuration, sync_state, position)
    kustomization = f"{configuration.name}-{name}"
    yield _status(configuration, "Kustomization", kustomization, readiness)
    by = {"name": kustomization, "namespace": configuration.namespace}
    if configuration.releases:
        is_ready = readiness["status"] == "True"
        release = {**readiness, "message": "Helm upgrade succeeded"} if is_ready else readiness
        yield _status(configuration, "HelmRelease", f"{name}-release", release, by)
    if configuration.nested:
        nested = f"{name}-app"
        failure = configuration.failure
        if sync_state.phase == "failing" and failure.kustomization == nested:
            since = sync_state.nested_since or sync_state.changed_at
            ready = _ready("False", failure.reason, failure.message, since)
        else:
            message = f"Applied revision: {APPLICATION_REVISION}"
            ready = _ready("True", "ReconciliationSucceeded", message, sync_state.changed_at)
        yield _status(configuration, "Kustomization", nested, ready, by)


def revision(configuration: Configuration, commit: str) -> str:
    """Return a commit as the cluster's Flux writes it; "" if there is none."""
    forms = {
        "old": f"{configuration.branch}/{commit}",
        "new": f"{configuration.branch}@sha1:{commit}",
        "bare": f"sha1:{commit}",
    }
    return forms[configuration.revision] if commit else ""


def kustomization_names(configuration: Configuration) -> list[str]:
    """Return the last folder of each path, numbered if names repeat."""
    names: list[str] = []
    for path in configuration.paths:
        name = path.strip("./").rpartition("/")[2].lower() or "root"
        names.append(name if name not in names else f"{name}-{len(names)}")
    return names


def format_time(moment: datetime | None, timespec: str = "seconds") -> str | None:
    """Return a time in Azure's format, or None."""
    return moment.isoformat(timespec=timespec) if moment else None


def _readiness(
    configuration: Configuration, sync_state: SyncState, position: int
) -> dict[str, Any]:
    """Return the Ready condition of the kustomization at a position.

    During a sync, the first kustomization progresses and the others depend on it. A broken commit
    breaks one kustomization; those that depend on it are not ready either.
    """
    alone = len(configuration.paths) == 1 or not configuration.ordered
    names = kustomization_names(configuration)
    failure = configuration.failure
    broken = failure.kustomization or names[-1]
    changed_at = sync_state.changed_at
    match sync_state.phase:
        case "depending" if alone:
            message = "running health checks with a timeout of 9m30s"
            return _ready("False", "Progressing", message, changed_at)
        case "depending" if position > 0:
            return _depending(configuration, names[position - 1], changed_at)
        case "applying" | "depending":
            return _ready("Unknown", "Progressing", "reconciliation in progress", changed_at)
        case "failing" if names[position] == broken:
            return _ready("False", failure.reason, failure.message, changed_at)
        case "failing" if configuration.ordered and broken in names[:position]:
            return _depending(configuration, names[position - 1], changed_at)
    message = f"Applied revision: {revision(configuration, sync_state.applied)}"
    return _ready("True", "ReconciliationSucceeded", message, changed_at)


def _depending(
    configuration: Configuration, before: str, changed_at: datetime | None
) -> dict[str, Any]:
    name = f"{configuration.namespace}/{configuration.name}-{before}"
    message = f"dependency '{name}' is not ready"
    return _ready("False", "DependencyNotReady", message, changed_at)


def _status(
    configuration: Configuration,
    kind: str,
    name: str,
    condition: dict[str, Any],
    applied_by: dict[str, str] | None = None,
) -> dict[str, Any]:
    return {
        "name": name,
        "namespace": configuration.namespace,
        "kind": kind,
        "complianceState": COMPLIANCE[condition["status"]],
        "appliedBy": applied_by,
        "helmReleaseProperties": None,
        "statusConditions": [*[None] * configuration.null_entries, condition],
    }


def _ready(status: str, reason: str, message: str, changed_at: datetime | None) -> dict[str, Any]:
    return {
        "type": "Ready",
        "status": status,
        "reason": reason,
        "message": message,
        "lastTransitionTime": format_time(changed_at),
    }
