from __future__ import annotations

import logging
import time
from typing import Any
from urllib.parse import parse_qs

import pytest
import responses

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
