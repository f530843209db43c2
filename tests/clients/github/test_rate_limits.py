"""GitHub's rate limits: how long the client waits, and when it gives up."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta
from typing import Any

import pytest
import responses

from kalypso_actions.clients.github import GitHubError
from tests.clients.github.connections import NOON, REPOSITORY, Clock, connect, read, write

PRIMARY = {"message": "API rate limit exceeded for installation ID 7."}
SECONDARY = {"message": "You have exceeded a secondary rate limit. Please wait a few minutes."}
DENIED = {"message": "Resource not accessible by integration"}


def at(**later: float) -> str:
    return str(int((NOON + timedelta(**later)).timestamp()))


def used_up(**later: float) -> dict[str, str]:
    return {"x-ratelimit-remaining": "0", "x-ratelimit-reset": at(**later)}


def ask(clock: Clock, **more: Any) -> object:
    return read(connect(clock, **more), "acme/fleet", "")


@pytest.mark.parametrize(
    ("status", "body", "headers", "waits"),
    [
        (429, {}, {"Retry-After": "9"}, [9]),
        (429, {}, {}, [60]),
        (429, {}, {"Retry-After": "Sun, 01 Mar 2026 12:01:30 GMT"}, [90]),
        (429, {}, {"Retry-After": "soon"}, [60]),
        (429, {}, {"Retry-After": "0"}, [1]),
        (429, {}, {"Retry-After": "²"}, [60]),
        (429, {}, {"x-ratelimit-remaining": "0", "x-ratelimit-reset": "9" * 20}, [60]),
        (429, {}, used_up(minutes=3), [181]),
        (429, {}, {"Retry-After": "9", **used_up(minutes=3)}, [9]),
        (403, PRIMARY, used_up(minutes=3), [181]),
        (403, PRIMARY, used_up(minutes=-3), [1]),
        (403, PRIMARY, {}, [60]),
        (403, SECONDARY, {}, [60]),
        (403, SECONDARY, {"x-ratelimit-remaining": "4000", "x-ratelimit-reset": at(hours=1)}, [60]),
        (403, SECONDARY, {"Retry-After": "120"}, [120]),
        (403, {"message": "You have triggered an abuse detection mechanism."}, {}, [60]),
        (403, None, used_up(minutes=1), [61]),
        (422, {"message": "Validation Failed", "errors": [{"code": "abuse"}]}, {}, [60]),
        (422, {"errors": [{"message": "was submitted too quickly"}]}, {"Retry-After": "9"}, [9]),
        (200, {"data": None, "errors": [{"message": "was submitted too quickly"}]}, {}, [60]),
    ],
)
def test_waits_as_github_says(
    status: int, body: object, headers: Mapping[str, str], waits: list[float]
) -> None:
    clock = Clock()
    with responses.RequestsMock() as server:
        server.get(REPOSITORY, status=status, json=body, headers=dict(headers))
        server.get(REPOSITORY, json={"id": 1})
        assert ask(clock) == {"id": 1}
    assert clock.waits == waits


@pytest.mark.parametrize("headers", [{}, used_up(minutes=3)])
def test_a_refusal_for_want_of_permission_is_no_limit(headers: Mapping[str, str]) -> None:
    """Such a request may itself have used up the rate limit."""
    clock = Clock()
    with responses.RequestsMock() as server:
        server.get(REPOSITORY, status=403, json=DENIED, headers=dict(headers))
        with pytest.raises(GitHubError, match="not accessible"):
            ask(clock)
    assert clock.waits == []


@pytest.mark.parametrize(
    ("headers", "waits"),
    [({}, [60, 120, 240, 480]), ({"Retry-After": "1"}, [1, 2, 4, 8, 16, 32, 64, 128, 256])],
)
def test_waits_longer_each_time_and_not_for_ever(
    headers: Mapping[str, str], waits: list[float]
) -> None:
    clock = Clock()
    with responses.RequestsMock() as server:
        server.get(REPOSITORY, status=403, json=SECONDARY, headers=dict(headers))
        with pytest.raises(GitHubError, match="secondary rate limit"):
            ask(clock)
    assert clock.waits == waits


def test_an_hour_of_waiting_is_an_error() -> None:
    clock = Clock()
    with responses.RequestsMock() as server:
        server.get(REPOSITORY, status=403, json=PRIMARY, headers=used_up(minutes=55))
        with pytest.raises(GitHubError) as caught:
            ask(clock)
    assert clock.waits == []
    assert str(caught.value) == (
        "acme/fleet: it cannot be read: GitHub says: API rate limit exceeded for installation ID 7."
        " (try again after 12:55 UTC)"
    )


def test_the_bound_can_be_set() -> None:
    clock = Clock()
    with responses.RequestsMock() as server:
        server.get(REPOSITORY, status=403, json=PRIMARY, headers=used_up(minutes=55))
        server.get(REPOSITORY, json={"id": 1})
        assert ask(clock, max_wait=3600) == {"id": 1}
    assert clock.waits == [55 * 60 + 1]


@pytest.mark.parametrize("kind", ["RATE_LIMITED", "RATE_LIMIT"])
def test_a_used_up_graphql_quota_is_a_limit_though_the_status_is_200(kind: str) -> None:
    clock = Clock()
    error = {"type": kind, "message": "API rate limit exceeded"}
    with responses.RequestsMock() as server:
        url = "https://api.github.com/graphql"
        server.post(url, json={"errors": [error]}, headers=used_up(minutes=1))
        server.post(url, json={"data": {"viewer": None}})
        data, errors = connect(clock).graphql("acme", "no", "query { viewer { login } }", {})
    assert (data, errors) == ({"viewer": None}, ())
    assert clock.waits == [61]


def test_a_commit_message_about_limits_is_no_limit() -> None:
    clock = Clock()
    with responses.RequestsMock() as server:
        server.get(REPOSITORY, json={"message": "Honour GitHub's rate limit", "errors": ["x"]})
        ask(clock)
    assert clock.waits == []


def test_a_second_lies_between_two_posts() -> None:
    clock = Clock()
    with responses.RequestsMock() as server:
        server.post(f"{REPOSITORY}/issues", json={})
        server.patch(f"{REPOSITORY}/issues/1", json={})
        github = connect(clock)
        for method, path in (("POST", "/issues"), ("PATCH", "/issues/1"), ("POST", "/issues")):
            write(github, "acme/fleet", method, path)
        clock.sleep(2)
        write(github, "acme/fleet", "POST", "/issues")
    assert clock.waits == [1, 2]
