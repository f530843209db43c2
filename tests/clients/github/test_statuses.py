from __future__ import annotations

from typing import Any

import pytest

from kalypso_actions.clients.github import GitHubError, statuses
from kalypso_actions.errors import KalypsoError
from kalypso_actions.model.github import CommitStatus
from tests.clients.github.response_bodies import status
from tests.clients.github.scripted_github import LOST, REPOSITORY, Step, conversation, refusal

COMMIT = "c" * 40
POST = f"POST /statuses/{COMMIT}"
PROMOTED = CommitStatus("dev environment", "pending", "Promoted")
POSTED: Step = (POST, 201, status())


def listed(**changes: Any) -> Step:
    """Answer the query for the statuses of the commit; without changes, it has `PROMOTED`."""
    latest = {
        "context": "dev environment",
        "state": "PENDING",
        "description": "Promoted",
        "createdAt": "2026-01-01T00:00:00Z",
        "targetUrl": None,
        "creator": {"__typename": "Bot", "login": "kalypso[bot]"},
    }
    return _answer({"contexts": [latest | changes]})


def _answer(status: Any) -> Step:
    commit = {"oid": COMMIT, "status": status}
    return ("POST /graphql", 200, {"data": {"repository": {"c0": commit}}})


NOTHING = _answer(None)
FOREIGN = {"creator": {"__typename": "User", "login": "mallory"}}


@pytest.mark.parametrize(
    ("steps", "posted"),
    [
        ([listed()], False),
        ([listed(**FOREIGN), POSTED], True),
        ([listed(context="DEV Environment")], False),
        ([NOTHING, POSTED], True),
        ([listed(state="SUCCESS"), POSTED], True),
        ([listed(description="Deploying"), POSTED], True),
        ([listed(targetUrl="https://ci"), POSTED], True),
        ([listed(context="qa environment"), POSTED], True),
        ([NOTHING, (POST, LOST, None), listed()], True),
        ([NOTHING, (POST, 502, None), NOTHING, POSTED], True),
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
    with conversation(NOTHING, POSTED) as recorded:
        statuses.post(recorded.github, REPOSITORY, COMMIT, wanted)
        assert recorded.bodies("POST")[-1:] == [sent]
    ours = {"targetUrl" if name == "target_url" else name: text for name, text in sent.items()}
    with conversation(listed(**ours)) as recorded:
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
        conversation(NOTHING, refused, NOTHING) as recorded,
        pytest.raises(GitHubError) as caught,
    ):
        statuses.post(recorded.github, REPOSITORY, COMMIT, PROMOTED)
    assert advice in caught.value.problem.advice
    assert "“dev environment”" in caught.value.problem.message
