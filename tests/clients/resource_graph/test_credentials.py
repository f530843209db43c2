"""Refused sign-ins to Azure."""

from __future__ import annotations

import logging
import time
from typing import Any
from urllib.parse import parse_qs

import pytest
import requests
import responses
from responses import matchers

from kalypso_actions.clients.resource_graph.credentials import DELAYS, OidcIssuer
from kalypso_actions.clients.resource_graph.scopes import CloudName
from kalypso_actions.errors import KalypsoError, UsageError
from tests.clients.resource_graph.azure_sign_ins import (
    CLIENT,
    JOB,
    LOGIN,
    OIDC,
    SCOPE,
    SECRET,
    TENANT,
    answer_sign_in,
    azure_credentials,
    credential,
    sign_ins,
)


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
    monkeypatch.setattr("time.sleep", lambda _: None)  # Azure's library has its own retries
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


URL = "https://run.actions.example/idtoken/1"
REQUEST_TOKEN = "request-token-of-the-job"
ENVIRONMENT = {
    "ACTIONS_ID_TOKEN_REQUEST_URL": f"{URL}?api-version=2.0",
    "ACTIONS_ID_TOKEN_REQUEST_TOKEN": REQUEST_TOKEN,
}
AUDIENCE = "api://AzureADTokenExchange"


def issuer() -> OidcIssuer:
    issuer = OidcIssuer.of_environment(ENVIRONMENT)
    assert issuer is not None
    return issuer


def fetch(*answers: dict[str, Any]) -> tuple[str, list[float], list[requests.PreparedRequest]]:
    slept: list[float] = []
    with responses.RequestsMock() as server:
        for answer in answers:
            server.get(URL, **answer)
        token = issuer().token(AUDIENCE, slept.append)
        return token, slept, [call.request for call in server.calls]


def test_a_token_is_asked_for_its_audience() -> None:
    with responses.RequestsMock() as server:
        query = {"api-version": "2.0", "audience": AUDIENCE}
        server.get(
            URL,
            json={"value": "assertion", "count": 1},
            match=[matchers.query_param_matcher(query)],
        )
        assert issuer().token(AUDIENCE) == "assertion"
        sent = server.calls[0].request
    assert sent.headers["Authorization"] == f"Bearer {REQUEST_TOKEN}"
    assert REQUEST_TOKEN not in str(sent.url)


@pytest.mark.parametrize(
    "fault",
    [
        {"status": 500},
        {"status": 503, "body": "<html>"},
        {"status": 429},
        {"body": requests.ConnectionError("reset")},
        {"body": requests.exceptions.ChunkedEncodingError("cut")},
        {"body": '{"value": "ey'},
        {"json": ["value"]},
        {"json": {"message": "?"}},
    ],
)
def test_temporary_faults_are_retried(fault: dict[str, Any]) -> None:
    token, slept, sent = fetch(fault, fault, {"json": {"value": "assertion"}})
    assert (token, slept, len(sent)) == ("assertion", [1.0, 2.0], 3)


def test_lasting_faults_are_an_error() -> None:
    slept: list[float] = []
    with responses.RequestsMock() as server:
        server.get(URL, status=502)
        with pytest.raises(KalypsoError) as raised:
            issuer().token(AUDIENCE, slept.append)
    assert slept == list(DELAYS)
    assert raised.value.problem.message == "GitHub gave the job no OIDC token: status 502"


@pytest.mark.parametrize("status", [401, 403, 404, 302, 307])
def test_a_refusal_names_the_permission(status: int) -> None:
    elsewhere = {"Location": "https://attacker.example/"}
    with responses.RequestsMock() as server:
        server.get(URL, status=status, headers=elsewhere, json={"value": "not to be shown"})
        with pytest.raises(KalypsoError) as raised:
            issuer().token(AUDIENCE)
    assert f"status {status}" in raised.value.problem.message
    assert "id-token: write" in raised.value.problem.advice
    assert "not to be shown" not in str(raised.value)


def test_an_untrusted_certificate_is_not_retried() -> None:
    with responses.RequestsMock() as server:
        server.get(URL, body=requests.exceptions.SSLError("certificate verify failed"))
        with pytest.raises(KalypsoError) as raised:
            issuer().token(AUDIENCE)
    assert "SSL_CERT_FILE" in raised.value.problem.advice


@pytest.mark.parametrize("absent", sorted(ENVIRONMENT))
def test_without_permission_there_is_no_issuer(absent: str) -> None:
    assert OidcIssuer.of_environment({**ENVIRONMENT, absent: ""}) is None


@pytest.mark.parametrize(
    ("url", "sound"),
    [
        ("http://run.actions.example/idtoken", False),
        ("ftp://run.actions.example/idtoken", False),
        ("http://127.0.0.1:8080/idtoken", True),
    ],
)
def test_the_requests_token_is_sent_protected(url: str, *, sound: bool) -> None:
    environment = {**ENVIRONMENT, "ACTIONS_ID_TOKEN_REQUEST_URL": url}
    if sound:
        assert OidcIssuer.of_environment(environment) is not None
        return
    with pytest.raises(KalypsoError, match="https://"):
        OidcIssuer.of_environment(environment)


def test_the_requests_token_is_not_shown() -> None:
    assert REQUEST_TOKEN not in repr(issuer())
