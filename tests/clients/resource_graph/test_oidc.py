from __future__ import annotations

from typing import Any

import pytest
import requests
import responses
from responses import matchers

from kalypso_actions.clients.resource_graph.credentials import DELAYS, OidcIssuer
from kalypso_actions.errors import KalypsoError

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
