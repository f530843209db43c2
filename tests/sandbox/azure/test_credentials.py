"""Azure's own credential library signs in, over TLS where it requires TLS."""

from __future__ import annotations

from pathlib import Path

import pytest
import requests
from azure.core.exceptions import ClientAuthenticationError
from azure.identity import (
    ClientAssertionCredential,
    ClientSecretCredential,
    ManagedIdentityCredential,
)

from kalypso_sandbox.azure import Azure, Job
from tests.sandbox.azure.azure_server import ask, certificate, names, query, sdk, serving
from tests.sandbox.azure.builders import Clock, azure, cluster

SUBJECT = "repo:acme/fleet:environment:dev"
SCOPE = "https://management.azure.com/.default"


@pytest.fixture
def made(tmp_path: Path) -> Azure:
    return azure(tmp_path, Clock(), cluster())


@pytest.fixture(scope="module")
def tls(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return certificate(tmp_path_factory.mktemp("tls"))


def test_a_jobs_assertion_signs_in(made: Azure, tls: Path) -> None:
    application = made.register(SUBJECT)
    with serving(made, tls) as url:
        variables = made.job_environment(url, Job("acme/fleet", environment="dev"))

        def assertion() -> str:
            answer = requests.get(
                variables["ACTIONS_ID_TOKEN_REQUEST_URL"] + "&audience=api://AzureADTokenExchange",
                headers={"Authorization": f"bearer {variables['ACTIONS_ID_TOKEN_REQUEST_TOKEN']}"},
                verify=str(tls),
                timeout=10,
            )
            return str(answer.json()["value"])

        token_of_header = ClientAssertionCredential(
            made.tenant,
            application.client_id,
            assertion,
            authority=url,
            connection_verify=str(tls),
        )
        with token_of_header:
            token = token_of_header.get_token(SCOPE)
    assert names(ask(made, token=token.token)) == ["drone-1"]


def test_a_secret_signs_in(made: Azure, tls: Path) -> None:
    application = made.register(secret="hunter2")
    with serving(made, tls) as url:
        for secret in ("hunter2", "wrong"):
            token_of_header = ClientSecretCredential(
                made.tenant,
                application.client_id,
                secret,
                authority=url,
                disable_instance_discovery=True,
                connection_verify=str(tls),
            )
            with token_of_header:
                if secret == "hunter2":
                    token = token_of_header.get_token(SCOPE)
                else:
                    with pytest.raises(ClientAuthenticationError, match="AADSTS7000215"):
                        token_of_header.get_token(SCOPE)
    assert names(ask(made, token=token.token)) == ["drone-1"]


def test_an_unknown_application_is_refused(made: Azure, tls: Path) -> None:
    with serving(made, tls) as url:
        token_of_header = ClientAssertionCredential(
            made.tenant, "nobody", lambda: "x", authority=url, connection_verify=str(tls)
        )
        with token_of_header, pytest.raises(ClientAuthenticationError, match="AADSTS700016"):
            token_of_header.get_token(SCOPE)


def test_a_managed_identity_queries_over_plain_http(
    made: Azure, monkeypatch: pytest.MonkeyPatch
) -> None:
    with serving(made) as url:
        for name, value in made.environment(url).items():
            monkeypatch.setenv(name, value)
        with ManagedIdentityCredential() as token_of_header, sdk(url, token_of_header) as asked:
            content, _ = query(asked)
    assert content.count == 1
