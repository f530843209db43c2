"""Azure's HTTP endpoints, and the controls of the simulated Azure."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any, Final

from flask import Blueprint, Response, request
from pydantic import BaseModel, ConfigDict, Field, TypeAdapter

from kalypso_sandbox import strict_json
from kalypso_sandbox.azure import clusters, resource_graph, resource_manager
from kalypso_sandbox.azure.cloud import IDENTITY_PATH, JOB_PATH, Azure
from kalypso_sandbox.azure.identity import entra, github_oidc
from kalypso_sandbox.azure.settings import QueryFault, Settings
from kalypso_sandbox.control_routes import add_control, request_body
from kalypso_sandbox.github.endpoints import Answer, Json

REPORTED: Final = ("complianceState", "provisioningState", "suspend", "sourceSyncedCommitId")
"""The properties of a configuration in the list of clusters."""


class NewApplication(BaseModel):
    """The body that registers an application."""

    model_config = ConfigDict(extra="forbid")

    subjects: list[str] = Field(default_factory=list)
    secret: str = Field(default="", repr=False)


def blueprint(azure: Azure) -> Blueprint:
    """Return Azure's endpoints, and GitHub's endpoint for Azure. Each holds the lock while it runs.

    POST /providers/Microsoft.ResourceGraph/resources   a query
    GET  /subscriptions/…/{cluster}                     one cluster, or 404
    POST /{tenant}/oauth2/v2.0/token                    Microsoft Entra, with its discovery
    GET  /msi/token                                     App Service's managed identity
    GET  /_services/oidc/idtoken                        GitHub's OIDC endpoint of a job
    """
    routes = Blueprint("azure", __name__)

    def query_resources() -> Answer:
        authorization = request.headers.get("Authorization", "")
        arguments = request.args.to_dict()
        return resource_graph.answer(azure, _url(), arguments, authorization, _body())

    def read_cluster(**_: str) -> Answer:
        authorization = request.headers.get("Authorization", "")
        arguments = request.args.to_dict()
        path = request.path
        return resource_manager.cluster_answer(azure, _url(), arguments, authorization, path)

    def sign_in(tenant: str) -> Answer:
        return azure.sign_in(tenant, request.form.to_dict())

    def openid_configuration(tenant: str) -> Answer:
        return entra.openid_configuration(_url(), tenant)

    def discover_instances() -> Answer:
        return entra.discovery(_url(), request.host, azure.tenant)

    def managed_identity() -> Answer:
        header = request.headers.get("X-IDENTITY-HEADER", "")
        return azure.managed_identity(request.args.to_dict(), header)

    def job_assertion() -> Answer:
        authorization = request.headers.get("Authorization", "")
        return azure.job_assertion(authorization, request.args.get("audience", ""))

    for method, path, handler in (
        ("POST", resource_graph.PATH, query_resources),
        ("GET", resource_manager.PATH, read_cluster),
        ("POST", "/<tenant>/oauth2/v2.0/token", sign_in),
        ("GET", "/<tenant>/v2.0/.well-known/openid-configuration", openid_configuration),
        ("GET", "/common/discovery/instance", discover_instances),
        ("GET", IDENTITY_PATH, managed_identity),
        ("GET", JOB_PATH, job_assertion),
    ):
        _add(routes, azure, method, path, handler)
    return routes


def add_controls(routes: Blueprint, azure: Azure) -> None:
    """Add the controls of the simulated Azure to a blueprint.

    /_sandbox/clusters[/{name}]                    list, add, change and delete clusters
    /_sandbox/azure[/faults|/applications|/jobs]   settings, faults of queries, identities
    """
    _add_clusters(routes, azure)
    _add_settings(routes, azure)


def _add_clusters(routes: Blueprint, azure: Azure) -> None:
    """Add the controls of clusters, which save the store after each change."""

    def saved(cluster: clusters.Cluster) -> Any:
        azure.store.save()
        return cluster.model_dump(mode="json")

    def list_clusters() -> Any:
        states = _sync_states(azure)
        listed = [
            {**cluster.model_dump(mode="json"), "state": states.get(cluster.id, {})}
            for cluster in clusters.clusters(azure.store)
        ]
        return {"clusters": listed}

    def add_cluster() -> Any:
        cluster = azure.put(clusters.Cluster.model_validate(request_body()))
        return saved(cluster)

    def change_cluster(name: str) -> Any:
        changes = _changes()
        configuration = str(changes.pop("configuration", ""))
        cluster = clusters.change(azure.store, name, changes, configuration)
        return saved(cluster)

    def delete_cluster(name: str) -> None:
        azure.delete(name)
        azure.store.save()

    for method, path, handler in (
        ("GET", "/_sandbox/clusters", list_clusters),
        ("POST", "/_sandbox/clusters", add_cluster),
        ("PATCH", "/_sandbox/clusters/<name>", change_cluster),
        ("DELETE", "/_sandbox/clusters/<name>", delete_cluster),
    ):
        add_control(routes, azure.lock, method, path, handler)


def _add_settings(routes: Blueprint, azure: Azure) -> None:
    """Add the controls of limits, faults and identities, which the server does not save."""

    def read_settings() -> Any:
        return azure.settings.model_dump(mode="json")

    def change_settings() -> Any:
        azure.settings = Settings.model_validate({**azure.settings.model_dump(), **_changes()})
        return read_settings()

    def add_query_fault() -> Any:
        azure.settings.faults.append(QueryFault.model_validate(request_body()))
        return read_settings()

    def clear_query_faults() -> None:
        azure.settings.faults.clear()

    def add_application() -> Any:
        new = NewApplication.model_validate(request_body())
        application = azure.register(*new.subjects, secret=new.secret)
        return {"clientId": application.client_id, "tenantId": azure.tenant}

    def start_job() -> Any:
        job = github_oidc.Job(**NewJob.model_validate(request_body()).model_dump())
        return azure.job_environment(_url(), job)

    for method, path, handler in (
        ("GET", "/_sandbox/azure", read_settings),
        ("PATCH", "/_sandbox/azure", change_settings),
        ("POST", "/_sandbox/azure/faults", add_query_fault),
        ("DELETE", "/_sandbox/azure/faults", clear_query_faults),
        ("POST", "/_sandbox/azure/applications", add_application),
        ("POST", "/_sandbox/azure/jobs", start_job),
    ):
        add_control(routes, azure.lock, method, path, handler)


class NewJob(BaseModel):
    """The body that starts a job; see `github_oidc.Job`."""

    model_config = ConfigDict(extra="forbid")

    repository: str
    environment: str = ""
    ref: str = "refs/heads/main"
    immutable: bool = False


def _add(
    routes: Blueprint, azure: Azure, method: str, path: str, handler: Callable[..., Answer]
) -> None:
    def view(**parameters: str) -> Response:
        with azure.lock:
            answer = handler(**parameters)
        body = "" if answer.body is None else json.dumps(answer.body)
        response = Response(body, answer.status, content_type="application/json; charset=utf-8")
        response.headers.extend(dict(answer.headers))
        return response

    routes.add_url_rule(path, handler.__name__, view, methods=[method])


def _sync_states(azure: Azure) -> dict[str, dict[str, Any]]:
    """Return resource id of a cluster -> name of a configuration -> its state."""
    states: dict[str, dict[str, Any]] = {}
    for row in azure.tables()["kubernetesconfigurationresources"]:
        cluster, name = row["id"].rpartition("/providers/")[0], row["name"]
        if "complianceState" in row["properties"]:
            properties = {key: row["properties"][key] for key in REPORTED}
            states.setdefault(cluster, {})[name] = properties
    return states


def _url() -> str:
    """Return the URL that the client used for this server."""
    return request.host_url.rstrip("/")


def _changes() -> dict[str, Json]:
    """Return the JSON object of the request. Raises ValidationError."""
    return TypeAdapter(dict[str, Json]).validate_python(request_body())


def _body() -> Json:
    """Return the JSON of the request; None if it is invalid."""
    try:
        return strict_json.loads(request.get_data())
    except ValueError:
        return None
