"""Azure's HTTP endpoints, and GitHub's endpoint for Azure."""

from __future__ import annotations

from collections.abc import Callable

from flask import Blueprint, request
from werkzeug.wrappers import Response

from kalypso_sandbox import json_http
from kalypso_sandbox.azure import identity, resource_graph
from kalypso_sandbox.azure.cloud import IDENTITY_PATH, JOB_PATH, Azure
from kalypso_sandbox.json_http import Answer, Json


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
        return resource_graph.cluster_answer(azure, _url(), arguments, authorization, path)

    def sign_in(tenant: str) -> Answer:
        return azure.sign_in(tenant, request.form.to_dict())

    def openid_configuration(tenant: str) -> Answer:
        return identity.openid_configuration(_url(), tenant)

    def discover_instances() -> Answer:
        return identity.discovery(_url(), request.host, azure.tenant)

    def managed_identity() -> Answer:
        header = request.headers.get("X-IDENTITY-HEADER", "")
        return azure.managed_identity(request.args.to_dict(), header)

    def job_assertion() -> Answer:
        authorization = request.headers.get("Authorization", "")
        return azure.job_assertion(authorization, request.args.get("audience", ""))

    for method, path, handler in (
        ("POST", resource_graph.PATH, query_resources),
        ("GET", resource_graph.CLUSTER_PATH, read_cluster),
        ("POST", "/<tenant>/oauth2/v2.0/token", sign_in),
        ("GET", "/<tenant>/v2.0/.well-known/openid-configuration", openid_configuration),
        ("GET", "/common/discovery/instance", discover_instances),
        ("GET", IDENTITY_PATH, managed_identity),
        ("GET", JOB_PATH, job_assertion),
    ):
        _add(routes, azure, method, path, handler)
    return routes


def _add(
    routes: Blueprint, azure: Azure, method: str, path: str, handler: Callable[..., Answer]
) -> None:
    def view(**parameters: str) -> Response:
        with azure.lock:
            return handler(**parameters).response()

    routes.add_url_rule(path, handler.__name__, view, methods=[method])


def _url() -> str:
    """Return the URL that the client used for this server."""
    return request.host_url.rstrip("/")


def _body() -> Json:
    """Return the JSON of the request; None if it is invalid."""
    try:
        return json_http.parse(request.get_data())
    except ValueError:
        return None
