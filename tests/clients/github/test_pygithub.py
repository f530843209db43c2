"""PyGithub's objects use our transport, whichever of their methods is called."""

from __future__ import annotations

import time
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
import responses
from github.Repository import Repository

from kalypso_actions.clients.github import GitHubError
from tests.clients.github.connections import NOON, REPOSITORY, Clock, connect

REFS = f"{REPOSITORY}/git/refs"
MADE = {
    "ref": "refs/heads/new",
    "node_id": "x",
    "url": f"{REFS}/heads/new",
    "object": {"type": "commit", "sha": "a" * 40, "url": f"{REPOSITORY}/git/commits/{'a' * 40}"},
}


def create_ref(repository: Repository) -> Any:
    return repository.create_git_ref("refs/heads/new", "a" * 40).ref


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Any:
    """GitHub; only the given clock may wait."""

    def wait(_: float) -> None:
        raise AssertionError("PyGithub waits by itself")

    monkeypatch.setattr(time, "sleep", wait)
    with responses.RequestsMock() as mock:
        yield mock


def ask(clock: Clock, call: Callable[[Repository], Any]) -> Any:
    github = connect(clock)
    return github.call("acme/fleet", "no", lambda: call(github.repository("acme/fleet")))


@pytest.mark.parametrize("status", [500, 502, 503, 504])
def test_a_write_is_sent_once_where_the_server_fails(
    server: responses.RequestsMock, status: int
) -> None:
    """PyGithub sends it up to eleven times."""
    server.post(REFS, status=status)
    with pytest.raises(GitHubError) as caught:
        ask(Clock(), create_ref)
    assert (caught.value.status, caught.value.uncertain) == (status, True)
    assert len(server.calls) == 1


def test_429_without_retry_after_is_waited_for(server: responses.RequestsMock) -> None:
    """PyGithub raises at once."""
    clock = Clock()
    server.post(REFS, status=429, json={"message": "too many requests"})
    server.post(REFS, status=201, json=MADE)
    assert ask(clock, create_ref) == "refs/heads/new"
    assert clock.waits == [60.0]


def test_an_hour_is_not_slept_through(server: responses.RequestsMock) -> None:
    """PyGithub sleeps until the limit is reset."""
    clock = Clock()
    reset = str(int((NOON + timedelta(hours=1)).timestamp()))
    headers = {"x-ratelimit-remaining": "0", "x-ratelimit-reset": reset}
    server.post(REFS, status=403, json={"message": "API rate limit exceeded"}, headers=headers)
    with pytest.raises(GitHubError, match="try again after 13:00 UTC"):
        ask(clock, create_ref)
    assert clock.waits == []


def test_nothing_is_waited_for_between_writes(server: responses.RequestsMock) -> None:
    """PyGithub lets a second pass."""
    clock = Clock()
    server.post(REFS, status=201, json=MADE)
    for _ in range(3):
        ask(clock, create_ref)
    assert clock.waits == []


def test_a_url_of_another_host_is_an_error_that_says_so(server: responses.RequestsMock) -> None:
    """PyGithub asserts."""
    server.post(REFS, status=201, json={**MADE, "url": "https://github.example.com/refs/new"})
    with pytest.raises(GitHubError, match=r"github\.example\.com, outside of"):
        ask(Clock(), lambda repository: repository.create_git_ref("refs/heads/new", "a").delete())
