"""Merge pull requests: the commits, GitHub's refusals, and the events."""

from __future__ import annotations

import pytest

from kalypso_sandbox.store import BranchRule
from tests.sandbox.github.api_client import ApiClient


def proposed(github: ApiClient, *, behind: bool = False) -> tuple[int, list[str]]:
    """Open a pull request of two commits, and return it with their ids; `behind` moves the base."""
    commits = [github.branch("side", {"a": "1\n"}), github.commit("side", {"b": "2\n"}, "Second")]
    if behind:
        github.commit("main", {"c": "3\n"})
    return github.propose("side"), commits


@pytest.mark.parametrize("method", ["merge", "squash", "rebase"])
@pytest.mark.parametrize("behind", [False, True])
def test_the_commits_of_a_merge(github: ApiClient, method: str, behind: bool) -> None:
    number, (_, head) = proposed(github, behind=behind)
    base = github.head("main")
    sha = github.made("PUT", f"pulls/{number}/merge", {"merge_method": method})["sha"]
    assert github.head("main") == sha
    commit = github.git.commit(sha)
    before = github.git.commits_between(base, sha)
    assert {"a", "b"} <= set(github.git.files("main"))
    assert ("c" in github.git.files("main")) == behind
    match method:
        case "merge":
            assert commit.parents == (base, head)
            assert commit.message == "Merge pull request #1 from acme/side\n\nTake side"
        case "squash":
            assert commit.parents == (base,)
            assert commit.message == "Take side (#1)\n\n* Change\n\n* Second"
        case _:
            assert [commit.message for commit in before] == ["Change", "Second"]
            assert [len(commit.parents) for commit in before] == [1, 1]
    assert commit.committer.name == "GitHub"
    response = github.made("GET", f"pulls/{number}")
    assert (response["merged"], response["state"], response["merge_commit_sha"]) == (
        True,
        "closed",
        sha,
    )
    assert response["merged_by"]["login"] == "somebody"
    assert github.git.head("side") == head


def test_the_message_of_a_merge(github: ApiClient) -> None:
    number, _ = proposed(github)
    body = {"commit_title": "Promote", "commit_message": "to qa", "merge_method": "squash"}
    sha = github.made("PUT", f"pulls/{number}/merge", body)["sha"]
    commit = github.git.commit(sha)
    assert commit.message == "Promote\n\nto qa"
    assert commit.author.name == "somebody"
    assert github.made("GET", f"commits/{sha}")["author"]["login"] == "somebody"


def test_what_follows_a_merge(github: ApiClient) -> None:
    number, (_, head) = proposed(github)
    sha = github.made("PUT", f"pulls/{number}/merge", {"sha": head})["sha"]
    closed, push = github.events()[-2:]
    assert (closed.name, closed.payload["action"]) == ("pull_request", "closed")
    assert closed.payload["pull_request"]["merged"] is True
    assert (closed.ref, closed.commit) == ("refs/heads/main", sha)
    assert (push.name, push.ref, push.payload["after"]) == ("push", "refs/heads/main", sha)
    assert len(push.payload["commits"]) == 3
    assert github.actions() == ["opened", "closed"]


def test_a_merge_by_a_job_starts_nothing(github: ApiClient) -> None:
    number, _ = proposed(github)
    github.made("PUT", f"pulls/{number}/merge", {}, token=github.job)
    assert [event.starts_workflows for event in github.events()[-2:]] == [False, False]
    assert github.events()[-1].actor == "github-actions[bot]"


def test_a_head_other_than_the_checked_one_is_not_merged(github: ApiClient) -> None:
    number, (first, _) = proposed(github)
    refused = github.refused("PUT", f"pulls/{number}/merge", {"sha": first})
    assert refused == "409 Head branch was modified. Review and try the merge again."
    assert github.issue(number).state == "open"


@pytest.mark.parametrize("method", ["merge", "squash", "rebase"])
def test_a_conflict_is_not_merged(github: ApiClient, method: str) -> None:
    github.branch("side", {"README.md": "side\n"})
    number = github.propose("side")
    base = github.commit("main", {"README.md": "main\n"})
    response = github.made("GET", f"pulls/{number}")
    assert (response["mergeable"], response["mergeable_state"]) == (False, "dirty")
    assert response["merge_commit_sha"] is None
    refused = github.refused("PUT", f"pulls/{number}/merge", {"merge_method": method})
    assert refused == "405 Pull Request is not mergeable"
    assert github.head("main") == base


@pytest.mark.parametrize(
    ("state", "reason"),
    [
        ("draft", "405 Pull Request is still a draft"),
        ("merged", "405 Pull Request is not mergeable"),
        ("closed", "405 Pull Request is not mergeable"),
    ],
)
def test_pull_requests_that_cannot_be_merged(github: ApiClient, state: str, reason: str) -> None:
    github.branch("side")
    number = github.propose("side", draft=state == "draft")
    if state == "merged":
        github.made("PUT", f"pulls/{number}/merge", {})
    if state == "closed":
        github.made("PATCH", f"pulls/{number}", {"state": "closed"})
    assert github.refused("PUT", f"pulls/{number}/merge", {}) == reason


def test_rules_are_met_before_a_merge(github: ApiClient) -> None:
    number, (_, head) = proposed(github)
    rule = BranchRule(pattern="main", required_reviews=1, required_contexts=["Kalypso"])
    github.repository.rules.append(rule)

    def refused() -> str:
        assert github.made("GET", f"pulls/{number}")["mergeable_state"] == "blocked"
        return github.refused("PUT", f"pulls/{number}/merge", {})

    review = "At least 1 approving review is required by reviewers with write access."
    assert refused() == f'405 {review} Required status check "Kalypso" is expected.'
    anna = github.sandbox.create_token(login="anna")
    github.made("POST", f"pulls/{number}/reviews", {"event": "APPROVE"}, token=anna)
    assert refused() == '405 Required status check "Kalypso" is expected.'
    for state, words in (("pending", "is pending"), ("failure", "is failing")):
        github.made("POST", f"statuses/{head}", {"state": state, "context": "kalypso"})
        assert refused() == f'405 Required status check "Kalypso" {words}.'
    github.made("POST", f"statuses/{head}", {"state": "success", "context": "kalypso"})
    assert github.made("GET", f"pulls/{number}")["mergeable_state"] == "clean"
    github.made("PUT", f"pulls/{number}/merge", {})


def test_merging_needs_the_permission_to_push(github: ApiClient) -> None:
    number, _ = proposed(github)
    github.repository.rules.append(
        BranchRule(pattern="main", restrict_pushes=True, may_push=["somebody"])
    )
    body = {"merge_method": "squash"}
    refused = github.refused("PUT", f"pulls/{number}/merge", body, token=github.job)
    assert refused == "405 You're not authorized to push to this branch."
    github.made("PUT", f"pulls/{number}/merge", body)


def test_a_failing_status_that_nobody_requires(github: ApiClient) -> None:
    number, (_, head) = proposed(github)
    github.made("POST", f"statuses/{head}", {"state": "error"})
    response = github.made("GET", f"pulls/{number}")
    assert (response["mergeable"], response["mergeable_state"]) == (True, "unstable")


def test_workflows_need_a_permission_of_their_own(github: ApiClient) -> None:
    github.branch("side", {".github/workflows/a.yaml": "on: push\n"})
    number = github.propose("side")
    job = github.sandbox.create_token("actions", {"contents": "write"}, repositories=["acme/fleet"])
    refused = github.refused("PUT", f"pulls/{number}/merge", {}, token=job)
    assert refused.startswith("403 refusing to allow a GitHub App to create or update workflow")
    assert github.head("main") == github.root
