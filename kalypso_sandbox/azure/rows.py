"""Clusters as rows of Resource Graph's tables, in Azure's format."""

from __future__ import annotations

import functools
from collections.abc import Iterable, Mapping, Sequence
from datetime import timedelta
from typing import Any, Final

from kalypso_sandbox.azure.clusters import Cluster, Configuration, clusters
from kalypso_sandbox.azure.history import RepositoryHistory
from kalypso_sandbox.azure.statuses import (
    format_time,
    kustomization_names,
    revision,
    statuses,
)
from kalypso_sandbox.azure.sync import Phase, SyncState, sync_state
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
SOURCES: Final = {
    "GitRepository": "gitRepository",
    "Bucket": "bucket",
    "AzureBlob": "azureBlob",
    "OCIRepository": "ociRepository",
}
"""Source kind -> the property that describes the source; the other properties are null."""

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
        shown_at = min(moment, cluster.deleted_at or moment)
        if shown_at < moment - linger:
            continue
        properties = connection(cluster)
        resources.append(_row(cluster, cluster.id, cluster.resource_type, properties))
        configurations.append(_extension(cluster))
        for configuration in cluster.configurations:
            is_broken = functools.partial(
                repositories.is_broken, configuration.repository, configuration.failure
            )
            now = sync_state(
                configuration,
                heads(configuration.repository, configuration.branch),
                is_broken,
                shown_at,
            )
            configurations.append(configuration_row(cluster, configuration, now, store.server_url))
    return {
        "resources": resources,
        "kubernetesconfigurationresources": configurations,
        "resourcecontainers": [_subscription_row(subscription) for subscription in subscriptions],
    }


def configuration_row(
    cluster: Cluster, configuration: Configuration, now: SyncState, server_url: str
) -> Row:
    """Return the row of a Flux configuration; `server_url` is the server of its `owner/name`."""
    suspended = configuration.behaviour == "suspended"
    properties = {
        "scope": "cluster",
        "namespace": configuration.namespace,
        "sourceKind": configuration.source_kind,
        "suspend": suspended,
        **dict.fromkeys(SOURCES.values()),
        SOURCES[configuration.source_kind]: _source(configuration, server_url),
        "kustomizations": _kustomizations(configuration),
        "configurationProtectedSettings": {},
        "statuses": statuses(configuration, now),
        "repositoryPublicKey": "",
        "sourceSyncedCommitId": revision(configuration, now.commit) or None,
        "sourceUpdatedAt": format_time(now.synced_at),
        "statusUpdatedAt": format_time(now.reported_at, "microseconds"),
        "complianceState": "Suspended" if suspended else COMPLIANCE[now.phase],
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
    names = kustomization_names(configuration)
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
