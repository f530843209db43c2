"""What a cluster's Flux objects say of themselves, as `statuses` of its configuration."""

from __future__ import annotations

from datetime import datetime
from typing import Any, Final

from kalypso_actions.sandbox.azure.clusters import Configuration
from kalypso_actions.sandbox.azure.sync import Standing

COMPLIANCE: Final = {"True": "Compliant", "False": "Non-Compliant", "Unknown": "Pending"}
"""By the status of an object's Ready condition."""


def statuses(configuration: Configuration, standing: Standing) -> list[dict[str, Any]]:
    """The source, then each kustomization; nothing before the first sync."""
    if standing.phase == "waiting" or configuration.source_kind != "GitRepository":
        return []
    message = f"stored artifact for revision '{revision(configuration, standing.commit)}'"
    stored = _ready("True", "Succeeded", message, standing.synced_at)
    return [
        _status(configuration, "GitRepository", configuration.name, stored),
        *(
            _status(
                configuration,
                "Kustomization",
                f"{configuration.name}-{name}",
                _readiness(configuration, standing, position),
            )
            for position, name in enumerate(kustomization_names(configuration))
        ),
    ]


def revision(configuration: Configuration, commit: str) -> str:
    """A commit as the cluster's Flux writes it; "" for none."""
    forms = {
        "old": f"{configuration.branch}/{commit}",
        "new": f"{configuration.branch}@sha1:{commit}",
        "bare": f"sha1:{commit}",
    }
    return forms[configuration.revision] if commit else ""


def kustomization_names(configuration: Configuration) -> list[str]:
    """Names of the kustomizations: the last folder of the path, numbered where they repeat."""
    names: list[str] = []
    for path in configuration.paths:
        name = path.strip("./").rpartition("/")[2].lower() or "root"
        names.append(name if name not in names else f"{name}-{len(names)}")
    return names


def written(moment: datetime | None, timespec: str = "seconds") -> str | None:
    """A time as Azure writes it; None for what has not happened."""
    return moment.isoformat(timespec=timespec) if moment else None


def _readiness(configuration: Configuration, standing: Standing, position: int) -> dict[str, Any]:
    """The Ready condition of the kustomization at a position.

    While they wait, the first one works and the others depend on it; a broken commit breaks the
    last one.
    """
    alone = len(configuration.paths) == 1
    last = position == len(configuration.paths) - 1
    changed_at = standing.changed_at
    match standing.phase:
        case "depending" if alone:
            message = "running health checks with a timeout of 9m30s"
            return _ready("False", "Progressing", message, changed_at)
        case "depending" if position > 0:
            before = f"{configuration.name}-{kustomization_names(configuration)[position - 1]}"
            message = f"dependency '{configuration.namespace}/{before}' is not ready"
            return _ready("False", "DependencyNotReady", message, changed_at)
        case "applying" | "depending":
            return _ready("Unknown", "Progressing", "reconciliation in progress", changed_at)
        case "failing" if last:
            failure = configuration.failure
            return _ready("False", failure.reason, failure.message, changed_at)
    message = f"Applied revision: {revision(configuration, standing.commit)}"
    return _ready("True", "ReconciliationSucceeded", message, changed_at)


def _status(
    configuration: Configuration, kind: str, name: str, condition: dict[str, Any]
) -> dict[str, Any]:
    return {
        "name": name,
        "namespace": configuration.namespace,
        "kind": kind,
        "complianceState": COMPLIANCE[condition["status"]],
        "appliedBy": None,
        "helmReleaseProperties": None,
        "statusConditions": [condition],
    }


def _ready(status: str, reason: str, message: str, changed_at: datetime | None) -> dict[str, Any]:
    return {
        "type": "Ready",
        "status": status,
        "reason": reason,
        "message": message,
        "lastTransitionTime": written(changed_at),
    }
