"""The client's queries that Azure refuses or does not answer."""

from __future__ import annotations

from typing import Any

import pytest
import requests
import responses

from kalypso_actions.errors import KalypsoError
from tests.clients.resource_graph.azure import (
    ACCESS_TOKEN,
    REPOSITORY,
    RESOURCES,
    SUBSCRIPTION,
    Waits,
    names,
    page,
    read,
    refusal,
    refused,
    resource_graph,
    row,
)

CUT = '{"totalRecords": 1, "count": 1, "data": [{"id": "/subscri'


@pytest.mark.parametrize(
    "fault",
    [
        {"status": 500},
        {"status": 502, "body": "<html>Bad Gateway"},
        {"status": 503, "json": refusal("ServerBusy", "later")},
        {"status": 408},
        {"body": requests.ConnectionError("reset")},
        {"body": requests.exceptions.ReadTimeout("slow")},
        {"body": requests.exceptions.ChunkedEncodingError("IncompleteRead(5)")},
        {"body": CUT},
        {"body": ""},
        {"json": {}},
        {"json": []},
        {"json": {"totalRecords": 1, "data": {"columns": [], "rows": []}}},
    ],
)
def test_a_query_without_answer_is_repeated(fault: dict[str, Any]) -> None:
    waits = Waits()
    clusters, bodies = read(waits, fault, fault, {"json": page([row("a")])})
    assert (clusters, waits.slept, len(bodies)) == (["a"], [1.0, 2.0], 3)


def test_a_time_that_the_server_names_is_kept() -> None:
    waits = Waits()
    busy = {"status": 503, "headers": {"Retry-After": "30"}}
    assert read(waits, busy, {"json": page([row("a")])})[0] == ["a"]
    assert waits.slept == [30.0]


def test_lasting_faults_are_an_error() -> None:
    waits = Waits()
    error = refused(*[{"status": 502}] * 6, waits=waits)
    assert waits.slept == [1.0, 2.0, 4.0, 8.0, 16.0]
    assert error.problem.message.endswith("it answers with status 502 (6 attempts)")
    assert "HTTPS_PROXY" in error.problem.advice


def test_an_answer_resets_the_count_of_faults() -> None:
    answers: list[dict[str, Any]] = []
    for number in range(4):
        token = "" if number == 3 else f"page-{number}"
        answers += [{"status": 500}] * 2 + [{"json": page([row(f"{number}")], 4, token=token)}]
    waits = Waits()
    assert read(waits, *answers)[0] == ["0", "1", "2", "3"]
    assert waits.slept == [1.0, 2.0] * 4


SUPPORT = "Please provide below info when asking for support: timestamp = 1, correlationId = 2."


@pytest.mark.parametrize(
    ("status", "body", "message", "advice"),
    [
        (
            403,
            refusal("AccessDenied", SUPPORT, ("AccessDenied", "Access is denied.")),
            "the identity may not read the scope (403 AccessDenied: Access is denied.)",
            f"the role Reader on subscription {SUBSCRIPTION}",
        ),
        (403, "<html>", "the identity may not read the scope (403)", "the role Reader"),
        (
            400,
            refusal(
                "BadRequest",
                SUPPORT,
                ("NoValidSubscriptionsInQueryRequest", "There must be at least one subscription"),
            ),
            "the identity sees nothing in the scope (400 NoValidSubscriptions",
            "check azure-scopes",
        ),
        (
            400,
            refusal("BadRequest", SUPPORT, ("DisabledSubscription", "It is disabled")),
            "a subscription of the scope is disabled",
            "remove it from azure-scopes",
        ),
        (
            401,
            refusal(
                "InvalidAuthenticationTokenTenant", "The access token is from the wrong issuer"
            ),
            "the identity belongs to another tenant than the scope",
            "azure-tenant-id",
        ),
        (
            401,
            refusal("ExpiredAuthenticationToken", "The access token expiry UTC time is earlier"),
            "the access token is not accepted",
            "clock",
        ),
        (401, "", "the access token is not accepted (401)", "azure-cloud"),
        (
            404,
            refusal("ManagementGroupNotFound", "no such group"),
            "the identity sees nothing in the scope",
            "not display names",
        ),
        (404, "", "the scope does not exist (404)", "azure-scopes"),
        (
            400,
            refusal("BadRequest", SUPPORT, ("InvalidQuery", "Query is invalid.")),
            "the reason is unknown (400 InvalidQuery: Query is invalid.)",
            "please report it",
        ),
        (307, "", "the reason is unknown (307)", ""),
    ],
)
def test_refusals_say_what_to_change(status: int, body: object, message: str, advice: str) -> None:
    content = {"body": body} if isinstance(body, str) else {"json": body}
    elsewhere = {"Location": "https://attacker.example/"}
    waits = Waits()
    error = refused({"status": status, "headers": elsewhere, **content}, waits=waits)
    assert error.problem.message.startswith(f"Azure Resource Graph refused the query: {message}")
    assert advice in error.problem.advice
    assert "support" not in str(error)
    assert waits.slept == []


@pytest.mark.parametrize(
    "header",
    [
        {},
        {"WWW-Authenticate": 'Bearer error="invalid_token", error_description="revoked"'},
        {"WWW-Authenticate": 'Bearer error="insufficient_claims", claims="%%%"'},
        {"WWW-Authenticate": 'Bearer error="insufficient_claims"'},
        {"WWW-Authenticate": "Negotiate"},
    ],
)
def test_a_refused_token_is_replaced_once(header: dict[str, str]) -> None:
    refusal_of_token = {"status": 401, "headers": header}
    with responses.RequestsMock() as server, resource_graph(Waits()) as client:
        for answer in (refusal_of_token, {"json": page([row("a")])}):
            server.post(RESOURCES, **answer)
        assert names(client.cluster_reports(REPOSITORY, "dev")) == ["a"]
        sent = [call.request.headers["Authorization"] for call in server.calls]
    assert sent == [f"Bearer {ACCESS_TOKEN}", f"Bearer {ACCESS_TOKEN}-anew"]


def test_a_second_refusal_of_a_token_is_an_error() -> None:
    waits = Waits()
    with responses.RequestsMock() as server, resource_graph(waits) as client:
        server.post(RESOURCES, status=401)
        with pytest.raises(KalypsoError, match="the access token is not accepted"):
            client.cluster_reports(REPOSITORY, "dev")
        assert len(server.calls) == 2
    assert waits.slept == []


def test_an_untrusted_certificate_is_not_retried() -> None:
    error = refused({"body": requests.exceptions.SSLError("certificate verify failed")})
    assert "certificate of Azure Resource Manager is not trusted" in error.problem.message
    assert "SSL_CERT_FILE" in error.problem.advice
