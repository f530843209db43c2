"""Open, list, edit, close, reopen, review and merge pull requests."""

from __future__ import annotations

from collections.abc import Callable
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


Reviewer = Callable[..., None]


@pytest.fixture
def proposed(github: ApiClient) -> int:
    github.branch("side")
    return github.propose("side")


@pytest.fixture
def review(github: ApiClient, proposed: int) -> Reviewer:
    def say(login: str, event: str) -> None:
        token = github.sandbox.create_token(login=login)
        body = {"event": event, "body": "words"}
        github.made("POST", f"pulls/{proposed}/reviews", body, token=token)

    return say


def test_a_review(github: ApiClient, proposed: int, review: Reviewer) -> None:
    review("anna", "APPROVE")
    (response,) = github.made("GET", f"pulls/{proposed}/reviews")
    assert (response["user"]["login"], response["state"]) == ("anna", "APPROVED")
    assert (response["body"], response["commit_id"]) == ("words", github.head("side"))
    assert response["submitted_at"] == "2026-03-01T12:00:00Z"
    event = github.events("pull_request_review")[0]
    assert (event.payload["action"], event.payload["review"]["state"]) == ("submitted", "approved")
    assert (event.ref, event.starts_workflows) == ("refs/pull/1/merge", True)


def test_a_review_by_a_job_starts_nothing(github: ApiClient, proposed: int) -> None:
    github.made("POST", f"pulls/{proposed}/reviews", {"event": "APPROVE"}, token=github.job)
    assert not github.events("pull_request_review")[0].starts_workflows


@pytest.mark.parametrize(
    ("said", "reason"),
    [
        ("anna APPROVE", "At least 2 approving reviews are required"),
        ("anna APPROVE, anna APPROVE", "At least 2 approving reviews are required"),
        ("anna COMMENT, bert APPROVE", "At least 2 approving reviews"),
        ("anna APPROVE, bert APPROVE", ""),
        ("anna APPROVE, bert APPROVE, anna COMMENT", ""),
        ("anna APPROVE, bert APPROVE, anna REQUEST_CHANGES", "Changes have been requested."),
        ("anna REQUEST_CHANGES, anna APPROVE, bert APPROVE", ""),
    ],
)
def test_the_last_review_of_each_reviewer_counts(
    github: ApiClient, proposed: int, review: Reviewer, said: str, reason: str
) -> None:
    github.repository.rules.append(BranchRule(pattern="main", required_reviews=2))
    for words in said.split(", "):
        review(*words.split())
    response = github.made("GET", f"pulls/{proposed}")
    assert response["mergeable_state"] == ("blocked" if reason else "clean")
    if reason:
        assert reason in github.refused("PUT", f"pulls/{proposed}/merge", {})
    else:
        github.made("PUT", f"pulls/{proposed}/merge", {})


def test_reviews_count_only_if_they_are_required(
    github: ApiClient, proposed: int, review: Reviewer
) -> None:
    review("anna", "REQUEST_CHANGES")
    github.made("PUT", f"pulls/{proposed}/merge", {})


def test_only_the_author_sees_a_pending_review(github: ApiClient, proposed: int) -> None:
    anna = github.sandbox.create_token(login="anna")
    path = f"pulls/{proposed}/reviews"
    made = github.made("POST", path, {"body": "draft"}, token=anna)
    assert (made["state"], "submitted_at" in made) == ("PENDING", False)
    assert [review["id"] for review in github.made("GET", path, token=anna)] == [made["id"]]
    assert github.made("GET", path) == []
    assert github.events("pull_request_review") == []
    second = github.ask("POST", path, {"event": "APPROVE"}, token=anna)
    reason = "User can only have one pending review per pull request"
    assert (second.status_code, second.json()["errors"]) == (422, [reason])


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        ({"event": "APPROVE"}, "Can not approve your own pull request"),
        ({"event": "REQUEST_CHANGES", "body": "b"}, "Can not request changes on your own"),
        ({"event": "COMMENT"}, "Body can't be blank"),
        ({"event": "COMMENT", "body": "b" * 65_537}, "Body is too long"),
        ({"event": "COMMENT", "body": "b", "commit_id": "0" * 40}, "No commit found for SHA"),
        ({"comments": [{"path": "a", "body": "b"}]}, "The sandbox does not support comments on"),
    ],
)
def test_what_is_refused(github: ApiClient, proposed: int, body: object, reason: str) -> None:
    answer = github.ask("POST", f"pulls/{proposed}/reviews", body)
    assert (answer.status_code, answer.json()["message"]) == (422, "Unprocessable Entity")
    assert answer.json()["errors"][0].startswith(reason)


def test_jobs_may_approve_where_the_setting_says_so(github: ApiClient, proposed: int) -> None:
    github.repository.actions_may_open_pull_requests = False
    path = f"pulls/{proposed}/reviews"
    answer = github.ask("POST", path, {"event": "APPROVE"}, token=github.job)
    assert answer.json()["errors"] == ["GitHub Actions is not permitted to approve pull requests."]
    github.made("POST", path, {"event": "COMMENT", "body": "b"}, token=github.job)


def test_a_review_needs_the_permission(github: ApiClient, proposed: int) -> None:
    token = github.sandbox.create_token("user", {"contents": "write", "pull_requests": "read"})
    github.made("GET", f"pulls/{proposed}/reviews", token=token)
    refused = github.refused("POST", f"pulls/{proposed}/reviews", {}, token=token)
    assert refused == "403 Resource not accessible by personal access token"


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
    assert github.made("GET", f"commits/{sha}")["author"]["login"] == "somebody"


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
