"""Reviews of pull requests.

https://docs.github.com/rest/pulls/reviews
"""

from __future__ import annotations

from typing import Final

from kalypso_sandbox.github import events
from kalypso_sandbox.github.api import body_fields, lookups
from kalypso_sandbox.github.endpoints import Answer, Call, RefusedError, endpoint
from kalypso_sandbox.github.pagination import paginate
from kalypso_sandbox.github.payloads import reviews as payloads
from kalypso_sandbox.github.payloads.view import View
from kalypso_sandbox.store import Issue, Review

REVIEWS: Final = "/repos/{owner}/{repo}/pulls/{pull_number}/reviews"
STATES: Final = {
    "APPROVE": "APPROVED",
    "REQUEST_CHANGES": "CHANGES_REQUESTED",
    "COMMENT": "COMMENTED",
    None: "PENDING",
}
"""The event of a request -> the state of the review."""


@endpoint("GET", REVIEWS, "pull_requests: read", statuses=(200, 404))
def read_all(call: Call) -> Answer:
    """List the reviews, oldest first; only the author sees a pending one."""
    issue, pull_request = lookups.pull_request(call)
    visible = [
        review
        for review in pull_request.reviews
        if review.state != "PENDING" or review.author == call.identity.login
    ]
    page, headers = paginate(call, visible)
    view, repository = View.of(call), call.named_repository
    return Answer(
        200, [payloads.review(view, repository, issue, review) for review in page], headers
    )


@endpoint("POST", REVIEWS, "pull_requests: write", statuses=(200, 404, 422))
def create(call: Call) -> Answer:
    """Approve, request changes, or comment. Comments on lines are not supported."""
    issue, pull_request = lookups.pull_request(call)
    store, repository = call.store, call.named_repository
    event = body_fields.choice(call, "event", [name for name in STATES if name])
    text = body_fields.text(call.body, "body") or ""
    commit = body_fields.text(call.body, "commit_id") or pull_request.head_commit
    _check(call, issue, event, text)
    own_states = [
        review.state for review in pull_request.reviews if review.author == call.identity.login
    ]
    if "PENDING" in own_states:
        raise _unprocessable("User can only have one pending review per pull request")
    if store.git(repository).object_type(commit) != "commit":
        raise _unprocessable(f"No commit found for SHA: {commit}")
    review = Review.model_validate(
        {
            "id": store.new_id(),
            "author": call.identity.login,
            "state": STATES[event],
            "body": text,
            "commit": commit,
            "submitted_at": store.now if event else None,
        }
    )
    pull_request.reviews.append(review)
    issue.updated_at = store.now
    if event:
        events.review(store, repository, issue, pull_request, review, call.identity)
    return Answer(200, payloads.review(View.of(call), repository, issue, review))


def _check(call: Call, issue: Issue, event: str | None, text: str) -> None:
    """Refuse reviews of one's own pull request, and empty ones. Raises RefusedError."""
    if call.identity.login == issue.author and event in {"APPROVE", "REQUEST_CHANGES"}:
        verb = "approve" if event == "APPROVE" else "request changes on"
        raise _unprocessable(f"Can not {verb} your own pull request")
    allowed = call.named_repository.actions_may_open_pull_requests
    if call.identity.kind == "actions" and event == "APPROVE" and not allowed:
        raise _unprocessable("GitHub Actions is not permitted to approve pull requests.")
    if event in {"REQUEST_CHANGES", "COMMENT"} and not text.strip():
        raise _unprocessable("Body can't be blank")
    if len(text) > body_fields.MAX_BODY_LENGTH:
        raise _unprocessable(
            f"Body is too long (maximum is {body_fields.MAX_BODY_LENGTH} characters)"
        )
    if body_fields.listing(call.body, "comments"):
        raise _unprocessable("The sandbox does not support comments on lines")


def _unprocessable(reason: str) -> RefusedError:
    """Return a 422 with its reason as a string."""
    return RefusedError(422, "Unprocessable Entity", (reason,))
