"""Shared fields of issues and pull requests: title, body and state."""

from __future__ import annotations

from typing import Final

from kalypso_sandbox.github import events, issue_events, pull_request_changes
from kalypso_sandbox.github.api import body_fields
from kalypso_sandbox.github.endpoints import Call, Json, invalid
from kalypso_sandbox.store import Issue, PullRequest

MAX_TITLE_LENGTH: Final = 256


def title(call: Call, resource: str) -> str:
    """Return the title of a request, which must not be blank."""
    value = body_fields.required_text(call.body, "title").strip()
    if not value:
        raise invalid(resource, "title", "missing_field")
    if len(value) > MAX_TITLE_LENGTH:
        message = f"title is too long (maximum is {MAX_TITLE_LENGTH} characters)"
        raise invalid("Issue", "title", "custom", message)
    return value


def text(call: Call) -> str | None:
    """Return the body of a request. Raises RefusedError if it is too long."""
    value = body_fields.text(call.body, "body")
    if value and len(value) > body_fields.MAX_BODY_LENGTH:
        message = f"body is too long (maximum is {body_fields.MAX_BODY_LENGTH} characters)"
        raise invalid("Issue", "body", "custom", message)
    return value


def set_texts(call: Call, issue: Issue, new_title: str, new_text: str | None) -> None:
    """Set title and body; record the change of a pull request."""
    changes: dict[str, Json] = {}
    if new_title != issue.title:
        changes["title"] = {"from": issue.title}
        titles = (issue.title, new_title)
        issue_events.record(call.store, issue, "renamed", call.identity, renamed=titles)
    if new_text != issue.body:
        changes["body"] = {"from": issue.body or ""}
    issue.title, issue.body = new_title, new_text
    issue.updated_at = call.store.now
    if changes and issue.pull_request:
        record_edit(call, issue, issue.pull_request, changes)


def record_edit(
    call: Call, issue: Issue, pull_request: PullRequest, changes: dict[str, Json]
) -> None:
    """Record that a pull request was edited."""
    events.pull_request(
        call.store,
        call.named_repository,
        issue,
        pull_request,
        "edited",
        call.identity,
        changes=changes,
    )


def set_state(call: Call, issue: Issue, state: str, reason: str | None = None) -> None:
    """Close or reopen an issue; do nothing if it has this state already."""
    store, repository = call.store, call.named_repository
    pull_request = issue.pull_request
    if state == issue.state:
        issue.state_reason = reason or issue.state_reason
        return
    if pull_request is not None:
        if state == "closed":
            pull_request_changes.close(store, repository, issue, pull_request, call.identity)
        else:
            _check_reopening(call, issue, pull_request)
            pull_request_changes.reopen(store, repository, issue, pull_request, call.identity)
        return
    issue.state = "closed" if state == "closed" else "open"
    issue.state_reason = reason or ("completed" if state == "closed" else "reopened")
    issue.closed_at = store.now if state == "closed" else None
    issue.closed_by = call.identity.login if state == "closed" else ""
    event = "closed" if state == "closed" else "reopened"
    issue_events.record(store, issue, event, call.identity)


def _check_reopening(call: Call, issue: Issue, pull_request: PullRequest) -> None:
    """Refuse to reopen pull requests that are merged, lack a branch, or have an open duplicate."""
    if pull_request.merged_at:
        raise _unchangeable("The pull request has been merged.")
    git = call.store.git(call.named_repository)
    for branch in (pull_request.head_branch, pull_request.base_branch):
        if git.head(branch) is None:
            raise _unchangeable(f"The {branch} branch has been deleted.")
    head = git.commit(pull_request.head_branch).id
    if not git.is_ancestor(pull_request.head_commit, head):
        branch = pull_request.head_branch
        raise _unchangeable(f"The {branch} branch was force-pushed or recreated.")
    if git.is_ancestor(head, pull_request.base_branch):
        raise _unchangeable(f"There are no new commits on the {pull_request.head_branch} branch.")
    for other in call.named_repository.issues.values():
        if other.number != issue.number and is_open_between(
            other,
            pull_request.head_branch,
            pull_request.base_branch,
            pull_request.head_repository,
        ):
            raise _unchangeable(f"There is already an open pull request, #{other.number}.")
    pull_request.head_commit = head


def is_open_between(issue: Issue, head: str, base: str, head_repository: str) -> bool:
    """Return whether this is an open pull request between these branches."""
    pull_request = issue.pull_request
    if pull_request is None or issue.state == "closed":
        return False
    if pull_request.head_repository != head_repository:
        return False
    return (pull_request.head_branch, pull_request.base_branch) == (head, base)


def _unchangeable(reason: str) -> Exception:
    return invalid("PullRequest", "state", "custom", f"state cannot be changed. {reason}")
