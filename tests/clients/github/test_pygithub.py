"""What PyGithub does by itself: nothing passes the client's session, clock or credential."""

from __future__ import annotations

import itertools
import json
import logging
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from pathlib import Path
from typing import Any

import github as pygithub
import pytest
import responses
from responses import matchers

from kalypso_actions.clients.github import (
    AppAuth,
    GitHub,
    GitHubError,
    GitHubServer,
    TokenAuth,
    branches,
    comments,
    issues,
    labels,
    overviews,
    pull_requests,
    repositories,
    workflows,
)
from kalypso_actions.model.github import RegisteredPath
from kalypso_actions.model.own_account import MARK
from kalypso_sandbox import Sandbox
from tests.clients.github.app_keys import pem
from tests.clients.github.connections import (
    API,
    NOON,
    Clock,
    Reply,
    connect,
    read,
    scripted,
    write,
)
from tests.git_repositories import programs

FLEET = "acme/fleet"


def test_two_clients_in_two_threads_share_nothing(tmp_path: Path) -> None:
    """Both send at the same time, by their own proxy, certificates, token and clock."""
    rounds = 25
    meeting = threading.Barrier(2)
    clocks: dict[str, Clock] = {}
    clients: dict[str, GitHub] = {}

    def use(owner: str) -> list[Any]:
        answers = []
        for _ in range(rounds):
            meeting.wait(10)
            answers.append(read(clients[owner], f"{owner}/fleet", ""))
        return answers

    with responses.RequestsMock() as server, ThreadPoolExecutor(2) as pool:
        for owner, wait in (("acme", 7), ("other", 9)):
            proxies = {"https": f"http://proxy.{owner}.test:3128"}
            certificates = tmp_path / owner
            certificates.touch()
            environment = {"HTTPS_PROXY": proxies["https"], "SSL_CERT_FILE": str(certificates)}
            clocks[owner], auth = Clock(), TokenAuth(f"token-of-{owner}")
            clients[owner] = connect(clocks[owner], auth=auth, environment=environment)
            server.add_callback(
                "GET",
                f"{API}/repos/{owner}/fleet",
                limited_every_other_time(owner, wait),
                match=[
                    matchers.header_matcher({"Authorization": f"Bearer token-of-{owner}"}),
                    matchers.request_kwargs_matcher(
                        {"proxies": proxies, "verify": str(certificates)}
                    ),
                ],
            )
        results = dict(zip(clients, pool.map(use, clients), strict=True))
        assert len(server.calls) == 2 * 2 * rounds
    assert results == {owner: [{"name": owner}] * rounds for owner in clients}
    waits = {owner: clock.waits for owner, clock in clocks.items()}
    assert waits == {"acme": [7] * rounds, "other": [9] * rounds}
    requests = [client.quota.requests for client in clients.values()]
    assert requests == [2 * rounds] * 2


def limited_every_other_time(owner: str, wait: int) -> Callable[[object], Any]:
    numbers = itertools.count()

    def answer(_: object) -> tuple[int, dict[str, str], str]:
        if next(numbers) % 2:
            return 200, {}, json.dumps({"name": owner})
        return 429, {"Retry-After": str(wait)}, "{}"

    return answer


@pytest.fixture
def no_sleep(monkeypatch: pytest.MonkeyPatch) -> None:
    """Only the given clock may wait."""

    def wait(_: float) -> None:
        raise AssertionError("PyGithub sleeps by itself")

    monkeypatch.setattr(time, "sleep", wait)


@pytest.mark.usefixtures("no_sleep")
@pytest.mark.parametrize(
    ("replies", "waits"),
    [
        # PyGithub would sleep for two seconds, and send the request again.
        ([Reply(202, {"name": "fleet"})], []),
        # PyGithub would raise at once.
        ([Reply(429, {"message": "too many requests"}), Reply(200, {"name": "fleet"})], [60]),
        ([Reply(502, {}), Reply(200, {"name": "fleet"})], [1]),
        # PyGithub would fail at the number.
        (
            [
                Reply(
                    200, {"name": "fleet"}, {"x-ratelimit-remaining": "", "x-ratelimit-limit": "?"}
                )
            ],
            [],
        ),
    ],
)
def test_no_sleep_passes_the_clock(replies: list[Reply], waits: list[float]) -> None:
    clock = Clock()
    with scripted(*replies) as script:
        assert read(connect(clock, url=script.url), FLEET, "") == {"name": "fleet"}
    assert clock.waits == waits


@pytest.mark.usefixtures("no_sleep")
def test_an_hour_is_not_slept_through() -> None:
    """PyGithub would sleep until the limit is reset."""
    clock = Clock()
    reset = str(int((NOON + timedelta(hours=1)).timestamp()))
    headers = {"x-ratelimit-remaining": "0", "x-ratelimit-reset": reset}
    limit = Reply(403, {"message": "API rate limit exceeded"}, headers)
    with scripted(limit) as script, pytest.raises(GitHubError, match="after 13:00 UTC"):
        write(connect(clock, url=script.url), FLEET, "POST", "/labels", {"name": "x"})
    assert clock.waits == []


@pytest.mark.usefixtures("no_sleep")
def test_pygithub_does_not_pause_between_reads() -> None:
    with scripted(*[Reply(200, {"name": "fleet"})] * 3) as script:
        client = connect(url=script.url)
        for _ in range(3):
            read(client, FLEET, "")


def test_a_plug_in_may_use_pygithub_with_its_own_settings() -> None:
    """The connection classes are those of the whole process."""
    with scripted(Reply(200, {"name": "fleet"})) as script:
        theirs = pygithub.Github(auth=pygithub.Auth.Token("theirs"), base_url=script.url)
        assert theirs.get_repo(FLEET).name == "fleet"
        assert script.authorizations == ["token theirs"]


def test_no_log_has_a_body_or_a_token(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level("DEBUG")
    with scripted(
        Reply(200, {"id": 7, "suspended_at": None}),
        Reply(201, {"token": "ghs_1", "expires_at": "2026-03-01T13:00:00Z"}),
        Reply(201, {"name": "in the body"}),
    ) as script:
        write(connect(url=script.url, auth=AppAuth("1234", pem())), FLEET, "POST", "/labels", {})
    assert not logging.getLogger("github").isEnabledFor(logging.DEBUG)
    for secret in ("ghs_1", "in the body", *filter(None, script.authorizations)):
        assert secret not in caplog.text


def test_attributes_of_another_type_are_an_error() -> None:
    with (
        scripted(Reply(200, [{"name": {"of": "another type"}}])) as script,
        pytest.raises(GitHubError, match="the labels cannot be listed: PyGithub cannot read"),
    ):
        labels.names(connect(url=script.url), FLEET)


def test_the_credential_is_for_the_api_alone() -> None:
    """PyGithub itself takes URLs of other hosts of github.com for its own."""
    with pytest.raises(GitHubError, match="outside of https://api"):
        connect().call(
            FLEET,
            "no",
            lambda target: target.requester.requestJsonAndCheck("GET", "https://raw.github.com/x"),
        )


@pytest.fixture(scope="module")
def sandbox(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Sandbox]:
    with Sandbox(tmp_path_factory.mktemp("sandbox"), programs()) as made:
        workflow = "on: workflow_dispatch\njobs: {}\n"
        made.create_repository(FLEET, {"README": "x", ".github/workflows/cd.yaml": workflow})
        git = made.git(FLEET)
        client = client_of(made)
        for number in range(3):
            branch = f"feature-{number}"
            git.update_ref(f"refs/heads/{branch}", git.head("main"), None)
            made.commit(FLEET, {f"file-{number}": "1"}, branch=branch)
            body = f"{MARK}-->"
            pull_requests.ensure(client, FLEET, head=branch, base="main", title="t", body=body)
            issue, _ = issues.ensure(client, FLEET, title=branch, body=body, labels=["kalypso"])
        comments.ensure(client, FLEET, issue.number, MARK, "text")
        yield made


def client_of(sandbox: Sandbox) -> GitHub:
    environment = sandbox.environment()
    auth = TokenAuth(sandbox.create_token("user", owner="acme", repositories=[FLEET]))
    server = GitHubServer.of_environment(environment)
    return GitHub(server, auth, environment, sleep=lambda _: None)


READS: dict[str, tuple[Callable[[GitHub], Any], int]] = {
    "pulls": (lambda github: pull_requests.open_into(github, FLEET, "main"), 1),
    "pull": (lambda github: pull_requests.get(github, FLEET, 1), 1),
    "paths": (lambda github: pull_requests.changed_paths(github, FLEET, 1), 1),
    "issues": (lambda github: issues.find_all(github, FLEET), 1),
    "events": (lambda github: issues.events(github, FLEET, 2), 1),
    "comments": (lambda github: comments.marked(github, FLEET, 6, MARK.strip()), 1),
    "labels": (lambda github: labels.names(github, FLEET), 1),
    "workflows": (lambda github: workflows.states(github, FLEET), 1),
    "runs": (lambda github: workflows.unfinished(github, FLEET, "cd.yaml"), 5),
    "head": (lambda github: branches.head(github, FLEET, "main"), 1),
    "facts": (lambda github: repositories.get(github, FLEET), 1),
    "heads": (
        lambda github: overviews.read_registered_heads(github, [RegisteredPath(FLEET, "main", "")]),
        1,
    ),
}
"""Reads, and the number of their requests."""


@pytest.mark.parametrize("name", READS)
def test_no_attribute_sends_a_request(sandbox: Sandbox, name: str) -> None:
    """PyGithub requests an object anew for each attribute that a list of them lacks."""
    act, count = READS[name]
    client = client_of(sandbox)
    before = len(sandbox.traffic)
    result = act(client)
    assert result is not None
    assert len(list(sandbox.traffic)[before:]) == count


def test_the_objects_are_those_of_the_lists(sandbox: Sandbox) -> None:
    client = client_of(sandbox)
    assert [pull.title for pull in pull_requests.open_into(client, FLEET, "main")] == ["t"] * 3
    assert [issue.title for issue in issues.find_all(client, FLEET)] == [
        f"feature-{number}" for number in range(3)
    ]
