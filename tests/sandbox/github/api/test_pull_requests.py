"""Open, list, edit, close, reopen and merge pull requests."""

from __future__ import annotations

from pathlib import Path

import pytest

from kalypso_sandbox.github.api import pull_requests
from kalypso_sandbox.store import BranchRule
from tests.sandbox.api_client import ApiClient, hub
from tests.sandbox.served_sandbox import FLEET, serving


def test_the_fields_of_a_pull_request(github: ApiClient) -> None:
    head = github.branch("feature", {"a": "1\n", "b": "2\n"})
    number = github.propose("feature", body="Text")
    response = github.made("GET", f"pulls/{number}")
    assert (response["head"]["label"], response["head"]["sha"]) == ("acme:feature", head)
    assert (response["base"]["ref"], response["base"]["sha"]) == ("main", github.root)
    assert (response["commits"], response["changed_files"], response["additions"]) == (1, 2, 2)
    assert (response["mergeable_state"], response["merged"]) == ("clean", False)
    trial = response["merge_commit_sha"]
    assert github.git.commit(trial).parents == (github.root, head)
    assert github.git.refs()["refs/pull/1/merge"] == trial
    assert github.git.refs()["refs/pull/1/head"] == head
    assert [file["filename"] for file in github.made("GET", f"pulls/{number}/files")] == ["a", "b"]
    assert github.made("GET", f"issues/{number}")["pull_request"]["url"] == response["url"]


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"title": "  "}, "title missing"),
        ({"title": "t" * 257}, "title is"),
        ({"body": "b" * 65_537}, "body is too long (maximum is 65536 characters)"),
        ({"head": "main"}, "No commits between main and main"),
        ({"head": "old"}, "No commits between main and old"),
        ({"head": "proposed"}, "A pull request already exists for acme:proposed."),
        ({"head": "alone"}, "The alone branch has no history in common with main"),
        ({"head": "nowhere"}, "head invalid"),
        ({"head": "fork:side"}, "head"),
        ({"base": "nowhere"}, "base invalid"),
    ],
)
def test_invalid_proposals_are_refused(
    github: ApiClient, changes: dict[str, str], reason: str
) -> None:
    for name in ("side", "proposed"):
        github.branch(name)
    github.made("POST", "git/refs", {"ref": "refs/heads/old", "sha": github.root})
    github.sandbox.commit(FLEET, {"a": "1"}, branch="alone")
    github.propose("proposed")
    body = {"head": "side", "base": "main"}
    missing = '422 Invalid request.\n\n"title" wasn\'t supplied.'
    assert github.refused("POST", "pulls", body) == missing
    refused = github.refused("POST", "pulls", {"title": "t", **body, **changes})
    assert refused.startswith(f"422 Validation Failed: {reason}")
    assert len(github.repository.issues) == 1


@pytest.mark.parametrize(
    ("query", "numbers"),
    [
        ("", [3, 1]),
        ("state=closed", [2]),
        ("state=all", [3, 2, 1]),
        ("state=all&direction=asc", [1, 2, 3]),
        ("state=all&sort=updated", [1, 2, 3]),
        ("state=all&head=acme:b", [2]),
        ("state=all&head=ACME:b", [2]),
        ("state=all&head=acme:B", []),
        ("state=all&head=b", [3, 2, 1]),
        ("base=release", [3]),
        ("head=acme:a&base=release", [3]),
        ("head=acme:b&base=release", []),
    ],
)
def test_pull_requests_are_found(github: ApiClient, query: str, numbers: list[int]) -> None:
    github.made("POST", "git/refs", {"ref": "refs/heads/release", "sha": github.root})
    for name, base in (("a", "main"), ("b", "main"), ("a", "release")):
        if github.git.head(name) is None:
            github.branch(name)
        github.propose(name, base)
    github.made("PATCH", "pulls/2", {"state": "closed"})
    assert [pull["number"] for pull in github.made("GET", f"pulls?{query}")] == numbers


def test_a_jobs_token_needs_a_setting(github: ApiClient) -> None:
    github.branch("side")
    github.repository.actions_may_open_pull_requests = False
    body = {"title": "t", "head": "side", "base": "main"}
    refused = github.refused("POST", "pulls", body, token=github.job)
    assert refused == "403 GitHub Actions is not permitted to create or approve pull requests."
    github.made("POST", "pulls", body)


def test_edits_send_events(github: ApiClient) -> None:
    github.branch("side")
    github.made("POST", "git/refs", {"ref": "refs/heads/release", "sha": github.root})
    number = github.propose("side", body="old")
    github.made("PATCH", f"pulls/{number}", {"title": "New", "body": None, "base": "release"})
    response = github.made("PATCH", f"pulls/{number}", {"title": "New"})
    assert (response["body"], response["base"]["ref"]) == (None, "release")
    changes = [event.payload["changes"] for event in github.events("pull_request")[1:]]
    assert changes == [
        {"base": {"ref": {"from": "main"}, "sha": {"from": github.root}}},
        {"title": {"from": "Take side"}, "body": {"from": "old"}},
    ]
    github.made("PATCH", f"pulls/{number}", {"state": "closed"})
    refused = github.refused("PATCH", f"pulls/{number}", {"base": "main"})
    assert "Cannot change the base branch of a closed pull request." in refused


def test_closed_and_opened_again(github: ApiClient) -> None:
    github.branch("side")
    number = github.propose("side")
    response = github.made("PATCH", f"pulls/{number}", {"state": "closed"})
    assert (response["state"], response["mergeable"], response["merged"]) == ("closed", None, False)
    assert "refs/pull/1/merge" not in github.git.refs()
    ahead = github.commit("side", {"more": "1"})
    assert github.pull_request(number).head_commit != ahead
    response = github.made("PATCH", f"issues/{number}", {"state": "open"})
    assert (response["state"], github.pull_request(number).head_commit) == ("open", ahead)
    assert github.actions() == ["opened", "closed", "reopened"]


@pytest.mark.parametrize(
    ("what", "reason"),
    [
        ("merged", "The pull request has been merged."),
        ("deleted", "The side branch has been deleted."),
        ("forced", "The side branch was force-pushed or recreated."),
        ("emptied", "There are no new commits on the side branch."),
        ("another", "There is already an open pull request, #2."),
    ],
)
def test_pull_requests_that_cannot_be_reopened(github: ApiClient, what: str, reason: str) -> None:
    head = github.branch("side")
    number = github.propose("side")
    if what == "merged":
        github.made("PUT", f"pulls/{number}/merge", {})
    else:
        github.made("PATCH", f"pulls/{number}", {"state": "closed"})
    if what == "deleted":
        github.made("DELETE", "git/refs/heads/side")
    if what == "forced":
        other = github.branch("other")
        github.made("PATCH", "git/refs/heads/side", {"sha": other, "force": True})
    if what == "emptied":
        github.made("PATCH", "git/refs/heads/main", {"sha": head})
    if what == "another":
        github.propose("side")
    refused = github.refused("PATCH", f"pulls/{number}", {"state": "open"})
    assert refused == f"422 Validation Failed: state cannot be changed. {reason}"
    assert github.issue(number).state == "closed"


def test_pull_requests_survive_a_restart(tmp_path: Path) -> None:
    with hub(tmp_path) as github:
        github.branch("side")
        github.propose("side")
        before = github.sandbox.store.repositories
    with serving(tmp_path) as sandbox:
        assert sandbox.store.repositories == before


def two_commits(github: ApiClient, *, behind: bool = False) -> tuple[int, list[str]]:
    """Open a pull request of two commits, and return it with their ids; `behind` moves the base."""
    commits = [github.branch("side", {"a": "1\n"}), github.commit("side", {"b": "2\n"}, "Second")]
    if behind:
        github.commit("main", {"c": "3\n"})
    return github.propose("side"), commits


@pytest.mark.parametrize("method", ["merge", "squash", "rebase"])
@pytest.mark.parametrize("behind", [False, True])
def test_the_commits_of_a_merge(github: ApiClient, method: str, behind: bool) -> None:
    number, (_, head) = two_commits(github, behind=behind)
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
    assert (response["merged"], response["state"]) == (True, "closed")
    assert (response["merge_commit_sha"], response["merged_by"]["login"]) == (sha, "somebody")
    assert github.git.head("side") == head


def test_the_message_of_a_merge(github: ApiClient) -> None:
    number, _ = two_commits(github)
    body = {"commit_title": "Promote", "commit_message": "to qa", "merge_method": "squash"}
    sha = github.made("PUT", f"pulls/{number}/merge", body)["sha"]
    commit = github.git.commit(sha)
    assert (commit.message, commit.author.name) == ("Promote\n\nto qa", "somebody")


def test_what_follows_a_merge(github: ApiClient) -> None:
    number, (_, head) = two_commits(github)
    sha = github.made("PUT", f"pulls/{number}/merge", {"sha": head})["sha"]
    closed, push = github.events()[-2:]
    assert (closed.name, closed.payload["action"]) == ("pull_request", "closed")
    assert closed.payload["pull_request"]["merged"] is True
    assert (closed.ref, closed.commit) == ("refs/heads/main", sha)
    assert (push.name, push.ref, push.payload["after"]) == ("push", "refs/heads/main", sha)
    assert len(push.payload["commits"]) == 3
    assert github.actions() == ["opened", "closed"]


def test_a_merge_by_a_job_starts_nothing(github: ApiClient) -> None:
    number, _ = two_commits(github)
    github.made("PUT", f"pulls/{number}/merge", {}, token=github.job)
    assert [event.starts_workflows for event in github.events()[-2:]] == [False, False]
    assert github.events()[-1].actor == "github-actions[bot]"


def test_a_head_other_than_the_checked_one_is_not_merged(github: ApiClient) -> None:
    number, (first, _) = two_commits(github)
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
    number, (_, head) = two_commits(github)
    rule = BranchRule(pattern="main", required_reviews=1, required_contexts=["Kalypso"])
    github.repository.rules.append(rule)

    def refused() -> str:
        assert github.made("GET", f"pulls/{number}")["mergeable_state"] == "blocked"
        return github.refused("PUT", f"pulls/{number}/merge", {})

    review = "At least 1 approving review is required by reviewers with write access."
    assert refused() == f'405 {review} Required status check "Kalypso" is expected.'
    rule.required_reviews = 0
    assert refused() == '405 Required status check "Kalypso" is expected.'
    for state, words in (("pending", "is pending"), ("failure", "is failing")):
        github.made("POST", f"statuses/{head}", {"state": state, "context": "kalypso"})
        assert refused() == f'405 Required status check "Kalypso" {words}.'
    github.made("POST", f"statuses/{head}", {"state": "success", "context": "kalypso"})
    assert github.made("GET", f"pulls/{number}")["mergeable_state"] == "clean"
    github.made("PUT", f"pulls/{number}/merge", {})


def test_merging_needs_the_permission_to_push(github: ApiClient) -> None:
    number, _ = two_commits(github)
    rule = BranchRule(pattern="main", restrict_pushes=True, may_push=["somebody"])
    github.repository.rules.append(rule)
    body = {"merge_method": "squash"}
    refused = github.refused("PUT", f"pulls/{number}/merge", body, token=github.job)
    assert refused == "405 You're not authorized to push to this branch."
    github.made("PUT", f"pulls/{number}/merge", body)


def test_a_failing_status_that_nobody_requires(github: ApiClient) -> None:
    number, (_, head) = two_commits(github)
    github.made("POST", f"statuses/{head}", {"state": "error"})
    response = github.made("GET", f"pulls/{number}")
    assert (response["mergeable"], response["mergeable_state"]) == (True, "unstable")


def test_workflows_need_a_permission_of_their_own(github: ApiClient) -> None:
    github.branch("side", {".github/workflows/a.yaml": "on: push\n"})
    number = github.propose("side")
    job = github.sandbox.create_token("actions", {"contents": "write"})
    refused = github.refused("PUT", f"pulls/{number}/merge", {}, token=job)
    assert refused.startswith("403 refusing to allow a GitHub App to create or update workflow")
    assert github.head("main") == github.root


def test_no_more_files_of_a_pull_request(
    github: ApiClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pull_requests, "MAX_FILES", 3)
    github.branch("side", {f"file-{number}": "x" for number in range(5)})
    number = github.propose("side")
    files = github.made("GET", f"pulls/{number}/files?per_page=100")
    assert [file["filename"] for file in files] == ["file-0", "file-1", "file-2"]
