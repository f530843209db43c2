"""The endpoint of a managed identity, as on Azure's App Service: plain http.

Azure's libraries find it by IDENTITY_ENDPOINT and IDENTITY_HEADER.
"""

from __future__ import annotations

import hmac
from collections.abc import Collection, Mapping
from typing import Any

from kalypso_sandbox.github.endpoints import Answer

API_VERSION = "2019-08-01"


def refusal(
    query: Mapping[str, str], header: str, expected: str, identities: Collection[str]
) -> Answer | None:
    """Return the refusal of a request; None if it is valid.

    `header` is the request's X-IDENTITY-HEADER; `identities` are the client ids of user-assigned
    identities.
    """
    if not hmac.compare_digest(header.encode(), expected.encode()):
        return _refused(401, "The X-IDENTITY-HEADER does not match.")
    if query.get("api-version") != API_VERSION:
        return _refused(400, "The api-version is not supported.")
    if not query.get("resource"):
        return _refused(400, "The resource is missing.")
    names = {"client_id", "mi_res_id", "object_id", "principal_id"} & query.keys()
    if names and query.get("client_id") not in identities:
        missing = "No Managed Identity found for specified ClientId/ResourceId/PrincipalId."
        return _refused(400, missing)
    return None


def answer(token: str, resource: str, client_id: str, expires_on: int) -> Answer:
    """Return the response with the token and its expiry."""
    body: dict[str, Any] = {
        "access_token": token,
        "expires_on": str(expires_on),
        "resource": resource,
        "token_type": "Bearer",
        "client_id": client_id,
    }
    return Answer(200, body)


def _refused(status: int, message: str) -> Answer:
    return Answer(status, {"statusCode": status, "message": message, "correlationId": None})
