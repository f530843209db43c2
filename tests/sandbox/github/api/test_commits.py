"""Comparisons, and commit statuses."""

from __future__ import annotations

import pytest

from kalypso_sandbox.github.branch_rules import combined_state, latest_statuses
from kalypso_sandbox.store import Status
from tests.sandbox.api_client import ApiClient
from tests.sandbox.served_sandbox import NOON


@pytest.mark.parametrize(
    ("base", "head", "status", "ahead", "behind"),
    [
        ("main", "main", "identical", 0, 0),
        ("main", "side", "diverged", 1, 2),
        ("v1", "main", "ahead", 2, 0),
        ("main", "v1", "behind", 0, 2),
        ("acme:main", "acme:side", "diverged", 1, 2),
    ],
)
def test_two_commits_compared(
    github: ApiClient, base: str, head: str, status: str, ahead: int, behind: int
) -> None:
    github.made("POST", "git/refs", {"ref": "refs/tags/v1", "sha": github.root})
    side = github.branch("side")
    commits = [github.commit("main", {"a": text}) for text in "12"]
    response = github.made("GET", f"compare/{base}...{head}")
    counts = response["ahead_by"], response["behind_by"]
    assert (response["status"], counts) == (status, (ahead, behind))
    wanted = {"diverged": [side], "ahead": commits}.get(status, [])
    assert [commit["sha"] for commit in response["commits"]] == wanted
    assert response["merge_base_commit"]["sha"] == (
        github.head("main") if status == "identical" else github.root
    )
    paths = {"diverged": ["side.txt"], "ahead": ["a"]}.get(status, [])
    assert [file["filename"] for file in response["files"]] == paths


def test_a_long_comparison_has_pages(github: ApiClient) -> None:
    person = github.git.commit(github.root).author
    tree = github.git.commit(github.root).tree
    made = [github.root]
    for number in range(253):
        made.append(github.git.make_commit(tree, [made[-1]], str(number), person, person))
    github.git.update_ref("refs/heads/long", made[-1], None)
    response = github.made("GET", "compare/main...long")
    assert (response["total_commits"], len(response["commits"])) == (253, 250)
    assert response["commits"][-1]["sha"] == made[-1]
    subjects = []
    answer = github.ask("GET", "compare/main...long?per_page=100")
    subjects += [commit["sha"] for commit in answer.json()["commits"]]
    while "next" in answer.links:
        address = answer.links["next"]["url"].removeprefix(github.sandbox.api_url)
        answer = github.ask("GET", address)
        subjects += [commit["sha"] for commit in answer.json()["commits"]]
    assert subjects == made[1:]
    assert answer.json()["files"] == []


def test_commits_without_a_common_one_are_not_compared(github: ApiClient) -> None:
    github.sandbox.commit("acme/fleet", {"a": "1"}, branch="alone")
    assert github.refused("GET", "compare/main...alone").startswith("404 No common ancestor")
    assert github.refused("GET", "compare/main...other:main") == "404 Not Found"
    assert github.refused("GET", "compare/main") == "404 Not Found"


def post(github: ApiClient, state: str, context: str = "k", **more: str) -> None:
    github.made("POST", f"statuses/{github.root}", {"state": state, "context": context, **more})


@pytest.mark.parametrize(
    ("states", "combined"),
    [
        ([], "pending"),
        (["success"], "success"),
        (["success", "pending"], "pending"),
        (["success", "error"], "failure"),
        (["pending", "failure"], "failure"),
    ],
)
def test_the_combined_status(github: ApiClient, states: list[str], combined: str) -> None:
    for number, state in enumerate(states):
        post(github, state, f"context {number}")
    assert combined_state(github.repository.statuses) == combined


def test_the_last_status_of_a_context_counts_whatever_its_case(github: ApiClient) -> None:
    post(github, "failure", "Kalypso/dev", description="first")
    post(github, "success", "kalypso/DEV", description="second")
    (latest,) = latest_statuses(github.repository, github.root).values()
    assert (latest.context, latest.description) == ("kalypso/DEV", "second")
    response = github.made("GET", f"commits/{github.root}/statuses")
    assert [status["description"] for status in response] == ["second", "first"]


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"state": None}, 'Invalid request.\n\n"state" wasn\'t supplied.'),
        ({"state": "green"}, "Invalid request.\n\nFor 'properties/state', green is not a"),
        ({"description": "é" * 141}, "Validation Failed: description is too long (maximum is 140"),
        ({"context": "c" * 256}, "Validation Failed: context is too long (maximum is 255"),
        ({"context": 5}, "Invalid request."),
        ({"target_url": "javascript:1"}, "Validation Failed: target_url"),
    ],
)
def test_a_status_that_is_refused(
    github: ApiClient, changes: dict[str, object], reason: str
) -> None:
    body = {"state": "success", **changes}
    given = {name: value for name, value in body.items() if value is not None}
    assert github.refused("POST", f"statuses/{github.root}", given).startswith(f"422 {reason}")
    assert github.repository.statuses == []


def test_the_longest_texts_are_taken(github: ApiClient) -> None:
    post(github, "success", "c" * 255, description="é" * 140)
    assert len(github.repository.statuses) == 1


def test_the_commit_must_exist(github: ApiClient) -> None:
    unknown = "1" * 40
    refused = github.refused("POST", f"statuses/{unknown}", {"state": "success"})
    assert refused == f"422 No commit found for SHA: {unknown}"
    assert github.refused("GET", "commits/nowhere/statuses") == "404 Not Found"


def test_a_commit_takes_a_thousand_statuses_of_a_context(github: ApiClient) -> None:
    github.repository.statuses = [
        Status(
            id=number,
            commit=github.root,
            context="K",
            state="success",
            description=None,
            target_url=None,
            author="a",
            created_at=NOON,
        )
        for number in range(1000)
    ]
    refused = github.refused("POST", f"statuses/{github.root}", {"state": "error", "context": "k"})
    assert "reached the maximum number of statuses" in refused
    post(github, "error", "another")
