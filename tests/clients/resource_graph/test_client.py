"""The client's queries: scopes, pages, quotas, and the subscriptions that it checks."""

from __future__ import annotations

import logging
from typing import Any

import pytest
import responses

from kalypso_actions import __version__
from kalypso_actions.clients.resource_graph import ResourceGraph, cloud_of
from kalypso_actions.errors import KalypsoError, UsageError
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
