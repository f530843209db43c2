from __future__ import annotations

from typing import Any

import pytest

from kalypso_actions.clients.github import GitHubError, statuses
from kalypso_actions.errors import KalypsoError
from kalypso_actions.model.github import CommitStatus
from tests.clients.github.response_bodies import status
from tests.clients.github.scripted_github import LOST, REPOSITORY, Step, conversation, page, refusal

COMMIT = "c" * 40
LIST = f"GET /commits/{COMMIT}/status"
POST = f"POST /statuses/{COMMIT}"
PROMOTED = CommitStatus("dev environment", "pending", "Promoted")
POSTED: Step = (POST, 201, status())


def listed(*result: Any) -> Step:
    return (LIST, 200, {"state": "pending", "total_count": len(result), "statuses": list(result)})


def written(login: str = "kalypso[bot]", context: str = "dev environment") -> Step:
    """Answer the query for authors: the combined status has none."""
    latest = {
        "context": context,
        "state": "PENDING",
        "description": "Promoted",
        "createdAt": "2026-01-01T00:00:00Z",
        "targetUrl": None,
        "creator": {"__typename": "Bot" if login.endswith("]") else "User", "login": login},
    }
    commit = {"oid": COMMIT, "status": {"contexts": [latest]}}
    return ("POST /graphql", 200, {"data": {"repository": {"c0": commit}}})


def test_the_latest_of_each_context_on_every_page() -> None:
    with conversation(
        page(listed(status(context="Dev Environment")), f"/commits/{COMMIT}/status?page=2"),
        listed(status(context="ci", state="success", description=None, target_url="https://ci")),
    ) as recorded:
        result = statuses._latest(recorded.github, REPOSITORY, COMMIT)
        assert recorded.queries()[0] == {"per_page": "100"}
    assert result == {
        "dev environment": CommitStatus("Dev Environment", "pending", "Promoted"),
        "ci": CommitStatus("ci", "success", "", "https://ci"),
    }


def test_a_commit_without_statuses_has_none() -> None:
    with conversation(listed()) as recorded:
        assert statuses._latest(recorded.github, REPOSITORY, COMMIT) == {}


@pytest.mark.parametrize(
    ("steps", "posted"),
    [
        ([listed(status()), written()], False),
        ([listed(status()), written("mallory"), POSTED], True),
        ([listed(status(context="DEV Environment")), written()], False),
        ([listed(), POSTED], True),
        ([listed(status(state="success")), POSTED], True),
        ([listed(status(description="Deploying")), POSTED], True),
        ([listed(status(target_url="https://ci")), POSTED], True),
        ([listed(status(context="qa environment")), POSTED], True),
        ([listed(), (POST, LOST, None), listed(status()), written()], True),
        ([listed(), (POST, 502, None), listed(), POSTED], True),
    ],
)
def test_a_status_is_posted_where_it_says_something_new(steps: list[Step], posted: bool) -> None:
    with conversation(*steps) as recorded:
        assert statuses.post(recorded.github, REPOSITORY, COMMIT, PROMOTED) is posted


@pytest.mark.parametrize(
    ("wanted", "sent"),
    [
        (
            PROMOTED,
            {"context": "dev environment", "state": "pending", "description": "Promoted"},
        ),
        (
            CommitStatus("qa environment", "failure", "f" * 141, "https://run"),
            {
                "context": "qa environment",
                "state": "failure",
                "description": "f" * 139 + "…",
                "target_url": "https://run",
            },
        ),
    ],
)
def test_what_is_sent(wanted: CommitStatus, sent: Any) -> None:
    with conversation(listed(), POSTED) as recorded:
        statuses.post(recorded.github, REPOSITORY, COMMIT, wanted)
        assert recorded.bodies("POST") == [sent]
    ours = written(context=wanted.context)
    with conversation(listed(status(target_url=None) | sent), ours) as recorded:
        assert not statuses.post(recorded.github, REPOSITORY, COMMIT, wanted)


def test_a_context_that_is_too_long_is_not_sent() -> None:
    with conversation() as recorded, pytest.raises(KalypsoError, match="more than 255") as caught:
        statuses.post(recorded.github, REPOSITORY, COMMIT, CommitStatus("c" * 256, "error", ""))
    assert "environment's name" in caught.value.problem.advice


@pytest.mark.parametrize(
    ("message", "details", "advice"),
    [
        (
            "Validation Failed",
            ["This SHA and context has reached the maximum number of statuses."],
            "1000 statuses",
        ),
        (f"No commit found for SHA: {COMMIT}", [], "pushed to this repository"),
    ],
)
def test_a_refusal_says_what_to_change(message: str, details: list[str], advice: str) -> None:
    refused: Step = (POST, 422, refusal(message, *details))
    with (
        conversation(listed(), refused, listed()) as recorded,
        pytest.raises(GitHubError) as caught,
    ):
        statuses.post(recorded.github, REPOSITORY, COMMIT, PROMOTED)
    assert advice in caught.value.problem.advice
    assert "“dev environment”" in caught.value.problem.message
