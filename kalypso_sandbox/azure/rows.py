"""Clusters as rows of Resource Graph's tables, and the conditions of their Flux objects."""

from __future__ import annotations

import functools
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any, Final

from kalypso_sandbox.azure.applications import AppliedApplication, applications
from kalypso_sandbox.azure.clusters import Cluster, Configuration, clusters
from kalypso_sandbox.azure.sync import Phase, RepositoryHistory, SyncState, sync_state
from kalypso_sandbox.store import Store

Row = Mapping[str, Any]
Tables = Mapping[str, Sequence[Row]]
"""Rows by the table's name in lower case."""

TENANT: Final = "22222222-2222-4222-8222-222222222222"
"""The sandbox's only tenant."""

COLUMNS: Final = (
    *("id", "name", "type", "tenantId", "kind", "location", "resourceGroup", "subscriptionId"),
    *("managedBy", "sku", "plan", "properties", "tags", "identity", "zones", "extendedLocation"),
    "systemData",
)
COMPLIANCE: Final[Mapping[Phase, str]] = {
    "waiting": "Pending",
    "applying": "Pending",
    "depending": "Non-Compliant",
    "ready": "Compliant",
    "failing": "Non-Compliant",
}
WORST_FIRST: Final = ("Non-Compliant", "Pending", "Compliant")

SOURCES: Final = {
    "GitRepository": "gitRepository",
    "Bucket": "bucket",
    "AzureBlob": "azureBlob",
    "OCIRepository": "ociRepository",
}
"""Source kind -> the property that describes the source; the other properties are null."""

APPLICATION_REVISION: Final = f"main@sha1:{'5' * 40}"
"""The revision of nested Kustomizations: a commit of an application's repository."""

OBJECT_COMPLIANCE: Final = {"True": "Compliant", "False": "Non-Compliant", "Unknown": "Pending"}
"""The compliance state, by the status of an object's Ready condition."""

PROVIDER: Final = "Microsoft.KubernetesConfiguration"
TIMEOUT: Final = 600


def tables(
    store: Store,
    repositories: RepositoryHistory,
    subscriptions: Iterable[str],
    linger: timedelta = timedelta(0),
) -> Tables:
    """Return the current tables: clusters, their configurations, and these subscriptions.

    Deleted clusters stay in them for the time `linger`, unchanged. In Azure, this can take up to 30
    hours (ansible-collections/azure#1994).
    """
    heads = functools.cache(repositories.heads)
    moment = store.now  # read once: a tick of the clock must not hide a cluster
    resources: list[Row] = []
    configurations: list[Row] = []
    for cluster in clusters(store):
        if cluster.kind == "other":
            continue
        shown_at = min(moment, cluster.deleted_at or moment)
        if shown_at < moment - linger:
            continue
        properties = connection(cluster)
        resources.append(_row(cluster, cluster.id, cluster.resource_type, properties))
        configurations.append(_extension(cluster))
        for configuration in cluster.configurations:
            if configuration.application:
                continue
            is_broken = functools.partial(
                repositories.is_broken, configuration.repository, configuration.failure
            )
            of_branch = heads(configuration.repository, configuration.branch)
            now = sync_state(configuration, of_branch, is_broken, shown_at)
            paths = dict(zip(_kustomization_names(configuration), configuration.paths, strict=True))
            children = tuple(
                applications(configuration, paths, now.applied, repositories, heads, shown_at)
            )
            if configuration.failure.kustomization in {
                child.configuration.name for child in children
            }:  # the failure is that of an application
                follows = configuration.model_copy(update={"behaviour": "follow"})
                now = sync_state(follows, of_branch, is_broken, shown_at)
            configurations.append(
                configuration_row(cluster, configuration, now, store.server_url, children)
            )
    return {
        "resources": resources,
        "kubernetesconfigurationresources": configurations,
        "resourcecontainers": [_subscription_row(subscription) for subscription in subscriptions],
    }


def configuration_row(
    cluster: Cluster,
    configuration: Configuration,
    now: SyncState,
    server_url: str,
    children: Sequence[AppliedApplication] = (),
) -> Row:
    """Return the row of a Flux configuration; `server_url` is the server of its `owner/name`.

    `children` are the applications on the cluster, whose objects are among its statuses.
    """
    suspended = configuration.behaviour == "suspended"
    states = (now, *(child.now for child in children))
    moments = [state.reported_at for state in states if state.reported_at]
    properties = {
        "scope": "cluster",
        "namespace": configuration.namespace,
        "sourceKind": configuration.source_kind,
        "suspend": suspended,
        **dict.fromkeys(SOURCES.values()),
        SOURCES[configuration.source_kind]: _source(configuration, server_url),
        "kustomizations": _kustomizations(configuration),
        "configurationProtectedSettings": {},
        "statuses": [*_statuses(configuration, now), *_of_applications(configuration, children)],
        "repositoryPublicKey": "",
        "sourceSyncedCommitId": _revision(configuration, now.commit) or None,
        "sourceUpdatedAt": _time(now.synced_at),
        "statusUpdatedAt": _time(max(moments, default=None), "microseconds"),
        "complianceState": "Suspended"
        if suspended
        else min((COMPLIANCE[each.phase] for each in states), key=WORST_FIRST.index),
        "provisioningState": configuration.provisioning_state,
        "errorMessage": configuration.error_message,
    }
    resource_id = f"{cluster.id}/providers/{PROVIDER}/fluxConfigurations/{configuration.name}"
    return _row(cluster, resource_id, f"{PROVIDER}/fluxConfigurations", properties)


def connection(cluster: Cluster) -> Row:
    """Return the properties that show whether a cluster is connected."""
    if cluster.kind == "aks":
        return {"powerState": {"code": cluster.power}}
    return {"connectivityStatus": cluster.connectivity}


def _extension(cluster: Cluster) -> Row:
    """Return the row of the extension that installs Flux, in the same table as configurations."""
    properties = {"extensionType": "microsoft.flux", "provisioningState": "Succeeded"}
    resource_id = f"{cluster.id}/providers/{PROVIDER}/extensions/flux"
    return _row(cluster, resource_id, f"{PROVIDER}/extensions", properties)


def _subscription_row(subscription: str) -> Row:
    known: dict[str, Any] = {
        "id": f"/subscriptions/{subscription}",
        "name": f"subscription {subscription[:8]}",
        "type": "microsoft.resources/subscriptions",
        "tenantId": TENANT,
        "subscriptionId": subscription,
        "properties": {"state": "Enabled"},
    }
    return {column: known.get(column, "") for column in COLUMNS}


def _row(cluster: Cluster, resource_id: str, resource_type: str, properties: Row) -> Row:
    """Return all columns of a row. As in Azure, types and groups are in lower case, ids are not."""
    known: dict[str, Any] = {
        "id": resource_id,
        "name": resource_id.rpartition("/")[2],
        "type": resource_type.lower(),
        "tenantId": TENANT,
        "kind": "",
        "location": cluster.location,
        "resourceGroup": cluster.resource_group.lower(),
        "subscriptionId": cluster.subscription,
        "managedBy": "",
        "properties": properties,
    }
    return {column: known.get(column) for column in COLUMNS}


def _source(configuration: Configuration, server_url: str) -> dict[str, Any]:
    intervals = {
        "timeoutInSeconds": TIMEOUT,
        "syncIntervalInSeconds": configuration.sync_interval,
    }
    given = configuration.repository
    if configuration.source_kind != "GitRepository":
        return {"url": given, **intervals}
    is_full_name = given.count("/") == 1 and ":" not in given
    return {
        "url": f"{server_url}/{given}" if is_full_name else given,
        **intervals,
        "repositoryRef": {
            "branch": configuration.branch,
            "tag": None,
            "semver": None,
            "commit": None,
        },
        "sshKnownHosts": None,
        "httpsUser": None,
        "httpsCACert": None,
        "localAuthRef": None,
    }


def _kustomizations(configuration: Configuration) -> dict[str, Any]:
    names = _kustomization_names(configuration)
    return {
        name: {
            "name": name,
            "path": path,
            "dependsOn": [before] if before and configuration.ordered else None,
            "timeoutInSeconds": TIMEOUT,
            "syncIntervalInSeconds": configuration.sync_interval,
            "retryIntervalInSeconds": None,
            "prune": True,
            "force": False,
        }
        for name, path, before in zip(names, configuration.paths, ["", *names], strict=False)
    }


def _statuses(configuration: Configuration, sync_state: SyncState) -> list[dict[str, Any] | None]:
    """Return the statuses of the source and each kustomization; none before the first sync."""
    if sync_state.phase == "waiting" or configuration.source_kind != "GitRepository":
        return []
    if not configuration.tells_statuses:
        return []
    message = f"stored artifact for revision '{_revision(configuration, sync_state.commit)}'"
    stored = _ready("True", "Succeeded", message, sync_state.synced_at)
    return [
        *[None] * configuration.null_entries,
        _status(configuration, "GitRepository", configuration.name, stored),
        *(
            status
            for position, name in enumerate(_kustomization_names(configuration))
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


def _of_applications(
    configuration: Configuration, children: Sequence[AppliedApplication]
) -> Iterator[dict[str, Any]]:
    """Yield the statuses of the source and the Kustomization of each application."""
    if not configuration.tells_statuses:
        return
    for child in children:
        own, now = child.configuration, child.now
        by = {
            "name": f"{configuration.name}-{child.kustomization}",
            "namespace": configuration.namespace,
        }
        if now.commit:
            message = f"stored artifact for revision '{_revision(own, now.commit)}'"
            stored = _ready("True", "Succeeded", message, now.synced_at)
            ready = _readiness(own, now, 0)
        else:
            message = f"couldn't find remote ref {own.branch!r}"
            stored = _ready("False", "GitOperationFailed", message, own.since)
            message = "Source artifact not found, retrying in 30s"
            ready = _ready("False", "ArtifactFailed", message, own.since)
        yield _status(own, "GitRepository", child.source, stored, by)
        yield _status(own, "Kustomization", own.name, ready, by)


def _revision(configuration: Configuration, commit: str) -> str:
    """Return a commit as the cluster's Flux writes it; "" if there is none."""
    forms = {
        "old": f"{configuration.branch}/{commit}",
        "new": f"{configuration.branch}@sha1:{commit}",
        "bare": f"sha1:{commit}",
    }
    return forms[configuration.revision] if commit else ""


def _kustomization_names(configuration: Configuration) -> list[str]:
    """Return the last folder of each path, numbered if names repeat."""
    names: list[str] = []
    for path in configuration.paths:
        name = path.strip("./").rpartition("/")[2].lower() or "root"
        names.append(name if name not in names else f"{name}-{len(names)}")
    return names


def _time(moment: datetime | None, timespec: str = "seconds") -> str | None:
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
    names = _kustomization_names(configuration)
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
    message = f"Applied revision: {_revision(configuration, sync_state.applied)}"
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
        "complianceState": OBJECT_COMPLIANCE[condition["status"]],
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
        "lastTransitionTime": _time(changed_at),
    }
