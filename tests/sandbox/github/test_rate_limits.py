"""Requests per hour, and new content per minute."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from kalypso_sandbox.github.access import ANONYMOUS
from kalypso_sandbox.github.rate_limits import RateLimits
from kalypso_sandbox.store import Identity
from tests.sandbox.served_sandbox import NOON

MINUTE = timedelta(minutes=1)


def job(repository: str) -> Identity:
    return Identity(
        kind="actions", login="github-actions[bot]", permissions={}, repositories=[repository]
    )


def installation(owner: str) -> Identity:
    return Identity(kind="installation", login="app[bot]", permissions={}, owner=owner, app_id=7)


ANNA = Identity(kind="user", login="anna", permissions={})
BERT = Identity(kind="user", login="bert", permissions={})
APP = Identity(kind="app", login="app", permissions={}, app_id=7)


@pytest.mark.parametrize(
    ("who", "limit"),
    [(job("a/b"), 1000), (installation("a"), 5000), (ANNA, 5000), (APP, 5000), (ANONYMOUS, 60)],
)
def test_the_rate_limits(who: Identity, limit: int) -> None:
    usage = RateLimits().count(who, "core", NOON)
    assert (usage.limit, usage.used, usage.exceeded) == (limit, 1, False)


def test_the_hour_begins_with_the_first_request() -> None:
    rate_limits = RateLimits()
    rate_limits.per_hour["user"] = 2
    rate_limits.count(ANNA, "core", NOON)
    last = rate_limits.count(ANNA, "core", NOON + 30 * MINUTE)
    assert last.headers == {
        "x-ratelimit-limit": "2",
        "x-ratelimit-remaining": "0",
        "x-ratelimit-used": "2",
        "x-ratelimit-reset": str(int((NOON + 60 * MINUTE).timestamp())),
        "x-ratelimit-resource": "core",
    }
    refused = rate_limits.count(ANNA, "core", NOON + 59 * MINUTE)
    assert refused.exceeded and refused.headers == last.headers
    again = rate_limits.count(ANNA, "core", NOON + 60 * MINUTE)
    assert (again.exceeded, again.used) == (False, 1)


def test_asking_what_was_used_uses_nothing() -> None:
    rate_limits = RateLimits()
    assert rate_limits.usage(ANNA, "core", NOON).used == 0
    rate_limits.count(ANNA, "core", NOON)
    assert rate_limits.usage(ANNA, "core", NOON).used == 1


@pytest.mark.parametrize(
    ("first", "second", "together"),
    [
        (job("a/b"), job("A/B"), True),
        (job("a/b"), job("a/c"), False),
        (installation("a"), installation("A"), True),
        (installation("a"), installation("b"), False),
        (installation("a"), APP, False),
        (ANNA, BERT, False),
    ],
)
def test_whose_requests_are_counted_together(
    first: Identity, second: Identity, together: bool
) -> None:
    rate_limits = RateLimits()
    rate_limits.count(first, "core", NOON)
    assert rate_limits.count(second, "core", NOON).used == (2 if together else 1)
    assert rate_limits.count(first, "graphql", NOON).used == 1


@pytest.mark.parametrize(
    ("limits", "taken"),
    [
        ({}, [0, 10, 20, 20, 59, 60, 69, 70, 120, 3599, 3600]),
        ({"contents_per_minute": 2}, [0, 10, 60, 70, 120, 3599, 3600]),
        ({"contents_per_minute": 2, "contents_per_hour": 3}, [0, 10, 60, 3600]),
    ],
)
def test_contents_are_limited_where_that_is_switched_on(limits: Any, taken: list[int]) -> None:
    rate_limits = RateLimits(**limits)
    moments = [0, 10, 20, 20, 59, 60, 69, 70, 120, 3599, 3600]

    def is_taken(second: int) -> bool:
        return not rate_limits.exceeds_content_limit(ANNA, NOON + timedelta(seconds=second))

    assert [second for second in moments if is_taken(second)] == taken
    assert not rate_limits.exceeds_content_limit(BERT, NOON)
