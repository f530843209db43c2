"""Answers of Microsoft Entra ID, and credentials for it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from urllib.parse import parse_qs

import responses
from azure.core.credentials import TokenCredential

from kalypso_actions.clients.resource_graph.credentials import azure_credential
from kalypso_actions.clients.resource_graph.scopes import CloudName, cloud_of

CLIENT = "44444444-4444-4444-8444-444444444444"


TENANT = "22222222-2222-4222-8222-222222222222"


SECRET = "client-secret-of-the-test"


SCOPE = "https://management.azure.com/.default"


LOGIN = "https://login.microsoftonline.com"


OIDC = "https://run.actions.example/idtoken"


JOB = {"ACTIONS_ID_TOKEN_REQUEST_URL": OIDC, "ACTIONS_ID_TOKEN_REQUEST_TOKEN": "request-token"}


def azure_credentials(**keys: str | None) -> str:
    """Return the JSON of AZURE_CREDENTIALS."""
    given = {
        "clientId": CLIENT,
        "clientSecret": SECRET,
        "tenantId": TENANT,
        "subscriptionId": "11111111-1111-4111-8111-111111111111",
        "activeDirectoryEndpointUrl": LOGIN,
        "resourceManagerEndpointUrl": "https://management.azure.com/",
    }
    return json.dumps({key: value for key, value in (given | keys).items() if value is not None})


def credential(
    *,
    client_id: str = "",
    tenant_id: str = "",
    credentials: str = "",
    cloud: CloudName = "public",
    environment: Mapping[str, str] | None = None,
) -> TokenCredential:
    given = environment or {}
    return azure_credential(
        client_id=client_id,
        tenant_id=tenant_id,
        credentials=credentials,
        cloud=cloud_of(cloud, given),
        environment=given,
        sleep=lambda _: None,
    )


def answer_sign_in(
    server: responses.RequestsMock, *, login: str = LOGIN, expires_in: int = 3600
) -> None:
    """Answer as Microsoft Entra ID, with `token-1`, `token-2` and so on."""
    count = iter(range(1, 100))

    def give_token(_: object) -> tuple[int, dict[str, str], str]:
        token = {"access_token": f"token-{next(count)}", "expires_in": expires_in}
        return 200, {}, json.dumps(token | {"token_type": "Bearer"})

    address = f"{login}/{TENANT}/oauth2/v2.0"
    known = {
        "issuer": f"{login}/{TENANT}/v2.0",
        "authorization_endpoint": f"{address}/authorize",
        "token_endpoint": f"{address}/token",
    }
    server.get(f"{login}/{TENANT}/v2.0/.well-known/openid-configuration", json=known)
    server.add_callback("POST", f"{address}/token", give_token, content_type="application/json")


def sign_ins(server: responses.RequestsMock) -> list[dict[str, str]]:
    """Return the forms that were sent to Microsoft Entra ID."""
    bodies = [call.request.body for call in server.calls if call.request.method == "POST"]
    texts = [body.decode() if isinstance(body, bytes) else str(body) for body in bodies]
    return [{key: values[0] for key, values in parse_qs(text).items()} for text in texts]
