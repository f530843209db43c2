"""Open, list, edit, close and reopen pull requests."""

from __future__ import annotations

from pathlib import Path

import pytest

from kalypso_sandbox import Sandbox
from tests.git_repositories import programs
from tests.sandbox.github.api_client import NAME, ApiClient, hub


def test_the_fields_of_a_pull_request(github: ApiClient) -> None:
    head = github.branch("feature", {"a": "1\n", "b": "2\n"})
    number = github.propose("feature", body="Text")
    response = github.made("GET", f"pulls/{number}")
    assert (response["head"]["label"], response["head"]["sha"]) == ("acme:feature", head)
    assert (response["base"]["ref"], response["base"]["sha"]) == ("main", github.root)
    assert (response["commits"], response["changed_files"], response["additions"]) == (1, 2, 2)
    assert (response["mergeable"], response["mergeable_state"], response["merged"]) == (
        True,
        "clean",
        False,
    )
    trial = response["merge_commit_sha"]
    assert github.git.commit(trial).parents == (github.root, head)
    assert github.git.refs()["refs/pull/1/merge"] == trial
    assert github.git.refs()["refs/pull/1/head"] == head
    assert [file["filename"] for file in github.made("GET", f"pulls/{number}/files")] == ["a", "b"]
    assert github.made("GET", f"issues/{number}")["pull_request"]["url"] == response["url"]


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        ({"head": "side", "base": "main"}, '422 Invalid request.\n\n"title" wasn\'t supplied.'),
        ({"title": "  ", "head": "side", "base": "main"}, "422 Validation Failed: title missing"),
        ({"title": "t" * 257, "head": "side", "base": "main"}, "422 Validation Failed: title is"),
        (
            {"title": "t", "head": "side", "base": "main", "body": "b" * 65_537},
            "422 Validation Failed: body is too long (maximum is 65536 characters)",
        ),
        (
            {"title": "t", "head": "main", "base": "main"},
            "422 Validation Failed: No commits between main and main",
        ),
        (
            {"title": "t", "head": "old", "base": "main"},
            "422 Validation Failed: No commits between main and old",
        ),
        (
            {"title": "t", "head": "proposed", "base": "main"},
            "422 Validation Failed: A pull request already exists for acme:proposed.",
        ),
        (
            {"title": "t", "head": "alone", "base": "main"},
            "422 Validation Failed: The alone branch has no history in common with main",
        ),
        ({"title": "t", "head": "nowhere", "base": "main"}, "422 Validation Failed: head invalid"),
        ({"title": "t", "head": "fork:side", "base": "main"}, "422 Validation Failed: head"),
        ({"title": "t", "head": "side", "base": "nowhere"}, "422 Validation Failed: base invalid"),
    ],
)
def test_invalid_proposals_are_refused(
    github: ApiClient, body: dict[str, str], reason: str
) -> None:
    for name in ("side", "proposed"):
        github.branch(name)
    github.made("POST", "git/refs", {"ref": "refs/heads/old", "sha": github.root})
    github.sandbox.commit(NAME, {"a": "1"}, branch="alone")
    github.propose("proposed")
    assert github.refused("POST", "pulls", body).startswith(reason)
    assert len(github.repository.issues) == 1


def test_a_branch_is_proposed_to_several_others(github: ApiClient) -> None:
    github.branch("side")
    github.made("POST", "git/refs", {"ref": "refs/heads/release", "sha": github.root})
    assert github.propose("side") != github.propose("side", "release")


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
        ("head=acme:a&base=release", []),
    ],
)
def test_pull_requests_are_found(github: ApiClient, query: str, numbers: list[int]) -> None:
    github.made("POST", "git/refs", {"ref": "refs/heads/release", "sha": github.root})
    for name in "abc":
        github.branch(name)
        github.propose(name, "release" if name == "c" else "main")
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
    assert (response["title"], response["body"], response["base"]["ref"]) == (
        "New",
        None,
        "release",
    )
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
    with Sandbox(tmp_path, programs()) as sandbox:
        assert sandbox.store.repositories == before
