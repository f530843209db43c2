from __future__ import annotations

import json
import logging
import time
from collections.abc import Iterator, Mapping
from typing import Any
from urllib.parse import parse_qs

import pytest
import requests
import responses
from azure.core.credentials import TokenCredential

from kalypso_actions.clients.resource_graph.clouds import CloudName, cloud_of
from kalypso_actions.clients.resource_graph.credentials import azure_credential
from kalypso_actions.errors import KalypsoError, UsageError

CLIENT = "44444444-4444-4444-8444-444444444444"
TENANT = "22222222-2222-4222-8222-222222222222"
SECRET = "client-secret-of-the-test"
SCOPE = "https://management.azure.com/.default"
LOGIN = "https://login.microsoftonline.com"
OIDC = "https://run.actions.example/idtoken"
JOB = {"ACTIONS_ID_TOKEN_REQUEST_URL": OIDC, "ACTIONS_ID_TOKEN_REQUEST_TOKEN": "request-token"}


def azure_credentials(**keys: str | None) -> str:
    """The JSON of AZURE_CREDENTIALS."""
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


@pytest.fixture
def server() -> Iterator[responses.RequestsMock]:
    with responses.RequestsMock(assert_all_requests_are_fired=False) as mock:
        yield mock


def answer_sign_in(
    server: responses.RequestsMock, *, login: str = LOGIN, expires_in: int = 3600
) -> None:
    """Microsoft Entra ID gives `token-1`, `token-2` and so on."""
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
    """The forms that were sent to Microsoft Entra ID."""
    bodies = [call.request.body for call in server.calls if call.request.method == "POST"]
    texts = [body.decode() if isinstance(body, bytes) else str(body) for body in bodies]
    return [{key: values[0] for key, values in parse_qs(text).items()} for text in texts]


def test_a_job_signs_in_by_a_fresh_assertion_for_each_access_token(
    server: responses.RequestsMock,
) -> None:
    for number in (1, 2, 3):
        server.get(OIDC, json={"value": f"assertion-{number}"})
    answer_sign_in(server, expires_in=0)
    signed_in = credential(client_id=CLIENT, tenant_id=f" {TENANT}\n", environment=JOB)
    assert not server.calls
    tokens = [signed_in.get_token(SCOPE).token for _ in range(3)]
    assert tokens == ["token-1", "token-2", "token-3"]
    forms = sign_ins(server)
    assert [form["client_assertion"] for form in forms] == [
        "assertion-1",
        "assertion-2",
        "assertion-3",
    ]
    assert (forms[0]["client_id"], forms[0]["scope"]) == (CLIENT, SCOPE)


def test_an_access_token_that_still_lives_is_used_again(server: responses.RequestsMock) -> None:
    server.get(OIDC, json={"value": "assertion"})
    answer_sign_in(server)
    signed_in = credential(client_id=CLIENT, tenant_id=TENANT, environment=JOB)
    assert {signed_in.get_token(SCOPE).token for _ in range(3)} == {"token-1"}


@pytest.mark.parametrize(
    ("cloud", "login", "audience"),
    [
        ("public", LOGIN, "api://AzureADTokenExchange"),
        ("usgov", "https://login.microsoftonline.us", "api://AzureADTokenExchangeUSGov"),
        ("china", "https://login.chinacloudapi.cn", "api://AzureADTokenExchangeChina"),
    ],
)
def test_each_cloud_has_its_own_place_and_audience(
    server: responses.RequestsMock, cloud: CloudName, login: str, audience: str
) -> None:
    server.get(OIDC, json={"value": "assertion"})
    answer_sign_in(server, login=login)
    signed_in = credential(client_id=CLIENT, tenant_id=TENANT, cloud=cloud, environment=JOB)
    assert signed_in.get_token(SCOPE).token == "token-1"
    asked = parse_qs(str(server.calls[0].request.url).partition("?")[2])
    assert asked["audience"] == [audience]


def test_a_job_that_may_not_ask_for_tokens_signs_in_by_its_secret(
    server: responses.RequestsMock,
) -> None:
    answer_sign_in(server)
    signed_in = credential(client_id="other", tenant_id="other", credentials=azure_credentials())
    assert signed_in.get_token(SCOPE).token == "token-1"
    form = sign_ins(server)[0]
    assert (form["client_id"], form["client_secret"]) == (CLIENT, SECRET)


def test_a_private_cloud_is_not_looked_up_in_the_public_one(
    server: responses.RequestsMock,
) -> None:
    login = "https://login.acme.example"
    answer_sign_in(server, login=login)
    given = azure_credentials(activeDirectoryEndpointUrl=login)
    signed_in = credential(credentials=given, environment={"AZURE_AUTHORITY_HOST": login})
    assert signed_in.get_token(SCOPE).token == "token-1"
    assert {str(call.request.url).split("/")[2] for call in server.calls} == {"login.acme.example"}


def test_otherwise_the_machine_has_an_identity(
    server: responses.RequestsMock, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("AZURE_CLIENT_ID", "AZURE_CLIENT_SECRET", "AZURE_TENANT_ID"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("AZURE_TOKEN_CREDENTIALS", "ManagedIdentityCredential")
    monkeypatch.setenv("IDENTITY_ENDPOINT", "http://127.0.0.1:8080/msi/token")
    monkeypatch.setenv("IDENTITY_HEADER", "identity-header")
    server.get(
        "http://127.0.0.1:8080/msi/token",
        json={"access_token": "token-1", "expires_on": str(int(time.time()) + 3600)},
    )
    assert credential().get_token(SCOPE).token == "token-1"
    assert server.calls[0].request.headers["X-IDENTITY-HEADER"] == "identity-header"


def test_a_machine_without_an_identity(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("AZURE_CLIENT_ID", "AZURE_CLIENT_SECRET", "AZURE_TENANT_ID"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("AZURE_TOKEN_CREDENTIALS", "EnvironmentCredential")
    with pytest.raises(KalypsoError, match="the sign-in to Azure failed: ") as raised:
        credential().get_token(SCOPE)
    assert "EnvironmentCredential" in raised.value.problem.message
    for way in ("azure-client-id", "id-token: write", "azure-credentials", "azure/login"):
        assert way in raised.value.problem.advice


@pytest.mark.parametrize(
    ("given", "message", "advice"),
    [
        ({"client_id": CLIENT}, "without azure-tenant-id", "give both"),
        ({"tenant_id": TENANT}, "without azure-client-id", "give both"),
        ({"client_id": CLIENT, "credentials": "{}"}, "without azure-tenant-id", "give both"),
        (
            {"client_id": CLIENT, "tenant_id": TENANT},
            "GitHub gives this process no OIDC",
            "id-token: write",
        ),
        (
            {"client_id": CLIENT, "tenant_id": "../other", "environment": JOB},
            "azure-tenant-id is neither",
            "",
        ),
        ({"client_id": SECRET, "tenant_id": TENANT, "environment": JOB}, "azure-client-id is", ""),
        ({"credentials": azure_credentials(clientId=SECRET)}, "clientId of azure-credentials", ""),
        (
            {"credentials": azure_credentials(tenantId="a/b")},
            "tenantId of azure-credentials",
            "",
        ),
        ({"credentials": "clientSecret=x"}, "is not a JSON object", "create-for-rbac"),
        ({"credentials": '["x"]'}, "is not a JSON object", "create-for-rbac"),
        (
            {"credentials": azure_credentials(clientSecret=None, tenantId="")},
            "does not have clientSecret, tenantId",
            "create-for-rbac",
        ),
        (
            {"credentials": azure_credentials(), "cloud": "usgov"},
            "are for login.microsoftonline.com",
            "azure-cloud to public",
        ),
        (
            {
                "credentials": azure_credentials(
                    activeDirectoryEndpointUrl="https://login.usgovcloudapi.net/"
                )
            },
            "are for login.usgovcloudapi.net",
            "azure-cloud to usgov",
        ),
        (
            {
                "credentials": azure_credentials(
                    activeDirectoryEndpointUrl="https://attacker.example"
                )
            },
            "are for attacker.example",
            "AZURE_AUTHORITY_HOST",
        ),
    ],
)
def test_inputs_that_do_not_suffice(given: dict[str, Any], message: str, advice: str) -> None:
    with pytest.raises(UsageError, match=message) as raised:
        credential(**given)
    assert advice in raised.value.problem.advice
    assert SECRET not in str(raised.value)
    assert raised.value.__cause__ is None or SECRET not in str(raised.value.__cause__)


def test_a_former_name_of_the_clouds_authority_is_the_same_cloud() -> None:
    given = azure_credentials(activeDirectoryEndpointUrl="https://login.windows.net/common")
    assert credential(credentials=given) is not None


def test_an_unknown_choice_of_credentials(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AZURE_TOKEN_CREDENTIALS", "Sorcery")
    with pytest.raises(UsageError, match="AZURE_TOKEN_CREDENTIALS"):
        credential()


SUBJECT = "repo:acme/control-plane:environment:dev"


@pytest.mark.parametrize(
    ("description", "message", "advice"),
    [
        (
            f"AADSTS700213: No matching federated identity record found for presented assertion "
            f"subject '{SUBJECT}'. Check your federated identity credential Subject, Audience",
            f"no federated credential fits the job's subject {SUBJECT} (AADSTS700213)",
            "audience api://AzureADTokenExchange",
        ),
        (
            "AADSTS70021: No matching federated identity record found for presented assertion. "
            f"Assertion Issuer: 'https://issuer'. Assertion Subject: '{SUBJECT}'.",
            f"no federated credential fits the job's subject {SUBJECT} (AADSTS70021)",
            "newer repositories have ids in it",
        ),
        ("AADSTS700016: Application with identifier", "does not know the app", "azure-client-id"),
        ("AADSTS90002: Tenant 'x' not found.", "the tenant does not exist", "azure-tenant-id"),
        ("AADSTS7000215: Invalid client secret", "the client secret is wrong", "not its id"),
        ("AADSTS7000222: The provided client secret keys", "has expired", "a new one"),
        ("AADSTS700024: Client assertion is not within", "not valid at this time", "azure/login"),
        (
            "AADSTS99999: Something else.",
            "AADSTS99999: Something else",
            "microsoftonline.com/error",
        ),
    ],
)
@pytest.mark.parametrize("way", ["assertion", "secret"])
def test_refused_sign_ins(
    server: responses.RequestsMock, way: str, description: str, message: str, advice: str
) -> None:
    token = "eyJhbGciOiJSUzI1NiJ9.eyJzdWIiOiJ4In0.c2lnbmF0dXJl"
    said = f"{description} {token} Trace ID: 1 Correlation ID: 2 Timestamp: 2026-01-01 00:00:00Z"
    server.get(OIDC, json={"value": token})
    refused = {"error": "invalid_client", "error_description": said}
    server.post(f"{LOGIN}/{TENANT}/oauth2/v2.0/token", status=400, json=refused)
    answer_sign_in(server)
    if way == "assertion":
        signed_in = credential(client_id=CLIENT, tenant_id=TENANT, environment=JOB)
    else:
        signed_in = credential(credentials=azure_credentials())
    with pytest.raises(KalypsoError, match="Azure refused the sign-in: ") as raised:
        signed_in.get_token(SCOPE)
    assert message in raised.value.problem.message
    assert advice in raised.value.problem.advice
    for hidden in (token, SECRET, "Trace ID"):
        assert hidden not in str(raised.value)


def test_a_secret_of_an_unknown_tenant(server: responses.RequestsMock) -> None:
    refused = {"error": "invalid_tenant", "error_description": "AADSTS90002: Tenant not found."}
    server.get(f"{LOGIN}/{TENANT}/v2.0/.well-known/openid-configuration", status=400, json=refused)
    with pytest.raises(KalypsoError, match="the tenant does not exist"):
        credential(credentials=azure_credentials()).get_token(SCOPE)


@pytest.mark.parametrize(
    ("fault", "message", "advice"),
    [
        (requests.exceptions.ReadTimeout("slow"), "cannot be reached", "HTTPS_PROXY"),
        (requests.exceptions.SSLError("verify failed"), "no trusted certificate", "SSL_CERT_FILE"),
    ],
)
@pytest.mark.parametrize("way", ["assertion", "secret"])
def test_a_sign_in_that_cannot_be_reached(
    server: responses.RequestsMock,
    monkeypatch: pytest.MonkeyPatch,
    way: str,
    fault: Exception,
    message: str,
    advice: str,
) -> None:
    monkeypatch.setattr("time.sleep", lambda _: None)  # Azure's library has its own patience
    server.get(OIDC, json={"value": "assertion"})
    server.get(f"{LOGIN}/{TENANT}/v2.0/.well-known/openid-configuration", body=fault)
    server.post(f"{LOGIN}/{TENANT}/oauth2/v2.0/token", body=fault)
    if way == "assertion":
        signed_in = credential(client_id=CLIENT, tenant_id=TENANT, environment=JOB)
    else:
        signed_in = credential(credentials=azure_credentials())
    with pytest.raises(KalypsoError, match=f"{LOGIN}.*{message}") as raised:
        signed_in.get_token(SCOPE)
    assert advice in raised.value.problem.advice


def test_the_log_holds_no_secret(
    server: responses.RequestsMock, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    server.get(OIDC, json={"value": "assertion-of-the-test"})
    answer_sign_in(server)
    credential(client_id=CLIENT, tenant_id=TENANT, environment=JOB).get_token(SCOPE)
    credential(credentials=azure_credentials()).get_token(SCOPE)
    assert "signing in to Azure by GitHub's OIDC tokens" in caplog.text
    for hidden in (SECRET, "assertion-of-the-test", "token-1", "token-2", "request-token"):
        assert hidden not in caplog.text
