"""Resource Graph's answers: rows in scope, in pages; and its refusals."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from kalypso_sandbox.azure import Azure, QueryFault
from tests.sandbox.azure.azure_server import PATH, QUERY, VERSION, ask, client, error_of, names
from tests.sandbox.azure.builders import FLUX_CONFIGURATIONS, Clock, cluster, four_clusters

ONE = "11111111-1111-4111-8111-111111111111"
TWO = "aaaaaaaa-aaaa-4aaa-8aaa-aaaaaaaaaaaa"
EMPTY = "eeeeeeee-eeee-4eee-8eee-eeeeeeeeeeee"
QUOTA = ("remaining", "resets-after")


@pytest.fixture
def made(tmp_path: Path, clock: Clock) -> Azure:
    return four_clusters(tmp_path, clock, other_subscription=TWO)


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
    answer = ask(made, "Resources | where name == 'a' | project name").get_json()
    numbers = {"totalRecords": 1, "count": 1, "facets": [], "resultTruncated": "false"}
    assert answer == {**numbers, "data": [{"name": "a"}]}


def test_the_table_holds_more_than_configurations(made: Azure) -> None:
    rows = ask(made, "kubernetesconfigurationresources").get_json()["data"]
    assert {row["type"].rpartition("/")[2] for row in rows} == {"extensions", "fluxconfigurations"}


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


def disturb(made: Azure, kind: Any, **fields: Any) -> None:
    made.settings.faults.append(QueryFault(kind=kind, **fields))


@pytest.mark.parametrize(
    ("body", "place"),
    [
        ({"query": ""}, "query"),
        ({"options": {"$top": 0}}, "options.$top"),
        ({"options": {"$top": 1001}}, "options.$top"),
        ({"options": {"$skip": -1}}, "options.$skip"),
        ({"options": {"resultFormat": "table"}}, "options.resultFormat"),
        ({"options": {"top": 5}}, "options.top"),
        ({"facets": [{"expression": "type"}]}, "facets"),
        ({"managementGroupId": "x"}, "managementGroupId"),
    ],
)
def test_wrong_requests(made: Azure, body: dict[str, Any], place: str) -> None:
    response = ask(made, **{"query": QUERY, **body})
    assert response.status_code == 400
    [detail] = error_of(response)["details"]
    assert detail["message"].startswith(f"{place}: ")


def test_a_body_that_is_no_json(made: Azure) -> None:
    headers = {"Authorization": f"Bearer {made.issue_token()}"}
    response = client(made).post(f"{PATH}?{VERSION}", data="{", headers=headers)
    assert error_of(response)["code"] == "BadRequest"


@pytest.mark.parametrize(
    ("query", "code", "message"),
    [
        (
            "kubernetesconfigurationresources | where id ~ 'x'",
            "InvalidQuery",
            "Query is invalid. Please refer to the documentation for the Azure Resource Graph "
            "service and fix the error before retrying.",
        ),
        (
            "Appserviceresources | where nowhere == 1",
            "DisallowedLogicalTableName",
            "Table appserviceresources is invalid, unsupported or disallowed.",
        ),
    ],
)
def test_wrong_queries(made: Azure, query: str, code: str, message: str) -> None:
    response = ask(made, query)
    error = error_of(response)
    assert (response.status_code, error["code"]) == (400, "BadRequest")
    assert error["details"][0] == {"code": code, "message": message}
    support = (
        r"Please provide below info when asking for support: timestamp = "
        r"2026-07-01T12:00:00\.\d{7}Z, correlationId = [0-9a-f-]{36}\."
    )
    assert re.fullmatch(support, error["message"])


@pytest.mark.parametrize(
    ("version", "code"),
    [("", "MissingApiVersionParameter"), ("?api-version=2020-01-01", "InvalidApiVersionParameter")],
)
def test_versions_of_the_api(made: Azure, version: str, code: str) -> None:
    headers = {"Authorization": f"Bearer {made.issue_token()}"}
    response = client(made).post(f"{PATH}{version}", json={"query": QUERY}, headers=headers)
    assert (response.status_code, error_of(response)["code"]) == (400, code)


def test_the_quota_counts_down_and_begins_again(made: Azure, clock: Clock) -> None:
    made.settings.quota = 3
    quotas = []
    for clock.seconds in (0, 1, 2, 3, 4, 5):
        response = ask(made)
        left, after = (response.headers[f"x-ms-user-quota-{it}"] for it in QUOTA)
        quotas.append((response.status_code, left, after))
    assert quotas == [
        (200, "2", "00:00:05"),
        (200, "1", "00:00:04"),
        (200, "0", "00:00:03"),
        (429, "0", "00:00:02"),
        (429, "0", "00:00:01"),
        (200, "2", "00:00:05"),
    ]


def test_principals_have_a_quota_each_unless_it_is_switched_off(made: Azure) -> None:
    made.settings.quota = 1
    tokens = [made.issue_token(principal) for principal in ("x", "y", "x")]
    assert [ask(made, token=token).status_code for token in tokens] == [200, 200, 429]
    made.settings.quota = 0
    assert {ask(made).status_code for _ in range(20)} == {200}


@pytest.mark.parametrize(("retry_after", "expected"), [(None, None), (7, "7"), (0, "0")])
def test_throttling_with_and_without_a_time(
    made: Azure, retry_after: int | None, expected: str | None
) -> None:
    disturb(made, "throttled", retry_after=retry_after)
    response = ask(made)
    assert response.status_code == 429
    assert response.headers.get("Retry-After") == expected
    assert response.headers["x-ms-user-quota-remaining"] == "0"
    assert error_of(response)["details"][0]["code"] == "RateLimiting"
    assert ask(made).status_code == 200


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ({}, [403, 200, 200, 200]),
        ({"count": 2}, [403, 403, 200, 200]),
        ({"skip": 1, "count": 2}, [200, 403, 403, 200]),
        ({"count": 0}, [403, 403, 403, 403]),
    ],
)
def test_disturbances_are_counted(made: Azure, fields: dict[str, Any], expected: list[int]) -> None:
    disturb(made, "denied", **fields)
    assert [ask(made).status_code for _ in range(4)] == expected


def test_disturbances_follow_one_another(made: Azure) -> None:
    disturb(made, "denied", skip=1)
    disturb(made, "throttled")
    assert [ask(made).status_code for _ in range(3)] == [429, 403, 200]


def test_a_principal_without_the_action_is_refused_by_resource_manager(made: Azure) -> None:
    disturb(made, "forbidden")
    response = ask(made)
    assert (response.status_code, error_of(response)["code"]) == (403, "AuthorizationFailed")
    assert ask(made).status_code == 200


def test_without_a_role_nothing_is_seen_and_nothing_is_wrong(made: Azure) -> None:
    disturb(made, "unseen")
    response = ask(made)
    assert (names(response), response.get_json()["totalRecords"]) == ([], 0)


def test_a_truncated_answer_lacks_rows(made: Azure) -> None:
    disturb(made, "truncated")
    answer = ask(made).get_json()
    assert (answer["count"], answer["totalRecords"], answer["resultTruncated"]) == (2, 4, "true")


def test_expired_tokens(made: Azure, clock: Clock) -> None:
    made.settings.token_lifetime = 60
    token = made.issue_token()
    clock.seconds = 59
    assert ask(made, token=token).status_code == 200
    clock.seconds = 60
    response = ask(made, token=token)
    assert (response.status_code, error_of(response)) == (
        401,
        {
            "code": "ExpiredAuthenticationToken",
            "message": "The access token expiry UTC time '7/1/2026 12:01:00 PM' is earlier than "
            "current UTC time '7/1/2026 12:01:00 PM'.",
        },
    )
    assert 'error="invalid_token"' in response.headers["WWW-Authenticate"]
    disturb(made, "expired")
    assert [ask(made).status_code for _ in range(2)] == [401, 200]


@pytest.mark.parametrize(
    ("kind", "error"), [("revoked", "invalid_token"), ("challenged", "insufficient_claims")]
)
def test_a_token_that_is_refused_before_its_end(made: Azure, kind: str, error: str) -> None:
    token, other = made.issue_token(), made.issue_token()
    assert token != other
    disturb(made, kind)
    response = ask(made, token=token)
    assert (response.status_code, error_of(response)["code"]) == (401, "InvalidAuthenticationToken")
    challenge = response.headers["WWW-Authenticate"]
    assert f'error="{error}"' in challenge
    assert ("claims=" in challenge) == (kind == "challenged")
    assert [ask(made, token=used).status_code for used in (token, other, token)] == [401, 200, 401]


@pytest.mark.parametrize(
    ("authorization", "code"),
    [
        ("", "AuthenticationFailed"),
        ("Basic x", "AuthenticationFailed"),
        ("Bearer x.y.z", "InvalidAuthenticationToken"),
        ("Bearer ", "InvalidAuthenticationToken"),
    ],
)
def test_requests_without_a_token_of_ours(made: Azure, authorization: str, code: str) -> None:
    response = client(made).post(
        f"{PATH}?{VERSION}", json={"query": QUERY}, headers={"Authorization": authorization}
    )
    assert (response.status_code, error_of(response)["code"]) == (401, code)


@pytest.mark.parametrize(
    ("audience", "status"),
    [
        ("https://management.azure.com/", 200),
        ("https://management.core.windows.net/", 200),
        ("https://management.usgovcloudapi.net", 200),
        ("http://localhost", 200),
        ("https://graph.microsoft.com", 401),
    ],
)
def test_tokens_are_for_resource_manager(made: Azure, audience: str, status: int) -> None:
    assert ask(made, token=made.issue_token(audience=audience)).status_code == status
