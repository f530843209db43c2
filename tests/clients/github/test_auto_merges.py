"""GitHub's auto-merge."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from kalypso_actions.clients.github import (
    GitHub,
    GitHubError,
    GitHubServer,
    TokenAuth,
    merging,
    pull_requests,
)
from kalypso_sandbox import Sandbox
from kalypso_sandbox.embedded import Flavour
from kalypso_sandbox.store import BranchRule
from tests.clients.github.connections import Clock, write
from tests.git_repositories import programs

FLEET = "acme/fleet"
CHECKED = BranchRule(pattern="main", required_contexts=["build"])


@pytest.fixture(params=["github.com", "ghes"])
def sandbox(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Sandbox]:
    flavour: Flavour = request.param
    with Sandbox(tmp_path, programs(), flavour=flavour) as made:
        made.create_repository(FLEET, {"README": "x"})
        git = made.git(FLEET)
        git.update_ref("refs/heads/proposal", git.head("main"), None)
        made.commit(FLEET, {"file": "1"}, branch="proposal")
        with made.lock:
            made.repository(FLEET).rules.append(CHECKED)
            made.repository(FLEET).allow_auto_merge = True
        yield made


@pytest.fixture
def github(sandbox: Sandbox) -> GitHub:
    return connect(sandbox)


def connect(sandbox: Sandbox, token: str = "") -> GitHub:
    environment, clock = sandbox.environment(), Clock()
    server = GitHubServer.of_environment(environment)
    auth = TokenAuth(token or sandbox.create_token(owner="acme"))
    return GitHub(server, auth, environment, clock.sleep, lambda: clock.now)


@pytest.fixture
def number(github: GitHub) -> int:
    pull, _ = pull_requests.ensure(github, FLEET, head="proposal", base="main", title="t", body="b")
    return pull.number


def head(sandbox: Sandbox) -> str:
    return sandbox.git(FLEET).head("proposal") or ""


def build(sandbox: Sandbox, github: GitHub) -> None:
    """Post the required status on the proposal's head."""
    body = {"state": "success", "context": "build"}
    write(github, FLEET, "POST", f"/statuses/{head(sandbox)}", body)


def test_github_merges_when_the_check_has_passed(
    sandbox: Sandbox, github: GitHub, number: int
) -> None:
    result = merging.merge_when_allowed(github, FLEET, number, head=head(sandbox))
    assert isinstance(result, merging.Enabled)
    assert "status check" in result.reason
    assert pull_requests.get(github, FLEET, number).auto_merge_by
    build(sandbox, github)
    assert pull_requests.get(github, FLEET, number).merged


def test_it_merges_a_later_push_as_well(sandbox: Sandbox, github: GitHub, number: int) -> None:
    assert merging.enable_auto_merge(github, FLEET, number, head=head(sandbox)) is None
    sandbox.commit(FLEET, {"file": "2"}, branch="proposal")
    build(sandbox, github)
    assert sandbox.git(FLEET).files("main")["file"] == b"2"


def test_it_does_not_merge_once_disabled(sandbox: Sandbox, github: GitHub, number: int) -> None:
    assert merging.enable_auto_merge(github, FLEET, number, head=head(sandbox)) is None
    assert merging.disable_auto_merge(github, FLEET, number).auto_merge_by == ""
    assert merging.disable_auto_merge(github, FLEET, number).auto_merge_by == ""
    build(sandbox, github)
    assert not pull_requests.get(github, FLEET, number).merged


def test_a_merge_before_it_could_be_disabled(sandbox: Sandbox, github: GitHub, number: int) -> None:
    merging.enable_auto_merge(github, FLEET, number, head=head(sandbox))
    build(sandbox, github)
    assert merging.disable_auto_merge(github, FLEET, number).merged


def test_a_repository_that_does_not_allow_it(sandbox: Sandbox, github: GitHub, number: int) -> None:
    with sandbox.lock:
        sandbox.repository(FLEET).allow_auto_merge = False
    result = merging.merge_when_allowed(github, FLEET, number, head=head(sandbox))
    assert isinstance(result, merging.Refused)
    assert "status check" in result.reason
    refused = merging.enable_auto_merge(github, FLEET, number, head=head(sandbox))
    assert refused is not None
    assert refused.reason == "Auto merge is not allowed for this repository"


def test_a_pull_request_that_can_be_merged_now(
    sandbox: Sandbox, github: GitHub, number: int
) -> None:
    build(sandbox, github)
    refused = merging.enable_auto_merge(github, FLEET, number, head=head(sandbox))
    assert refused is not None
    assert refused.reason.endswith("is in clean status")


def test_another_head(github: GitHub, number: int) -> None:
    refused = merging.enable_auto_merge(github, FLEET, number, head="1" * 40)
    assert refused is not None
    assert refused.reason.startswith("Head branch is out of date")


def test_a_token_that_may_not(sandbox: Sandbox, number: int) -> None:
    token = sandbox.create_token(
        "actions",
        permissions={"pull_requests": "write", "contents": "read"},
        owner="acme",
        repositories=[FLEET],
    )
    github = connect(sandbox, token)
    assert merging.enable_auto_merge(github, FLEET, number, head=head(sandbox)) is not None
    merging.enable_auto_merge(connect(sandbox), FLEET, number, head=head(sandbox))
    with pytest.raises(GitHubError, match="cannot be disabled") as refused:
        merging.disable_auto_merge(github, FLEET, number)
    assert "permission" in refused.value.problem.advice
