"""Resource Graph's refusals: requests, quotas, tokens, and faults."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from kalypso_sandbox.azure import Azure, QueryFault
from tests.sandbox.azure.azure_server import PATH, QUERY, VERSION, ask, client, error_of, names
from tests.sandbox.azure.builders import Clock, four_clusters


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def made(tmp_path: Path, clock: Clock) -> Azure:
    return four_clusters(tmp_path, clock)


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
    ("query", "details"),
    [
        (
            "kubernetesconfigurationresources | where id ~ 'x'",
            [
                {
                    "code": "InvalidQuery",
                    "message": "Query is invalid. Please refer to the documentation for the Azure "
                    "Resource Graph service and fix the error before retrying.",
                },
                {
                    "code": "ParserFailure",
                    "message": "ParserFailure",
                    "line": 1,
                    "characterPositionInLine": 44,
                    "token": "~",
                },
            ],
        ),
        (
            "Appserviceresources | where nowhere == 1",
            [
                {
                    "code": "DisallowedLogicalTableName",
                    "message": "Table appserviceresources is invalid, unsupported or disallowed.",
                }
            ],
        ),
    ],
)
def test_wrong_queries(made: Azure, query: str, details: list[dict[str, Any]]) -> None:
    response = ask(made, query)
    error = error_of(response)
    assert (response.status_code, error["code"], error["details"]) == (400, "BadRequest", details)
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
    remaining_quotas = []
    for clock.seconds in (0, 1, 2, 3, 4, 5):
        response = ask(made)
        left = response.headers["x-ms-user-quota-remaining"]
        remaining_quotas.append(
            (response.status_code, left, response.headers["x-ms-user-quota-resets-after"])
        )
    assert remaining_quotas == [
        (200, "2", "00:00:05"),
        (200, "1", "00:00:04"),
        (200, "0", "00:00:03"),
        (429, "0", "00:00:02"),
        (429, "0", "00:00:01"),
        (200, "2", "00:00:05"),
    ]


def test_principals_have_a_quota_each(made: Azure) -> None:
    made.settings.quota = 1
    statuses = [
        ask(made, token=made.issue_token(principal)).status_code for principal in ("x", "y", "x")
    ]
    assert statuses == [200, 200, 429]


def test_the_quota_can_be_switched_off(made: Azure) -> None:
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
