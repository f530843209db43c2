"""The text of an error: GitHub's message, and the advice."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta
from typing import Any

import pytest
import responses

from kalypso_actions.clients.github import GitHubError
from kalypso_actions.clients.github.errors import Quota
from tests.clients.github.connections import NOON, REPOSITORY_URL, Clock, connect, read, write

INTEGRATION = {"message": "Resource not accessible by integration"}


def refused(status: int, body: Any, headers: Mapping[str, str] | None = None) -> GitHubError:
    with responses.RequestsMock() as server:
        if isinstance(body, bytes):
            server.post(f"{REPOSITORY_URL}/pulls", status=status, body=body)
        else:
            server.post(
                f"{REPOSITORY_URL}/pulls", status=status, json=body, headers=dict(headers or {})
            )
        with pytest.raises(GitHubError) as caught:
            write(connect(), "acme/fleet", "POST", "/pulls", {})
    return caught.value


def says(message: str) -> dict[str, str]:
    return {"message": message}


@pytest.mark.parametrize(
    ("status", "body", "headers", "advice"),
    [
        (401, says("Bad credentials"), {}, "has not expired or been revoked"),
        (403, INTEGRATION, {}, "check the token's permissions"),
        (
            403,
            INTEGRATION,
            {"X-Accepted-GitHub-Permissions": "pull_requests=write"},
            "give the token the permission pull-requests: write, in `permissions:` of the job; or in",
        ),
        (
            403,
            INTEGRATION,
            {"X-Accepted-GitHub-Permissions": "contents=write,workflows=write; issues=write"},
            "the permission contents: write and workflows: write, or issues: write",
        ),
        (
            403,
            says("Resource not accessible by personal access token"),
            {"X-Accepted-GitHub-Permissions": "actions_variables=read"},
            "give the token the permission actions-variables: read, in the token's settings",
        ),
        (
            403,
            says("Resource protected by organization SAML enforcement."),
            {"X-GitHub-SSO": "required; url=https://github.com/orgs/acme/sso?x=1"},
            "authorize the token for the organization's single sign-on",
        ),
        (
            404,
            says("Not Found"),
            {"X-OAuth-Scopes": "read:org, gist", "X-Accepted-OAuth-Scopes": "repo"},
            "give the token the scope repo",
        ),
        (
            404,
            says("Not Found"),
            {"X-OAuth-Scopes": "repo, gist", "X-Accepted-OAuth-Scopes": "public_repo, repo"},
            "check that it exists, and that the token may see it",
        ),
        (404, says("Not Found"), {}, "check that it exists, and that the token may see it"),
        (
            403,
            says("GitHub Actions is not permitted to create or approve pull requests."),
            {},
            "Allow GitHub Actions to create and approve pull requests",
        ),
        (403, says("Repository was archived so is read-only."), {}, "unarchive the repository"),
        (
            403,
            says("the `acme` organization has an IP allow list enabled, and your IP address"),
            {},
            "on a runner whose address the organization allows",
        ),
        (
            403,
            says("`acme` forbids access via a personal access token (classic)."),
            {},
            "a kind of token that the organization allows",
        ),
        (403, says("This installation has been suspended"), {}, "lift the suspension"),
        (410, says("Issues has been disabled in this repository."), {}, "turn on Issues"),
        (409, says("Git Repository is empty."), {}, "push a first commit"),
        (422, says("No commit found for SHA: 1234"), {}, "check the commit's id"),
        (451, says("Repository access blocked"), {}, "GitHub has blocked the repository"),
        (502, says("Server Error"), {}, "try again later"),
    ],
)
def test_advice(status: int, body: object, headers: Mapping[str, str], advice: str) -> None:
    error = refused(status, body, headers)
    assert error.status == status
    assert advice in error.problem.advice


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        (says("Reference  already\nexists"), "Reference already exists"),
        (
            {"message": "Validation Failed", "errors": [{"message": "No commits between a and b"}]},
            "Validation Failed: No commits between a and b",
        ),
        (
            {
                "message": "Validation Failed",
                "errors": [
                    {"resource": "Label", "field": "name", "code": "already_exists"},
                    {"resource": "Issue", "code": "missing_field", "field": "title"},
                ],
            },
            "Validation Failed: Label.name already exists; Issue.title missing field",
        ),
        ({"message": "Validation Failed", "errors": ["body is too long"]}, None),
        ({"message": "Validation Failed", "errors": "body is too long"}, None),
        ([], "it answered 422"),
        ({}, "it answered 422"),
        (b"<html>Unicorn!</html>", "it answered 422"),
    ],
)
def test_words(body: object, reason: str | None) -> None:
    error = refused(422, body)
    assert error.reason == (reason or "Validation Failed: body is too long")
    assert error.reason in str(error)


def test_the_whole_error() -> None:
    error = refused(403, INTEGRATION, {"x-accepted-github-permissions": "pull_requests=write"})
    assert str(error) == (
        "acme/fleet: it cannot be written: GitHub says: Resource not accessible by integration"
        " (give the token the permission pull-requests: write, in `permissions:` of the job; or in"
        " the App's settings, and accept it where the App is installed)"
    )


def test_field_errors_are_kept() -> None:
    fault = {"resource": "Label", "field": "name", "code": "already_exists"}
    assert refused(422, {"message": "Validation Failed", "errors": [fault]}).errors == (fault,)


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
        server.get(REPOSITORY_URL, status=status, json=body, headers=dict(headers))
        server.get(REPOSITORY_URL, json={"id": 1})
        assert ask(clock) == {"id": 1}
    assert clock.waits == waits


@pytest.mark.parametrize("headers", [{}, used_up(minutes=3)])
def test_a_refusal_for_want_of_permission_is_no_limit(headers: Mapping[str, str]) -> None:
    """Such a request may itself have used up the rate limit."""
    clock = Clock()
    with responses.RequestsMock() as server:
        server.get(REPOSITORY_URL, status=403, json=DENIED, headers=dict(headers))
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
        server.get(REPOSITORY_URL, status=403, json=SECONDARY, headers=dict(headers))
        with pytest.raises(GitHubError, match="secondary rate limit"):
            ask(clock)
    assert clock.waits == waits


def test_an_hour_of_waiting_is_an_error() -> None:
    clock = Clock()
    with responses.RequestsMock() as server:
        server.get(REPOSITORY_URL, status=403, json=PRIMARY, headers=used_up(minutes=55))
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
        server.get(REPOSITORY_URL, status=403, json=PRIMARY, headers=used_up(minutes=55))
        server.get(REPOSITORY_URL, json={"id": 1})
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
        server.get(REPOSITORY_URL, json={"message": "Honour GitHub's rate limit", "errors": ["x"]})
        ask(clock)
    assert clock.waits == []


def test_a_second_lies_between_two_posts() -> None:
    clock = Clock()
    with responses.RequestsMock() as server:
        server.post(f"{REPOSITORY_URL}/issues", json={})
        server.patch(f"{REPOSITORY_URL}/issues/1", json={})
        github = connect(clock)
        for method, path in (("POST", "/issues"), ("PATCH", "/issues/1"), ("POST", "/issues")):
            write(github, "acme/fleet", method, path)
        clock.sleep(2)
        write(github, "acme/fleet", "POST", "/issues")
    assert clock.waits == [1, 2]


def headers(resource: str, remaining: int) -> Mapping[str, str]:
    return {
        "x-ratelimit-limit": "5000",
        "x-ratelimit-remaining": str(remaining),
        "x-ratelimit-reset": "1772370000",
        "x-ratelimit-resource": resource,
    }


def test_counts_by_account_and_resource() -> None:
    quota = Quota()
    quota.count("acme", "/repos/acme/fleet", headers("core", 4999))
    quota.count("acme", "/repos/acme/fleet", headers("core", 4998))
    quota.count("acme", "/graphql", headers("graphql", 4990))
    quota.count("other", "/repos/other/app", headers("core", 12))
    assert quota.requests == 4
    assert quota.lines() == (
        "GitHub API (core of acme): 2 requests, 4998 of 5000 left until 13:00 UTC",
        "GitHub API (graphql of acme): 1 request, 4990 of 5000 left until 13:00 UTC",
        "GitHub API (core of other): 1 request, 12 of 5000 left until 13:00 UTC",
    )


def test_a_server_without_limits() -> None:
    quota = Quota()
    quota.count("", "/api/v3/repos/acme/fleet", {})
    quota.count("", "/api/graphql", {})
    assert quota.lines() == (
        "GitHub API (core): 1 request",
        "GitHub API (graphql): 1 request",
    )


def test_without_requests_nothing_is_logged() -> None:
    assert Quota().lines() == ()
