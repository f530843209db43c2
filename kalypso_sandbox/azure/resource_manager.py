"""Resource Manager's answer about one cluster: 404, or the cluster with its connection."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from kalypso_sandbox.azure.cloud import Azure
from kalypso_sandbox.azure.clusters import Cluster, clusters
from kalypso_sandbox.azure.identity import access_tokens
from kalypso_sandbox.azure.resource_graph import unauthorized
from kalypso_sandbox.azure.rows import connection
from kalypso_sandbox.github.endpoints import Answer, Json

PATH: Final = (
    "/subscriptions/<subscription>/resourceGroups/<group>/providers/<namespace>/<kind>/<name>"
)
API_VERSIONS: Final = {
    "microsoft.containerservice/managedclusters": "2024-02-01",
    "microsoft.kubernetes/connectedclusters": "2024-01-01",
}


def cluster_answer(
    azure: Azure, url: str, query: Mapping[str, str], authorization: str, resource: str
) -> Answer:
    """Answer a GET of a resource id; `url` is the server's own URL."""
    principal = azure.principal(authorization, url)
    if isinstance(principal, access_tokens.Refusal):
        return unauthorized(principal, azure.tenant)
    _, _, subscription, _, group, _, namespace, kind, name = resource.split("/")
    resource_type = f"{namespace}/{kind}"
    if query.get("api-version") != API_VERSIONS.get(resource_type.lower()):
        return _error(404, "InvalidResourceType", f"The type '{resource_type}' is not known.")
    if subscription.lower() not in azure.subscriptions():
        action = f"'{resource_type}/read' over scope '{resource}'"
        message = f"The client '{principal}' does not have authorization to perform {action}."
        return _error(403, "AuthorizationFailed", message)
    existing = [cluster for cluster in clusters(azure.store) if not cluster.deleted_at]
    for cluster in existing:
        if cluster.id.lower() == resource.lower():
            return Answer(200, _resource(cluster))
    if not any(cluster.resource_group.lower() == group.lower() for cluster in existing):
        return _error(404, "ResourceGroupNotFound", f"Resource group '{group}' could not be found.")
    message = f"The Resource '{resource_type}/{name}' under resource group '{group}' was not found."
    return _error(404, "ResourceNotFound", message)


def _resource(cluster: Cluster) -> Json:
    return {
        "id": cluster.id,
        "name": cluster.name,
        "type": cluster.resource_type,
        "location": cluster.location,
        "properties": {"provisioningState": "Succeeded", **connection(cluster)},
    }


def _error(status: int, code: str, message: str) -> Answer:
    return Answer(status, {"error": {"code": code, "message": message}})
