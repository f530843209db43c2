"""The log's summary of the rate limit."""

from __future__ import annotations

from collections.abc import Mapping

from kalypso_actions.clients.github.errors import Quota


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
