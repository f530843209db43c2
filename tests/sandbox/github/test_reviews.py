"""Reviews: who may review a pull request, and their effect on branch rules."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from kalypso_sandbox.store import BranchRule
from tests.sandbox.github.api_client import NAME, ApiClient

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
    assert (response["user"]["login"], response["state"], response["body"]) == (
        "anna",
        "APPROVED",
        "words",
    )
    assert response["commit_id"] == github.head("side")
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
        ([("anna", "APPROVE")], "At least 2 approving reviews are required"),
        ([("anna", "APPROVE")] * 2, "At least 2 approving reviews are required"),
        ([("anna", "COMMENT"), ("bert", "APPROVE")], "At least 2 approving reviews"),
        ([("anna", "APPROVE"), ("bert", "APPROVE")], ""),
        ([("anna", "APPROVE"), ("bert", "APPROVE"), ("anna", "COMMENT")], ""),
        (
            [("anna", "APPROVE"), ("bert", "APPROVE"), ("anna", "REQUEST_CHANGES")],
            "Changes have been requested.",
        ),
        ([("anna", "REQUEST_CHANGES"), ("anna", "APPROVE"), ("bert", "APPROVE")], ""),
    ],
)
def test_the_last_review_of_each_reviewer_counts(
    github: ApiClient, proposed: int, review: Reviewer, said: list[tuple[str, str]], reason: str
) -> None:
    github.repository.rules.append(BranchRule(pattern="main", required_reviews=2))
    for login, event in said:
        review(login, event)
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
        (
            {"comments": [{"path": "a", "body": "b"}]},
            "The sandbox does not support comments on lines",
        ),
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
    token = github.sandbox.create_token(
        "user", {"contents": "write", "pull_requests": "read"}, repositories=[NAME]
    )
    github.made("GET", f"pulls/{proposed}/reviews", token=token)
    refused = github.refused("POST", f"pulls/{proposed}/reviews", {}, token=token)
    assert refused == "403 Resource not accessible by personal access token"
