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
from kalypso_actions.clients.github.merging import Merged, Method, Refused, merge, merge_as_allowed
from kalypso_sandbox import Sandbox
from kalypso_sandbox.embedded import Flavour
from kalypso_sandbox.store import BranchRule
from tests.clients.github.connections import Clock, write
from tests.clients.github.response_bodies import merged, pull
from tests.clients.github.scripted_github import LOST, REPOSITORY, Step, conversation, refusal
from tests.git_repositories import programs

HEAD = "a" * 40
GET = "GET /pulls/7"
PUT = "PUT /pulls/7/merge"

OPEN: Step = (GET, 200, pull())
ALREADY_MERGED: Step = (GET, 200, merged())
MERGED: Step = (PUT, 200, {"sha": "e" * 40, "merged": True, "message": "Pull Request merged"})
MERGEABILITY_UNKNOWN: Step = (
    PUT,
    405,
    refusal("Base branch was modified. Review and try the merge again."),
)


@pytest.mark.parametrize(
    "steps",
    [
        [OPEN, MERGED],
        [ALREADY_MERGED],
        [OPEN, (PUT, LOST, None), ALREADY_MERGED],
        [OPEN, (PUT, 502, None), OPEN, MERGED],
        # A proxy delivered the request twice; the second delivery finds nothing to merge.
        [OPEN, (PUT, 405, refusal("Pull Request is not mergeable")), ALREADY_MERGED],
        [OPEN, MERGEABILITY_UNKNOWN, OPEN, OPEN, MERGED],
    ],
)
def test_it_is_merged_once(steps: list[Step]) -> None:
    with conversation(*steps) as recorded:
        assert merge(recorded.github, REPOSITORY, 7, head=HEAD) == Merged("e" * 40)


@pytest.mark.parametrize("method", ["merge", "squash", "rebase"])
def test_the_checked_head_is_named(method: Method) -> None:
    with conversation(OPEN, MERGED) as recorded:
        merge(recorded.github, REPOSITORY, 7, head=HEAD, method=method)
        assert recorded.bodies("PUT") == [{"sha": HEAD, "merge_method": method}]


@pytest.mark.parametrize(
    ("status", "message"),
    [
        (405, "At least 1 approving review is required by reviewers with write access."),
        (405, "Merge commits are not allowed on this repository."),
        (409, "Head branch was modified. Review and try the merge again."),
        (422, "Repository rule violations found"),
    ],
)
def test_a_refused_merge_is_a_value(status: int, message: str) -> None:
    with conversation(OPEN, (PUT, status, refusal(message)), OPEN) as recorded:
        assert merge(recorded.github, REPOSITORY, 7, head=HEAD) == Refused(message)


NO_MERGES = refusal("Merge commits are not allowed on this repository.")
NO_SQUASHES = refusal("Squash merges are not allowed on this repository.")
NO_REBASES = refusal("Rebase merges are not allowed on this repository.")
LINEAR = refusal("This branch must not contain merge commits.")
REVIEW = refusal("At least 1 approving review is required by reviewers with write access.")


@pytest.mark.parametrize(
    ("refusals", "methods", "is_merged"),
    [
        ([], ["merge"], True),
        ([NO_MERGES], ["merge", "squash"], True),
        ([LINEAR], ["merge", "squash"], True),
        ([NO_MERGES, NO_SQUASHES], ["merge", "squash", "rebase"], True),
        ([NO_MERGES, NO_SQUASHES, NO_REBASES], ["merge", "squash", "rebase"], False),
        ([REVIEW], ["merge"], False),
        ([NO_MERGES, REVIEW], ["merge", "squash"], False),
    ],
)
def test_the_first_method_that_is_allowed(
    refusals: list[object], methods: list[str], is_merged: bool
) -> None:
    steps: list[Step] = [step for refused in refusals for step in (OPEN, (PUT, 405, refused), OPEN)]
    with conversation(*steps, *([OPEN, MERGED] if is_merged else [])) as recorded:
        result = merge_as_allowed(recorded.github, REPOSITORY, 7, head=HEAD)
        assert [body["merge_method"] for body in recorded.bodies("PUT")] == methods
    assert isinstance(result, Merged) == is_merged


def test_a_base_that_keeps_moving_is_refused_in_the_end() -> None:
    with conversation(*[OPEN, MERGEABILITY_UNKNOWN, OPEN] * 4) as recorded:
        result = merge(recorded.github, REPOSITORY, 7, head=HEAD)
        assert recorded.slept == [1.0, 3.0, 10.0]
    assert isinstance(result, Refused)


def test_another_head_that_was_merged_is_not_ours() -> None:
    with conversation((GET, 200, merged(head={**pull()["head"], "sha": "d" * 40}))) as recorded:
        result = merge(recorded.github, REPOSITORY, 7, head=HEAD)
    assert result == Refused(f"it is already merged, with the head {'d' * 40}")


@pytest.mark.parametrize(
    "steps",
    [
        [OPEN, (PUT, 403, refusal("Resource not accessible by integration"))],
        [OPEN, *[(PUT, LOST, None), OPEN] * 3],
    ],
)
def test_everything_else_is_an_error(steps: list[Step]) -> None:
    with conversation(*steps) as recorded, pytest.raises(GitHubError, match="#7 cannot be merged"):
        merge(recorded.github, REPOSITORY, 7, head=HEAD)


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
