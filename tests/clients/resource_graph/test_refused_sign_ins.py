"""Refused sign-ins to Azure."""

from __future__ import annotations

import pytest
import requests
import responses

from kalypso_actions.errors import KalypsoError
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
)

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
