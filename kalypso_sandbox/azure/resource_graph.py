"""Resource Manager's answers: Resource Graph's query operation with pages, and single clusters.

Undocumented details follow answers that users have published: an error has a code, a message for
support, and the reason in `details`.
"""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, Final, Literal, ParamSpec, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from kalypso_sandbox.azure import identity, kql
from kalypso_sandbox.azure.cloud import Azure, QueryFault, quota_headers
from kalypso_sandbox.azure.clusters import Cluster, clusters
from kalypso_sandbox.azure.rows import COLUMNS, Row, connection
from kalypso_sandbox.json_http import Answer, Json

PATH: Final = "/providers/Microsoft.ResourceGraph/resources"
API_VERSIONS: Final = ("2019-04-01", "2021-03-01", "2022-10-01", "2024-04-01")
CLUSTER_PATH: Final = (
    "/subscriptions/<subscription>/resourceGroups/<group>/providers/<namespace>/<kind>/<name>"
)
CLUSTER_API_VERSIONS: Final = {
    "microsoft.containerservice/managedclusters": "2024-02-01",
    "microsoft.kubernetes/connectedclusters": "2024-01-01",
}
THROTTLED: Final = (
    "Client application has been throttled and should not attempt to repeat the request until an "
    "amount of time has elapsed. Please see https://aka.ms/resourcegraph-throttling for help."
)
NO_ACCESS: Final = {
    "code": "AccessDenied",
    "message": "Access is denied to the requested resource. The user might not have enough "
    "permission.",
}

P = ParamSpec("P")
T = TypeVar("T")


class QueryOptions(BaseModel):
    """The options of a query."""

    model_config = ConfigDict(extra="forbid")

    skip_token: str = Field(default="", alias="$skipToken")
    top: int | None = Field(default=None, alias="$top", ge=1, le=1000)
    skip: int | None = Field(default=None, alias="$skip", ge=0)
    result_format: Literal["objectArray"] = Field(default="objectArray", alias="resultFormat")
    allow_partial_scopes: bool = Field(default=False, alias="allowPartialScopes")


class QueryRequest(BaseModel):
    """The body of a query. Facets and the format `table` are not supported."""

    model_config = ConfigDict(extra="forbid")

    query: str = Field(min_length=1)
    subscriptions: list[str] = Field(default_factory=list)
    management_groups: list[str] = Field(default_factory=list, alias="managementGroups")
    options: QueryOptions = Field(default_factory=QueryOptions)


@dataclass(frozen=True, slots=True)
class RowPage:
    """A page of rows; `token` leads to the next one."""

    rows: Sequence[Row]
    truncated: bool = False
    token: str = ""


class RefusedQueryError(Exception):
    """A refusal: a status, Azure's error code, and details."""

    def __init__(self, status: int, code: str, *details: Mapping[str, Any]) -> None:
        super().__init__(code)
        self.status = status
        self.code = code
        self.details = details


def answer(
    azure: Azure, url: str, query: Mapping[str, str], authorization: str, body: Any
) -> Answer:
    """Answer a POST; `query` is the parsed query string, `url` the server's own URL."""
    principal = azure.principal(authorization, url)
    if isinstance(principal, identity.RefusedToken):
        return unauthorized(principal, azure.tenant)
    refusal = _wrong_version(query.get("api-version", ""))
    if refusal:
        return refusal
    fault = azure.settings.next_fault()
    kind = fault.kind if fault else ""
    if kind == "forbidden":
        return _forbidden(principal)
    refused_token = _refused_token(azure, kind, authorization)
    if refused_token:
        return unauthorized(refused_token, azure.tenant)
    allowed, headers = azure.use_quota(principal)
    headers["x-ms-request-id"] = azure.new_guid()
    try:
        _check_quota(azure, fault, headers, allowed=allowed)
        content = _response_body(azure, body, fault, headers)
    except RefusedQueryError as error:
        return _refused(azure, error, headers)
    return Answer(200, content, headers)


def _response_body(
    azure: Azure, body: Any, fault: QueryFault | None, headers: dict[str, str]
) -> dict[str, Any]:
    """Return the body of a successful response. Raises RefusedQueryError."""
    try:
        request = QueryRequest.model_validate(body)
    except ValidationError as error:
        details = [
            {
                "code": "InvalidRequest",
                "message": f"{'.'.join(map(str, fault['loc']))}: {fault['msg']}",
            }
            for fault in error.errors()
        ]
        raise RefusedQueryError(400, "BadRequest", *details) from error
    kind = fault.kind if fault else ""
    if kind == "denied":
        raise RefusedQueryError(403, "AccessDenied", NO_ACCESS)
    scope = _scope(azure, request, headers)
    azure.queries += 1
    result = _result(azure, request.query, [] if kind == "unseen" else scope)
    page = _page(azure, request, result)
    _check_size(page.rows, azure.settings.max_bytes)
    if kind == "truncated":
        page = RowPage(page.rows[: len(page.rows) // 2], truncated=True)
    return {
        "totalRecords": len(result.rows),
        "count": len(page.rows),
        "data": list(page.rows),
        "facets": [],
        "resultTruncated": "true" if page.truncated else "false",
        **({"$skipToken": page.token} if page.token else {}),
    }


def _scope(azure: Azure, request: QueryRequest, headers: dict[str, str]) -> Sequence[str]:
    """Return the requested subscriptions, in lower case; by default, all of the tenant."""
    known = azure.subscriptions()
    if request.subscriptions and request.management_groups:
        message = "Either subscriptions or management groups may be given."
        raise RefusedQueryError(400, "BadRequest", {"code": "InvalidRequest", "message": message})
    if request.subscriptions:
        requested = {name.lower() for name in request.subscriptions}
        readable = [name for name in known if name in requested]
        if not readable:
            message = (
                "There must be at least one subscription that is eligible to contain resources. "
                f"Given: '{','.join(request.subscriptions)}'."
            )
            detail = {"code": "NoValidSubscriptionsInQueryRequest", "message": message}
            raise RefusedQueryError(400, "BadRequest", detail)
        return readable
    if request.management_groups:
        groups = azure.settings.management_groups
        if not groups.keys() >= set(request.management_groups):
            raise RefusedQueryError(403, "AccessDenied", NO_ACCESS)
        members = {name.lower() for group in request.management_groups for name in groups[group]}
        known = [name for name in known if name in members]
    if len(known) > azure.settings.subscription_limit:
        headers["x-ms-tenant-subscription-limit-hit"] = "true"
    return known[: azure.settings.subscription_limit]


def _result(azure: Azure, text: str, scope: Sequence[str]) -> kql.Result:
    """Return the rows of a query. Without `order by`, each query returns them in another order."""
    query = _checked(kql.parse, text)
    tables = azure.tables()
    if query.table not in tables:
        message = f"Table {query.table} is invalid, unsupported or disallowed."
        detail = {"code": "DisallowedLogicalTableName", "message": message}
        raise RefusedQueryError(400, "BadRequest", detail)
    subscriptions = frozenset(scope)
    rows = [row for row in tables[query.table] if row["subscriptionId"].lower() in subscriptions]
    start = azure.queries % len(rows) if rows else 0
    return _checked(kql.execute, query, [*rows[start:], *rows[:start]], COLUMNS)


def _checked(read: Callable[P, T], *arguments: P.args, **keywords: P.kwargs) -> T:
    """Call a function of `kql`. Raises RefusedQueryError for its QueryError."""
    try:
        return read(*arguments, **keywords)
    except kql.QueryError as error:
        raise RefusedQueryError(400, "BadRequest", *error.details) from error


def _page(azure: Azure, request: QueryRequest, result: kql.Result) -> RowPage:
    """Return the requested page. `take` and columns without a sortable type prevent pages."""
    parameters = [request.query, request.subscriptions, request.management_groups]
    digest = hashlib.sha256(json.dumps(parameters).encode()).hexdigest()
    offset, size = 0, 1000
    if request.options.skip_token:
        offset, size = _read_token(request.options.skip_token, digest)
    offset = offset if request.options.skip is None else request.options.skip
    size = min(request.options.top or size, azure.settings.page_size)
    rows = result.rows[offset : offset + size]
    end = offset + len(rows)
    more = end < len(result.rows)
    if result.limited or (more and result.all_dynamic):
        return RowPage(rows, truncated=True)
    return RowPage(rows, token=_token(digest, end, size) if more else "")


def _check_size(rows: Sequence[Row], limit: int) -> None:
    """Raise RefusedQueryError for too large a page, in Azure's words (microsoft/ARI#199)."""
    size = len(json.dumps(list(rows)))
    if size > limit:
        message = (
            f"Response payload size is {size}, and has exceeded the limit of {limit}. Please "
            "consider querying less data at a time and make paginated call if needed."
        )
        detail = {"code": "ResponsePayloadTooLarge", "message": message}
        raise RefusedQueryError(400, "BadRequest", detail)


def _token(digest: str, offset: int, size: int) -> str:
    return base64.b64encode(json.dumps([digest, offset, size]).encode()).decode()


def _read_token(token: str, digest: str) -> tuple[int, int]:
    """Return offset and size of a page. Raises RefusedQueryError for another query's token."""
    try:
        of, offset, size = json.loads(base64.b64decode(token, validate=True))
        if of == digest:
            return int(offset), int(size)
    except (TypeError, ValueError):
        pass
    message = "The skip token is not one of this query and scope."
    detail = {"code": "InvalidSkipToken", "message": message}
    raise RefusedQueryError(400, "BadRequest", detail)


def _check_quota(
    azure: Azure, fault: QueryFault | None, headers: dict[str, str], *, allowed: bool
) -> None:
    """Raise RefusedQueryError for a query beyond the quota; add headers with the time to wait."""
    if fault and fault.kind == "throttled":
        window = timedelta(seconds=azure.settings.quota_window)
        headers.update(quota_headers(0, window))
        if fault.retry_after is not None:
            headers["Retry-After"] = str(fault.retry_after)
    elif allowed:
        return
    raise RefusedQueryError(429, "RateLimiting", {"code": "RateLimiting", "message": THROTTLED})


def _wrong_version(version: str) -> Answer | None:
    """Return Resource Manager's refusal of an unknown API version."""
    if version in API_VERSIONS:
        return None
    code = "InvalidApiVersionParameter" if version else "MissingApiVersionParameter"
    message = (
        f"The api-version '{version}' is invalid. The supported versions are "
        f"'{','.join(API_VERSIONS)}'."
        if version
        else "The api-version query parameter (?api-version=) is required for all requests."
    )
    return Answer(400, {"error": {"code": code, "message": message}})


def unauthorized(refusal: identity.RefusedToken, tenant: str) -> Answer:
    """Return Resource Manager's refusal of an access token."""
    reason = "insufficient_claims" if refusal.claims else "invalid_token"
    challenge = (
        f'Bearer authorization_uri="https://login.microsoftonline.com/{tenant}", '
        f'error="{reason}", error_description="{refusal.message}"'
    )
    if refusal.claims:
        challenge += f', claims="{base64.b64encode(refusal.claims.encode()).decode()}"'
    error = {"code": refusal.code, "message": refusal.message}
    return Answer(401, {"error": error}, {"WWW-Authenticate": challenge})


def _refused_token(azure: Azure, kind: str, authorization: str) -> identity.RefusedToken | None:
    """Return the refusal with which a fault of this kind answers a valid token."""
    match kind:
        case "expired":
            return identity.expired(azure.store.now, azure.store.now)
        case "revoked":
            azure.revoke(authorization)
            return identity.revoked()
        case "challenged":
            azure.revoke(authorization)
            return identity.revoked(_claims(azure))
    return None


def _claims(azure: Azure) -> str:
    """Return the claims challenge of continuous access evaluation, which asks for a new token."""
    now = str(int(azure.store.now.timestamp()))
    return json.dumps({"access_token": {"nbf": {"essential": True, "value": now}}})


def _forbidden(principal: str) -> Answer:
    """Return Resource Manager's refusal of a principal without a role for queries."""
    message = (
        f"The client '{principal}' with object id '{principal}' does not have authorization to "
        "perform action 'Microsoft.ResourceGraph/resources/action' over scope "
        "'/providers/Microsoft.ResourceGraph' or the scope is invalid. If access was recently "
        "granted, please refresh your credentials."
    )
    return Answer(403, {"error": {"code": "AuthorizationFailed", "message": message}})


def _refused(azure: Azure, error: RefusedQueryError, headers: Mapping[str, str]) -> Answer:
    message = (
        f"Please provide below info when asking for support: timestamp = "
        f"{azure.store.now:%Y-%m-%dT%H:%M:%S}.0000000Z, correlationId = {azure.new_guid()}."
    )
    content = {"code": error.code, "message": message, "details": list(error.details)}
    return Answer(error.status, {"error": content}, headers)


def cluster_answer(
    azure: Azure, url: str, query: Mapping[str, str], authorization: str, resource: str
) -> Answer:
    """Answer a GET of a resource id; `url` is the server's own URL."""
    principal = azure.principal(authorization, url)
    if isinstance(principal, identity.RefusedToken):
        return unauthorized(principal, azure.tenant)
    _, _, subscription, _, group, _, namespace, kind, name = resource.split("/")
    resource_type = f"{namespace}/{kind}"
    if query.get("api-version") != CLUSTER_API_VERSIONS.get(resource_type.lower()):
        return _error(404, "InvalidResourceType", f"The type '{resource_type}' is not known.")
    if subscription.lower() not in azure.subscriptions():
        action = f"'{resource_type}/read' over scope '{resource}'"
        message = f"The client '{principal}' does not have authorization to perform {action}."
        return _error(403, "AuthorizationFailed", message)
    existing = [
        cluster
        for cluster in clusters(azure.store)
        if cluster.kind != "other" and not cluster.deleted_at
    ]
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
