"""Resource Graph's answers: rows in scope, in pages."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from kalypso_sandbox.azure import Azure
from tests.sandbox.azure.azure_server import QUERY, ask, error_of, names
from tests.sandbox.azure.builders import FLUX_CONFIGURATIONS, Clock, cluster, four_clusters

ONE = "11111111-1111-4111-8111-111111111111"
TWO = "aaaaaaaa-aaaa-4aaa-8aaa-aaaaaaaaaaaa"
EMPTY = "eeeeeeee-eeee-4eee-8eee-eeeeeeeeeeee"


@pytest.fixture
def made(tmp_path: Path) -> Azure:
    return four_clusters(tmp_path, Clock(), other_subscription=TWO)


def test_the_query_of_the_poll_finds_its_repository_and_branch_alone(made: Azure) -> None:
    made.put(cluster("noise-1", repository="https://github.com/other/fleet"))
    made.put(cluster("noise-2", branch="stage"))
    made.put(cluster("noise-3", source_kind="Bucket", repository="https://acme/fleet"))
    query = (
        f"{FLUX_CONFIGURATIONS}"
        "| where tostring(properties.gitRepository.repositoryRef.branch) == 'dev'\n"
        "| where tostring(properties.gitRepository.url) contains 'ACME/fleet'\n"
        "| project id, properties\n| order by id asc"
    )
    response = ask(made, query)
    assert names(response) == ["a", "b", "c", "d"]
    assert names(ask(made, query.replace("\n", " "))) == ["a", "b", "c", "d"]
    assert list(response.get_json()["data"][0]) == ["id", "properties"]


def test_an_answer_has_the_documented_form(made: Azure) -> None:
    answer = ask(made, "Resources | where name == 'a' | project id").get_json()
    assert answer == {
        "totalRecords": 1,
        "count": 1,
        "data": [{"id": made.store.clusters["a"] and answer["data"][0]["id"]}],
        "facets": [],
        "resultTruncated": "false",
    }


def test_the_table_holds_more_than_configurations(made: Azure) -> None:
    rows = ask(made, "kubernetesconfigurationresources").get_json()["data"]
    assert sorted({row["type"].rpartition("/")[2] for row in rows}) == [
        "extensions",
        "fluxconfigurations",
    ]


@pytest.mark.parametrize(
    ("scope", "expected"),
    [
        ({}, "abcd"),
        ({"subscriptions": []}, "abcd"),
        ({"subscriptions": [ONE]}, "abc"),
        ({"subscriptions": [TWO.upper()]}, "d"),
        ({"subscriptions": [ONE, TWO, "unknown"]}, "abcd"),
        ({"subscriptions": [EMPTY]}, ""),
        ({"managementGroups": ["edge"]}, "d"),
        ({"managementGroups": ["edge", "lab"]}, "abcd"),
        ({"managementGroups": ["nobody"]}, ""),
    ],
)
def test_scopes(made: Azure, scope: dict[str, Any], expected: str) -> None:
    made.settings.subscriptions = [EMPTY]
    made.settings.management_groups = {"edge": [TWO, EMPTY], "lab": [ONE], "nobody": []}
    assert "".join(names(ask(made, **scope))) == expected


@pytest.mark.parametrize(
    ("scope", "status", "code"),
    [
        ({"subscriptions": ["unknown"]}, 400, "NoValidSubscriptionsInQueryRequest"),
        ({"managementGroups": ["unknown"]}, 403, "AccessDenied"),
        ({"subscriptions": [ONE], "managementGroups": ["edge"]}, 400, "InvalidRequest"),
    ],
)
def test_wrong_scopes(made: Azure, scope: dict[str, Any], status: int, code: str) -> None:
    made.settings.management_groups = {"edge": [TWO]}
    response = ask(made, **scope)
    assert (response.status_code, error_of(response)["details"][0]["code"]) == (status, code)


def test_a_header_reports_too_many_subscriptions(made: Azure) -> None:
    made.settings.subscription_limit = 1
    hit = "x-ms-tenant-subscription-limit-hit"
    response = ask(made)
    assert (names(response), response.headers[hit]) == (["a", "b", "c"], "true")
    response = ask(made, subscriptions=[ONE, TWO])
    assert names(response) == ["a", "b", "c", "d"]
    assert hit not in response.headers


def pages(made: Azure, options: dict[str, Any], query: str = QUERY) -> list[str]:
    """Return the clusters of every page, by following the tokens."""
    pages_of_names = []
    while True:
        answer = ask(made, query, options=options)
        pages_of_names.append("".join(names(answer)))
        token = answer.get_json().get("$skipToken")
        if not token:
            return pages_of_names
        options = {"$skipToken": token}


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({}, ["abcd"]),
        ({"$top": 1000, "$skip": 0, "resultFormat": "objectArray"}, ["abcd"]),
        ({"$top": 4}, ["abcd"]),
        ({"$top": 3}, ["abc", "d"]),
        ({"$top": 1}, ["a", "b", "c", "d"]),
        ({"$top": 2, "$skip": 1}, ["bc", "d"]),
        ({"$skip": 4}, [""]),
        ({"$skip": 9}, [""]),
    ],
)
def test_pages(made: Azure, options: dict[str, Any], expected: list[str]) -> None:
    assert pages(made, options) == expected


def test_the_server_may_give_fewer_rows_than_asked(made: Azure) -> None:
    made.settings.page_size = 3
    assert pages(made, {"$top": 1000}) == ["abc", "d"]


def test_a_next_page_may_have_another_size_or_place(made: Azure) -> None:
    token = ask(made, options={"$top": 1}).get_json()["$skipToken"]
    assert names(ask(made, options={"$skipToken": token, "$top": 2})) == ["b", "c"]
    assert names(ask(made, options={"$skipToken": token, "$skip": 3})) == ["d"]


def test_a_token_belongs_to_its_query_and_scope(made: Azure) -> None:
    token = ask(made, options={"$top": 1}).get_json()["$skipToken"]
    options = {"$skipToken": token}
    for response in (
        ask(made, f"{QUERY} ", options=options),
        ask(made, subscriptions=[ONE], options=options),
        ask(made, options={"$skipToken": "bm90aGluZw=="}),
        ask(made, options={"$skipToken": "nonsense"}),
    ):
        assert response.status_code == 400
        assert error_of(response)["details"][0]["code"] == "InvalidSkipToken"


@pytest.mark.parametrize(
    ("query", "count"),
    [
        (f"{FLUX_CONFIGURATIONS} | project id | order by id asc | take 2", 2),
        (f"{FLUX_CONFIGURATIONS} | project id | limit 1000", 3),
        (f"{FLUX_CONFIGURATIONS} | project properties", 3),
    ],
)
def test_no_token_where_azure_cannot_make_pages(made: Azure, query: str, count: int) -> None:
    answer = ask(made, query, options={"$top": 3}).get_json()
    assert (answer["resultTruncated"], answer["count"]) == ("true", count)
    assert "$skipToken" not in answer


def test_rows_without_an_order_come_in_any(made: Azure) -> None:
    query = f"{FLUX_CONFIGURATIONS} | project id"
    orders = {tuple(names(ask(made, query))) for _ in range(8)}
    assert len(orders) > 1
    assert {frozenset(order) for order in orders} == {frozenset("abcd")}
