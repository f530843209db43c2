"""Commit statuses: contexts without case, the combined state, the limits."""

from __future__ import annotations

import pytest

from kalypso_sandbox.store import Status
from tests.sandbox.github.api_client import NOW, ApiClient


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
    response = github.made("GET", "commits/main/status")
    assert (response["state"], response["total_count"]) == (combined, len(states))
    assert [status["state"] for status in response["statuses"]] == states


def test_the_last_status_of_a_context_counts_whatever_its_case(github: ApiClient) -> None:
    post(github, "failure", "Kalypso/dev", description="first")
    post(github, "success", "kalypso/DEV", description="second")
    (latest,) = github.made("GET", f"commits/{github.root}/status")["statuses"]
    assert (latest["context"], latest["description"]) == ("kalypso/DEV", "second")
    response = github.made("GET", f"commits/{github.root}/statuses")
    assert [status["description"] for status in response] == ["second", "first"]


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        ({}, '422 Invalid request.\n\n"state" wasn\'t supplied.'),
        ({"state": "green"}, "422 Invalid request.\n\nFor 'properties/state', green is not a"),
        (
            {"state": "success", "description": "é" * 141},
            "422 Validation Failed: description is too long (maximum is 140 characters)",
        ),
        (
            {"state": "success", "context": "c" * 256},
            "422 Validation Failed: context is too long (maximum is 255 characters)",
        ),
        ({"state": "success", "context": 5}, "422 Invalid request."),
        ({"state": "success", "target_url": "javascript:1"}, "422 Validation Failed: target_url"),
    ],
)
def test_a_status_that_is_refused(github: ApiClient, body: dict[str, object], reason: str) -> None:
    assert github.refused("POST", f"statuses/{github.root}", body).startswith(reason)
    assert github.repository.statuses == []


def test_the_longest_texts_are_taken(github: ApiClient) -> None:
    post(github, "success", "c" * 255, description="é" * 140)
    assert len(github.repository.statuses) == 1


def test_the_commit_must_exist(github: ApiClient) -> None:
    unknown = "1" * 40
    refused = github.refused("POST", f"statuses/{unknown}", {"state": "success"})
    assert refused == f"422 No commit found for SHA: {unknown}"
    assert github.refused("GET", "commits/nowhere/status") == "404 Not Found"


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
            created_at=NOW,
        )
        for number in range(1000)
    ]
    refused = github.refused("POST", f"statuses/{github.root}", {"state": "error", "context": "k"})
    assert "reached the maximum number of statuses" in refused
    post(github, "error", "another")


def test_the_combined_status_comes_in_pages_of_thirty(github: ApiClient) -> None:
    for number in range(31):
        post(github, "success", f"context {number}")
    answer = github.ask("GET", "commits/main/status")
    assert len(answer.json()["statuses"]) == 30
    assert answer.links["next"]["url"].endswith("/commits/main/status?page=2")
