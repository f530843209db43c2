"""The client's queries: scopes, pages, quotas, and the subscriptions that it checks."""

from __future__ import annotations

import json
import logging
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, Literal

import pytest
import requests
import responses

from kalypso_actions import __version__
from kalypso_actions.clients.resource_graph import ResourceGraph, azure_credential, cloud_of
from kalypso_actions.errors import KalypsoError, UsageError
from tests import http_servers
from tests.clients.resource_graph.azure import (
    ACCESS_TOKEN,
    OTHER_SUBSCRIPTION,
    REPOSITORY,
    RESOURCES,
    SUBSCRIPTION,
    FakeCredential,
    Waits,
    names,
    page,
    read,
    refusal,
    refused,
    request_bodies,
    resource_graph,
    row,
)

THROTTLED = {"status": 429, "json": refusal("RateLimiting", "Client has been throttled")}


def quota(remaining: int, resets_after: str) -> dict[str, str]:
    return {
        "x-ms-user-quota-remaining": str(remaining),
        "x-ms-user-quota-resets-after": resets_after,
    }


def test_one_request_asks_for_all_states() -> None:
    rows = [row("a"), row("b", complianceState="Suspended"), row("c", complianceState="Pending")]
    with responses.RequestsMock() as server, resource_graph(Waits()) as client:
        server.post(RESOURCES, json=page(rows))
        assert names(client.cluster_reports(REPOSITORY, "dev")) == ["a", "b", "c"]
        sent = server.calls[0].request
        body = request_bodies(server)[0]
    assert sent.url == f"{RESOURCES}?api-version=2021-03-01"
    assert sent.headers["Authorization"] == f"Bearer {ACCESS_TOKEN}"
    assert sent.headers["User-Agent"].startswith(f"kalypso-actions/{__version__} azsdk-python")
    assert body["subscriptions"] == [SUBSCRIPTION]
    assert "'dev'" in body["query"] and "'acme/gitops'" in body["query"]
    assert body["options"] == {
        "$top": 1000,
        "resultFormat": "objectArray",
        "allowPartialScopes": False,
    }


@pytest.mark.parametrize(
    ("scopes", "named"),
    [
        ([f"{SUBSCRIPTION}"], {"subscriptions": [SUBSCRIPTION]}),
        (["prod", "test"], {"managementGroups": ["prod", "test"]}),
        ([], {}),
    ],
)
def test_scopes(scopes: list[str], named: dict[str, list[str]]) -> None:
    _, bodies = read(Waits(), {"json": page([])}, scopes=scopes)
    assert {key: bodies[0][key] for key in bodies[0].keys() - {"query", "options"}} == named


@pytest.mark.parametrize(
    "url",
    [
        "https://github.com/acme/gitops",
        "https://GitHub.com/ACME/GitOps.git",
        "git@github.com:acme/gitops.git",
    ],
)
def test_any_url_of_the_repository_asks_the_same(url: str) -> None:
    with responses.RequestsMock() as server, resource_graph(Waits()) as client:
        server.post(RESOURCES, json=page([row("a")]))
        assert names(client.cluster_reports(url, "dev")) == ["a"]
        assert "contains 'acme/gitops'" in request_bodies(server)[0]["query"]


@pytest.mark.parametrize(
    "url", ["", "acme", "https://user:password@github.com", "https://[acme/gitops"]
)
def test_a_url_without_a_repository_is_refused(url: str) -> None:
    with resource_graph(Waits()) as client, pytest.raises(UsageError, match="names no") as raised:
        client.cluster_reports(url, "dev")
    assert "password" not in str(raised.value)


def test_all_pages_are_read_and_each_row_once() -> None:
    clusters, bodies = read(
        Waits(),
        {"json": page([row("a"), row("b")], 5, token="second")},
        {"json": page([row("B", complianceState="Pending"), row("c")], 5, token="third")},
        {"json": page([row("d"), row("e")], 5)},
    )
    assert clusters == ["a", "B", "c", "d", "e"]
    assert [body["options"].get("$skipToken") for body in bodies] == [None, "second", "third"]
    assert len({body["query"] for body in bodies}) == 1


def test_rows_that_come_and_go_between_pages_are_read_again() -> None:
    moved = [{"json": page([row("a")], 2, token="t")}, {"json": page([row("a")], 2)}]
    settled = [{"json": page([row("a")], 2, token="t")}, {"json": page([row("b")], 2)}]
    clusters, bodies = read(Waits(), *moved, *settled)
    assert (clusters, len(bodies)) == (["a", "b"], 4)


def test_rows_that_stay_missing_are_an_error() -> None:
    error = refused(*[{"json": page([row("a")], 2)}] * 3)
    assert error.problem.message == "Azure Resource Graph gave 1 of 2 Flux configurations"


def test_pages_without_new_rows_end() -> None:
    rows = page([row("a")], 1, token="again")
    clusters, bodies = read(Waits(), {"json": rows}, {"json": rows})
    assert (clusters, len(bodies)) == (["a"], 2)


def test_a_truncated_answer_is_refused() -> None:
    error = refused({"json": page([row("a")], 2, truncated=True)})
    assert "cut its answer short (1 of 2 Flux" in error.problem.message
    assert "azure-scopes" in error.problem.advice


def test_a_scope_of_too_many_subscriptions_is_refused() -> None:
    limit = {"x-ms-tenant-subscription-limit-hit": "true"}
    error = refused({"json": page([row("a")]), "headers": limit}, scopes=[])
    assert "more subscriptions than" in error.problem.message
    assert "azure-scopes" in error.problem.advice


def test_rows_that_cannot_be_read_are_an_error() -> None:
    assert "managedClusters/b" in str(refused({"json": page([row("a"), row("b", suspend=1)])}))


@pytest.mark.parametrize(
    ("headers", "slept"),
    [
        ({"Retry-After": "2"}, [2.0, 2.0]),
        ({"Retry-After": "7", **quota(0, "00:00:03")}, [7.0, 7.0]),
        (quota(0, "00:00:03"), [3.0, 3.0]),
        (quota(0, "00:01:00.5"), [60.5, 60.5]),
        (quota(0, "1.00:00:00"), None),
        (quota(0, "00:00:00"), [5.0, 10.0]),
        ({"Retry-After": "soon"}, [5.0, 10.0]),
        ({}, [5.0, 10.0]),
    ],
)
def test_throttled_queries_wait_as_azure_says(
    headers: dict[str, str], slept: list[float] | None
) -> None:
    waits = Waits()
    throttled = {**THROTTLED, "headers": headers}
    if slept is None:
        assert "it would take another 86400 s" in str(refused(throttled, waits=waits))
        return
    clusters, _ = read(waits, throttled, throttled, {"json": page([row("a")])})
    assert (clusters, waits.slept) == (["a"], slept)


def test_waiting_for_the_quota_has_a_bound() -> None:
    waits = Waits()
    throttled = {**THROTTLED, "headers": {"Retry-After": "40"}}
    error = refused(*[throttled] * 3, waits=waits, max_wait=100)
    assert waits.slept == [40.0, 40.0]
    assert error.problem.message.endswith("another 40 s, after 80 s of waiting")
    assert "poll-interval" in error.problem.advice


def test_a_used_up_quota_paces_the_next_page() -> None:
    waits = Waits()
    first = {"json": page([row("a")], 3, token="t"), "headers": quota(0, "00:00:04")}
    second = {"json": page([row("b")], 3, token="u"), "headers": quota(14, "00:00:05")}
    clusters, _ = read(waits, first, second, {"json": page([row("c")], 3)})
    assert (clusters, waits.slept) == (["a", "b", "c"], [4.0])


def test_a_used_up_quota_paces_the_next_reading_by_what_is_left() -> None:
    waits = Waits()
    with responses.RequestsMock() as server, resource_graph(waits) as client:
        server.post(RESOURCES, json=page([row("a")]), headers=quota(0, "00:00:05"))
        client.cluster_reports(REPOSITORY, "dev")
        waits.sleep(3)
        client.cluster_reports(REPOSITORY, "dev")
    assert waits.slept == [3, 2.0]


def test_each_call_is_logged_with_its_time_and_no_secret(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    read(Waits(), {"status": 500}, {"json": page([row("a")], 1, token="skip")}, {"json": page([])})
    messages = [
        entry.getMessage() for entry in caplog.records if entry.name.startswith("kalypso_actions")
    ]
    assert [text.rpartition("  ")[0] for text in messages if text.startswith("POST")] == [
        "POST https://management.azure.com, Resource Graph  500",
        "POST https://management.azure.com, Resource Graph  200, 1 of 1 rows",
        "POST https://management.azure.com, Resource Graph  200, 0 of 0 rows",
    ]
    assert ACCESS_TOKEN not in caplog.text


def checked(*subscriptions: str, waits: Waits | None = None, answer: Any = None) -> list[Any]:
    """Return the bodies of the requests that checked whether these can be read."""
    with responses.RequestsMock() as server, resource_graph(waits or Waits()) as client:
        rows = [{"subscriptionId": name} for name in subscriptions]
        server.post(RESOURCES, json=page(rows) if answer is None else answer)
        client.check_subscriptions()
        return request_bodies(server)


def test_named_subscriptions_must_be_visible() -> None:
    [body] = checked(SUBSCRIPTION.upper())
    assert body["subscriptions"] == [SUBSCRIPTION]
    assert body["query"].startswith("resourcecontainers\n")
    with pytest.raises(KalypsoError) as raised:
        checked(OTHER_SUBSCRIPTION)
    problem = raised.value.problem
    assert problem.message == (
        f"Azure Resource Graph does not show the identity subscription {SUBSCRIPTION}: "
        "check-promote would overlook clusters there"
    )
    assert problem.advice.startswith(
        f"give the identity the role Reader on subscription {SUBSCRIPTION};"
    )


def test_an_incomplete_list_of_subscriptions_is_an_error() -> None:
    with pytest.raises(KalypsoError, match=r"cut its answer short \(0 of 2 subscriptions\)"):
        checked(answer=page([], 2, truncated=True))
    with pytest.raises(KalypsoError, match="row 1 of its answer in a form that is not known"):
        checked(answer=page([{"name": "x"}]))


@pytest.mark.parametrize("scopes", [["prod"], []])
def test_without_named_subscriptions_nothing_is_checked(scopes: list[str]) -> None:
    with responses.RequestsMock(), resource_graph(Waits(), scopes=scopes) as client:
        client.check_subscriptions()


def test_scopes_are_checked_before_any_query() -> None:
    with pytest.raises(UsageError, match="is not a scope"):
        ResourceGraph(
            FakeCredential(), cloud=cloud_of("public", {}), scopes=["a b"], environment={}
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


Way = Literal["answered", "dropped", "truncated", "redirected"]


@dataclass
class Server:
    """Answers in the listed ways, then correctly; `seen` are paths and Authorization headers."""

    ways: list[Way] = field(default_factory=list)
    redirect: str = ""
    url: str = ""
    seen: list[tuple[str, str | None]] = field(default_factory=list)


@contextmanager
def serving(*ways: Way, redirect: str = "") -> Iterator[Server]:
    server = Server(list(ways), redirect)
    handler = type("Handler", (_Handler,), {"noted": server})
    with http_servers.serving(handler) as server.url:
        yield server


class _Handler(http_servers.Handler):
    noted: Server

    def answer(self) -> None:
        self.rfile.read(int(self.headers.get("Content-Length") or 0))
        self.noted.seen.append((self.path, self.headers["Authorization"]))
        way = self.noted.ways.pop(0) if self.noted.ways else "answered"
        self.close_connection = True
        if way == "dropped":
            return
        body = json.dumps({"value": "assertion", **page([row("a")])}).encode()
        self.send_response(307 if way == "redirected" else 200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        if way == "redirected":
            self.send_header("Location", self.noted.redirect + self.path)
        self.end_headers()
        self.wfile.write(body[: len(body) // 2] if way == "truncated" else body)


def client(server: Server, waits: Waits) -> ResourceGraph:
    cloud = cloud_of("public", {"KALYPSO_AZURE_RESOURCE_MANAGER": server.url})
    return ResourceGraph(
        FakeCredential(),
        cloud=cloud,
        scopes=[SUBSCRIPTION],
        # Nobody listens there: requests to this machine use no proxy.
        environment={"HTTP_PROXY": "http://127.0.0.1:9"},
        sleep=waits.sleep,
        now=waits.now,
    )


@pytest.mark.parametrize("way", ["dropped", "truncated"])
def test_a_connection_that_breaks_is_tried_again(way: Way) -> None:
    waits = Waits()
    with serving(way) as server, client(server, waits) as graph:
        assert len(graph.cluster_reports(REPOSITORY, "dev")) == 1
    assert waits.slept == [1.0]
    path = "/providers/Microsoft.ResourceGraph/resources?api-version=2021-03-01"
    assert server.seen == [(path, f"Bearer {ACCESS_TOKEN}")] * 2


def test_the_access_token_follows_no_redirect() -> None:
    with (
        serving() as other,
        serving("redirected", redirect=other.url) as server,
        client(server, Waits()) as graph,
        pytest.raises(KalypsoError, match="307"),
    ):
        graph.cluster_reports(REPOSITORY, "dev")
    assert (len(server.seen), other.seen) == (1, [])


def test_the_token_of_the_job_follows_no_redirect() -> None:
    with serving() as other, serving("redirected", redirect=other.url) as server:
        job = {
            "ACTIONS_ID_TOKEN_REQUEST_URL": f"{server.url}/idtoken",
            "ACTIONS_ID_TOKEN_REQUEST_TOKEN": "request-token",
        }
        credential = azure_credential(
            client_id=SUBSCRIPTION,
            tenant_id=SUBSCRIPTION,
            credentials="",
            cloud=cloud_of("public", {}),
            environment=job,
        )
        with pytest.raises(KalypsoError, match="status 307"):
            credential.get_token("https://management.azure.com/.default")
    assert server.seen == [
        ("/idtoken?audience=api%3A%2F%2FAzureADTokenExchange", "Bearer request-token")
    ]
    assert other.seen == []
