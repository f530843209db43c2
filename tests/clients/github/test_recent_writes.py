"""Writes of a run that parts of GitHub do not show yet."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from kalypso_actions.clients.github import (
    GitHub,
    GitHubError,
    GitHubServer,
    TokenAuth,
    comments,
    issues,
    labels,
    merging,
    pull_requests,
    statuses,
)
from kalypso_actions.clients.github.connection import DELAYS
from kalypso_actions.model.github import CommitStatus
from kalypso_actions.model.own_account import MARK
from kalypso_sandbox import Fault, Sandbox
from kalypso_sandbox.store import BranchRule
from tests.clients.github.connections import Clock, Reply, scripted
from tests.clients.github.connections import connect as connect_to
from tests.git_repositories import programs

FLEET = "acme/fleet"
LAG = 3.0


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def sandbox(tmp_path: Path, clock: Clock) -> Iterator[Sandbox]:
    with Sandbox(tmp_path, programs(), now=lambda: clock.now, lag=LAG) as made:
        made.create_repository(FLEET, {"README": "x"})
        yield made


@pytest.fixture
def github(sandbox: Sandbox, clock: Clock) -> GitHub:
    return connect(sandbox, clock)


def connect(sandbox: Sandbox, clock: Clock) -> GitHub:
    """Return the connection of a job; people see everything at once."""
    environment = sandbox.environment()
    server = GitHubServer.of_environment(environment)
    auth = TokenAuth(sandbox.create_token("actions", owner="acme", repositories=[FLEET]))
    return GitHub(server, auth, environment, clock.sleep, lambda: clock.now)


def push(sandbox: Sandbox, github: GitHub, text: str = "1") -> str:
    """Push to the branch of the proposal, as the run of this connection."""
    git = sandbox.git(FLEET)
    if git.head("proposal") is None:
        git.update_ref("refs/heads/proposal", git.head("main"), None)
        with sandbox.lock:
            repository = sandbox.repository(FLEET)
            repository.branches_created_at["proposal"] = sandbox.store.now
    commit = sandbox.commit(FLEET, {"file": text}, branch="proposal")
    github.recent_writes.add_push(FLEET, "proposal", commit)
    return commit


def open_pull(github: GitHub, *label: str) -> int:
    pull, _ = pull_requests.ensure(
        github, FLEET, head="proposal", base="main", title="t", body=f"{MARK}-->", labels=label
    )
    return pull.number


def test_a_new_pull_request_of_a_new_branch(sandbox: Sandbox, github: GitHub, clock: Clock) -> None:
    push(sandbox, github)
    number = open_pull(github, "kalypso")
    assert labels.missing(["kalypso"], pull_requests.get(github, FLEET, number).labels) == []
    pause_between_writes = 1.0
    assert clock.waits == [1.0, 2.0, pause_between_writes, 1.0, 2.0]


EDITS: dict[str, Callable[[GitHub, int], object]] = {
    "label": lambda github, number: labels.add(github, FLEET, number, ["one"]),
    "comment": lambda github, number: comments.ensure(github, FLEET, number, "<!-- m -->", "c"),
    "edit": lambda github, _: open_pull(github),
    "close": lambda github, number: pull_requests.close(
        github, FLEET, number, mark="<!-- m -->", comment="c"
    ),
}


@pytest.mark.parametrize("edit", EDITS)
def test_an_edit_right_after_a_pull_request_was_opened(
    sandbox: Sandbox, github: GitHub, clock: Clock, edit: str
) -> None:
    push(sandbox, github)
    number = open_pull(github)
    clock.waits.clear()
    with sandbox.lock:
        sandbox.repository(FLEET).issues[number].body = f"{MARK}-->\nby somebody"
    EDITS[edit](github, number)
    assert clock.waits == [1.0, 2.0]


def test_a_comment_right_after_an_issue_was_opened(github: GitHub, clock: Clock) -> None:
    issue, _ = issues.ensure(github, FLEET, title="t", body="b", labels=["kalypso"])
    comments.ensure(github, FLEET, issue.number, "<!-- m -->", "c")
    assert clock.waits == [1.0, 2.0]


@pytest.mark.parametrize("pushed_at", ["opening", "later"])
def test_auto_merge_of_a_new_pull_request_or_head(
    sandbox: Sandbox, github: GitHub, clock: Clock, pushed_at: str
) -> None:
    with sandbox.lock:
        repository = sandbox.repository(FLEET)
        repository.rules.append(BranchRule(pattern="main", required_contexts=["build"]))
        repository.allow_auto_merge = True
    head = push(sandbox, github)
    number = open_pull(github)
    if pushed_at == "later":
        clock.sleep(60)
        head = push(sandbox, github, "2")
    clock.waits.clear()
    sandbox.traffic.clear()
    assert merging.enable_auto_merge(github, FLEET, number, head=head) is None
    assert clock.waits == [1.0, 2.0]
    reads = [
        exchange
        for exchange in sandbox.traffic
        if exchange.method == "GET" and exchange.status == 200
    ]
    assert len(reads) == 1


def test_a_merge_waits_for_the_head_that_this_run_has_pushed(
    sandbox: Sandbox, github: GitHub, clock: Clock
) -> None:
    push(sandbox, github)
    number = open_pull(github)
    clock.sleep(60)
    clock.waits.clear()
    head = push(sandbox, github, "2")
    assert isinstance(merging.merge(github, FLEET, number, head=head), merging.Merged)
    assert clock.waits == [1.0, 2.0]


def test_a_merge_does_not_wait_for_the_head_of_another_run(
    sandbox: Sandbox, github: GitHub, clock: Clock
) -> None:
    push(sandbox, github)
    number = open_pull(github)
    clock.sleep(60)
    clock.waits.clear()
    head = push(sandbox, connect(sandbox, clock), "2")
    refused = merging.merge(github, FLEET, number, head=head)
    assert isinstance(refused, merging.Refused)
    assert refused.reason.startswith("Head branch was modified")
    assert clock.waits == []


def test_a_pull_request_of_another_run_is_not_awaited(
    sandbox: Sandbox, github: GitHub, clock: Clock
) -> None:
    push(sandbox, github)
    number = open_pull(github)
    other = connect(sandbox, clock)
    clock.waits.clear()
    with pytest.raises(GitHubError, match="Not Found"):
        labels.add(other, FLEET, number, ["one"])
    assert clock.waits == []


def test_an_older_pull_request_of_this_run_is_not_awaited(
    sandbox: Sandbox, github: GitHub, clock: Clock
) -> None:
    push(sandbox, github)
    number = open_pull(github)
    clock.sleep(60)
    clock.waits.clear()
    with sandbox.lock:
        del sandbox.repository(FLEET).issues[number]
    with pytest.raises(GitHubError, match="Not Found"):
        labels.add(github, FLEET, number, ["one"])
    assert clock.waits == []


def test_a_wait_ends(sandbox: Sandbox, github: GitHub, clock: Clock) -> None:
    push(sandbox, github)
    sandbox.store.lag = 1000.0
    with pytest.raises(GitHubError, match="head invalid"):
        open_pull(github)
    assert clock.waits == list(DELAYS)


def test_a_status_of_a_commit_that_this_run_has_pushed() -> None:
    clock, commit = Clock(), "1" * 40
    unknown = Reply(422, {"message": f"No commit found for SHA: {commit}"})
    nothing = Reply(200, {"data": {"repository": {"c0": None}}})
    with scripted(nothing, unknown, nothing, Reply(201, {})) as server:
        github = connect_to(clock, url=server.url)
        github.recent_writes.add_push(FLEET, "proposal", commit)
        assert statuses.post(github, FLEET, commit, CommitStatus("dev", "pending", "Promoted"))
    assert clock.waits == [1.0]


def test_other_refusals_are_not_repeated(sandbox: Sandbox, github: GitHub, clock: Clock) -> None:
    push(sandbox, github)
    number = open_pull(github)
    clock.sleep(LAG)
    clock.waits.clear()
    fault = Fault("POST", "*/labels", "status", status=403, count=0)
    with sandbox.faults.on(fault), pytest.raises(GitHubError):
        labels.add(github, FLEET, number, ["one"])
    assert clock.waits == []
