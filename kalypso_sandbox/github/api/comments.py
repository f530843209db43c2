"""Comments on issues and pull requests.

https://docs.github.com/rest/issues/comments
"""

from __future__ import annotations

from typing import Final

from kalypso_sandbox.github.api import body_fields, lookups
from kalypso_sandbox.github.endpoints import Answer, Call, Json, endpoint, invalid
from kalypso_sandbox.github.pagination import paginate
from kalypso_sandbox.github.payloads import issues
from kalypso_sandbox.github.payloads.view import View
from kalypso_sandbox.store import Comment, Issue

OF_ISSUE: Final = "/repos/{owner}/{repo}/issues/{issue_number}/comments"
ONE: Final = "/repos/{owner}/{repo}/issues/comments/{comment_id}"
READ: Final = ("issues: read", "pull_requests: read")
WRITE: Final = ("issues: write", "pull_requests: write")


@endpoint("GET", OF_ISSUE, *READ, statuses=(200, 404))
def read_all(call: Call) -> Answer:
    """List the comments on an issue, oldest first."""
    issue = lookups.issue(call)
    page, headers = paginate(call, issue.comments)
    return Answer(200, [_payload(call, issue, comment) for comment in page], headers)


@endpoint("POST", OF_ISSUE, *WRITE, statuses=(201, 404, 422))
def create(call: Call) -> Answer:
    """Create a comment."""
    issue = lookups.issue(call)
    now = call.store.now
    comment = Comment(
        id=call.store.new_id(),
        body=_text(call),
        author=call.identity.login,
        created_at=now,
        updated_at=now,
    )
    issue.comments.append(comment)
    issue.updated_at = now
    answer = _payload(call, issue, comment)
    return Answer(201, answer, {"location": answer["url"]})


@endpoint("GET", ONE, *READ, statuses=(200, 404))
def read(call: Call) -> Answer:
    """Return a comment."""
    return Answer(200, _payload(call, *_comment(call)))


@endpoint("PATCH", ONE, *WRITE, statuses=(200, 404, 422))
def update(call: Call) -> Answer:
    """Change the text of a comment."""
    issue, comment = _comment(call)
    comment.body = _text(call)
    comment.updated_at = call.store.now
    return Answer(200, _payload(call, issue, comment))


@endpoint("DELETE", ONE, *WRITE, statuses=(204, 404))
def delete(call: Call) -> Answer:
    """Delete a comment."""
    issue, comment = _comment(call)
    issue.comments = [kept for kept in issue.comments if kept.id != comment.id]
    return Answer(204)


def _text(call: Call) -> str:
    body = body_fields.required_text(call.body, "body")
    if not body.strip():
        raise invalid("IssueComment", "body", "missing_field")
    if len(body) > body_fields.MAX_BODY_LENGTH:
        message = f"Body is too long (maximum is {body_fields.MAX_BODY_LENGTH} characters)"
        raise invalid("IssueComment", "data", "unprocessable", message)
    return body


def _comment(call: Call) -> tuple[Issue, Comment]:
    comment_id = call.parameters["comment_id"]
    for issue in call.named_repository.issues.values():
        for comment in issue.comments:
            if str(comment.id) == comment_id:
                return issue, comment
    raise lookups.not_found()


def _payload(call: Call, issue: Issue, comment: Comment) -> Json:
    return issues.comment(View.of(call), call.named_repository, issue, comment)
