"""Issues, including pull requests.

https://docs.github.com/rest/issues/issues
"""

from __future__ import annotations

from typing import Final

from kalypso_sandbox.github.api import body_fields, issue_editing, labels, lookups
from kalypso_sandbox.github.endpoints import Answer, Call, Json, endpoint
from kalypso_sandbox.github.pagination import paginate
from kalypso_sandbox.github.payloads import issues
from kalypso_sandbox.github.payloads.view import View
from kalypso_sandbox.store import Issue

ISSUES: Final = "/repos/{owner}/{repo}/issues"
ISSUE: Final = "/repos/{owner}/{repo}/issues/{issue_number}"
REASONS: Final = ("completed", "not_planned", "duplicate", "reopened")


@endpoint("GET", ISSUES, "issues: read", statuses=(200,))
def read_all(call: Call) -> Answer:
    """List issues by `state`, `labels` and `creator`, ordered by `sort` and `direction`."""
    labelled = {name.lower() for name in call.query.get("labels", "").split(",") if name}
    state = call.query.get("state", "open")
    creator = call.query.get("creator", "").lower()
    listed = [
        issue
        for issue in call.named_repository.issues.values()
        if state in {"all", issue.state}
        and labelled <= set(issue.labels)
        and creator in {"", issue.author.lower()}
    ]
    order = call.query.get("sort", "created")
    listed.sort(key=lambda issue: _sorted_by(issue, order))
    if call.query.get("direction") != "asc":
        listed.reverse()
    page, headers = paginate(call, listed)
    return Answer(200, [_payload(call, issue) for issue in page], headers)


@endpoint("POST", ISSUES, "issues: write", statuses=(201, 422))
def create(call: Call) -> Answer:
    """Create an issue with its labels."""
    repository, now = call.named_repository, call.store.now
    names = labels.names_in(body_fields.listing(call.body, "labels") or [])
    issue = Issue(
        id=call.store.new_id(),
        number=repository.next_number,
        title=issue_editing.title(call, "Issue"),
        body=issue_editing.text(call),
        author=call.identity.login,
        created_at=now,
        updated_at=now,
    )
    labels.put(call, issue, names)
    repository.next_number += 1
    repository.issues[issue.number] = issue
    answer = _payload(call, issue)
    return Answer(201, answer, {"location": answer["url"]})


@endpoint("GET", ISSUE, "issues: read", statuses=(200, 404))
def read(call: Call) -> Answer:
    """Return an issue."""
    return Answer(200, _payload(call, lookups.issue(call)))


@endpoint("PATCH", ISSUE, "issues: write", "pull_requests: write", statuses=(200, 404, 422))
def update(call: Call) -> Answer:
    """Change title, body, state or labels."""
    issue, body = lookups.issue(call), call.body
    state = body_fields.choice(call, "state", ("open", "closed"))
    reason = body_fields.choice(call, "state_reason", REASONS)
    new_labels = body_fields.listing(body, "labels")
    title = issue_editing.title(call, "Issue") if body.get("title") is not None else issue.title
    text = issue_editing.text(call) if "body" in body else issue.body
    issue_editing.set_texts(call, issue, title, text)
    if new_labels is not None:
        labels.put(call, issue, labels.names_in(new_labels))
    if state:
        issue_editing.set_state(call, issue, state, reason)
    return Answer(200, _payload(call, issue))


@endpoint("GET", f"{ISSUE}/events", "issues: read", statuses=(200, 404))
def read_events(call: Call) -> Answer:
    """List the events of an issue or a pull request, oldest first."""
    page, headers = paginate(call, lookups.issue(call).events)
    view, repository = View.of(call), call.named_repository
    return Answer(200, [issues.event(view, repository, event) for event in page], headers)


def _sorted_by(issue: Issue, order: str) -> tuple[object, int]:
    keys = {"updated": issue.updated_at, "comments": len(issue.comments)}
    return keys.get(order, issue.created_at), issue.number


def _payload(call: Call, issue: Issue) -> Json:
    return issues.issue(View.of(call), call.named_repository, issue)
