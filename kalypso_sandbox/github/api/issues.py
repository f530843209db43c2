"""Issues, their comments and labels, and what issues and pull requests share: title, body, state.

https://docs.github.com/rest/issues: issues, comments, labels
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

from kalypso_sandbox.github import events, pushes
from kalypso_sandbox.github.access import access_of_event
from kalypso_sandbox.github.api import requests
from kalypso_sandbox.github.endpoints import Call, RefusedError, endpoint, invalid
from kalypso_sandbox.github.payloads import issues as payloads
from kalypso_sandbox.json_http import Answer, Json
from kalypso_sandbox.store import Comment, Issue, Label

ISSUES: Final = "/repos/{owner}/{repo}/issues"
ISSUE: Final = f"{ISSUES}/{{issue_number}}"
COMMENTS: Final = f"{ISSUE}/comments"
COMMENT: Final = f"{ISSUES}/comments/{{comment_id}}"
REASONS: Final = ("completed", "not_planned", "duplicate", "reopened")
MAX_TITLE_LENGTH: Final = 256

LABELS: Final = "/repos/{owner}/{repo}/labels"

LABEL: Final = "/repos/{owner}/{repo}/labels/{name}"

OF_ISSUE: Final = "/repos/{owner}/{repo}/issues/{issue_number}/labels"

ONE_OF_ISSUE: Final = "/repos/{owner}/{repo}/issues/{issue_number}/labels/{name}"

READ: Final = ("issues: read", "pull_requests: read")

WRITE: Final = ("issues: write", "pull_requests: write")

COLOR: Final = re.compile(r"[0-9a-fA-F]{6}")

MAX_NAME_LENGTH: Final = 50

MAX_DESCRIPTION_LENGTH: Final = 100

MAX_LABELS: Final = 100


@endpoint("GET", ISSUES, "issues: read", statuses=(200,))
def read_all(call: Call) -> Answer:
    """List issues by `state`, `labels` and `creator`, ordered by `sort` and `direction`."""
    labelled = {name.lower() for name in call.query.get("labels", "").split(",") if name}
    state = call.query.get("state", "open")
    creator = call.query.get("creator", "").lower()
    matching = [
        issue
        for issue in call.repository.issues.values()
        if state in {"all", issue.state}
        and labelled <= set(issue.labels)
        and creator in {"", issue.author.lower()}
    ]
    newest_first = call.query.get("direction") != "asc"
    return requests.listed(call, sort(call, matching, "comments", newest_first), payloads.issue)


@endpoint("POST", ISSUES, "issues: write", statuses=(201, 422))
def create(call: Call) -> Answer:
    """Create an issue with its labels."""
    names = names_in(requests.listing(call.body, "labels") or [])
    issue = new_issue(call, title(call, "Issue"), body(call))
    put_labels(call, issue, names)
    add(call, issue)
    return requests.created(payloads.issue(call, issue))


@endpoint("GET", ISSUE, "issues: read", statuses=(200, 404))
def read(call: Call) -> Answer:
    """Return an issue."""
    return Answer(200, payloads.issue(call, requests.issue(call)))


@endpoint("PATCH", ISSUE, "issues: write", "pull_requests: write", statuses=(200, 404, 422))
def update(call: Call) -> Answer:
    """Change title, body, state or labels."""
    issue = requests.issue(call)
    state = requests.choice(call, "state", ("open", "closed"))
    reason = requests.choice(call, "state_reason", REASONS)
    new_labels = requests.listing(call.body, "labels")
    texts = new_texts(call, issue, "Issue")
    set_texts(call, issue, *texts)
    if new_labels is not None:
        put_labels(call, issue, names_in(new_labels))
    if state:
        set_state(call, issue, state, reason)
    return Answer(200, payloads.issue(call, issue))


@endpoint("GET", f"{ISSUE}/events", "issues: read", statuses=(200, 404))
def read_events(call: Call) -> Answer:
    """List the events of an issue or a pull request, oldest first."""
    return requests.listed(call, requests.issue(call).events, payloads.event)


@endpoint("GET", COMMENTS, *READ, statuses=(200, 404))
def read_comments(call: Call) -> Answer:
    """List the comments on an issue or a pull request, oldest first."""
    issue = requests.issue(call)
    return requests.listed(
        call, issue.comments, lambda _, comment: payloads.comment(call, issue, comment)
    )


@endpoint("POST", COMMENTS, *WRITE, statuses=(201, 404, 422))
def create_comment(call: Call) -> Answer:
    """Create a comment."""
    issue, now = requests.issue(call), call.store.now
    comment = Comment(
        id=call.store.new_id(),
        body=_comment_text(call),
        author=call.identity.login,
        created_at=now,
        updated_at=now,
    )
    issue.comments.append(comment)
    issue.updated_at = now
    return requests.created(payloads.comment(call, issue, comment))


@endpoint("PATCH", COMMENT, *WRITE, statuses=(200, 404, 422))
def update_comment(call: Call) -> Answer:
    """Change the text of a comment."""
    issue, comment = _comment(call)
    comment.body = _comment_text(call)
    comment.updated_at = call.store.now
    return Answer(200, payloads.comment(call, issue, comment))


@endpoint("DELETE", COMMENT, *WRITE, statuses=(204, 404))
def delete_comment(call: Call) -> Answer:
    """Delete a comment."""
    issue, comment = _comment(call)
    issue.comments = [kept for kept in issue.comments if kept.id != comment.id]
    return Answer(204)


def sort(call: Call, issues: list[Issue], by_comments: str, newest_first: bool) -> list[Issue]:
    """Return issues in the requested order; `by_comments` is its name for the most comments."""

    def key(issue: Issue) -> tuple[object, int]:
        keys = {"updated": issue.updated_at, by_comments: len(issue.comments)}
        return keys.get(call.query.get("sort", ""), issue.created_at), issue.number

    return sorted(issues, key=key, reverse=newest_first)


def new_issue(call: Call, title: str, body: str | None) -> Issue:
    """Return an issue with the next number, which `add` adds to the repository."""
    return Issue(
        id=call.store.new_id(),
        number=call.repository.next_number,
        title=title,
        body=body,
        author=call.identity.login,
        created_at=call.store.now,
        updated_at=call.store.now,
    )


def add(call: Call, issue: Issue) -> None:
    """Add a new issue to the repository."""
    call.repository.next_number += 1
    call.repository.issues[issue.number] = issue


def title(call: Call, resource: str) -> str:
    """Return the title of a request, which must not be blank."""
    value = requests.required_text(call.body, "title").strip()
    if not value:
        raise invalid(resource, "title", "missing_field")
    requests.check_length("Issue", "title", value, MAX_TITLE_LENGTH)
    return value


def body(call: Call) -> str | None:
    """Return the body of a request. Raises RefusedError if it is too long."""
    value = requests.text(call.body, "body")
    requests.check_length("Issue", "body", value, requests.MAX_BODY_LENGTH)
    return value


def new_texts(call: Call, issue: Issue, resource: str) -> tuple[str, str | None]:
    """Return the title and body of a request, by default those of the issue."""
    new_title = title(call, resource) if call.body.get("title") is not None else issue.title
    return new_title, body(call) if "body" in call.body else issue.body


def set_texts(call: Call, issue: Issue, new_title: str, new_body: str | None) -> None:
    """Set title and body; record the change of a pull request."""
    changes: dict[str, Json] = {}
    if new_title != issue.title:
        changes["title"] = {"from": issue.title}
        pushes.record(call, issue, "renamed", renamed=(issue.title, new_title))
    if new_body != issue.body:
        changes["body"] = {"from": issue.body or ""}
    issue.title, issue.body = new_title, new_body
    issue.updated_at = call.store.now
    if changes and issue.pull_request:
        events.pull_request(call, issue, "edited", changes=changes)


def set_state(call: Call, issue: Issue, state: str, reason: str | None = None) -> None:
    """Close or reopen an issue; do nothing if it has this state already."""
    if state == issue.state:
        issue.state_reason = reason or issue.state_reason
        return
    closes = state == "closed"
    if issue.pull_request is not None:
        if closes:
            pushes.close(call, issue)
        else:
            _check_reopening(call, issue)
            pushes.reopen(call, issue)
        return
    issue.state = "closed" if closes else "open"
    issue.state_reason = reason or ("completed" if closes else "reopened")
    issue.closed_at = call.store.now if closes else None
    issue.closed_by = call.identity.login if closes else ""
    pushes.record(call, issue, "closed" if closes else "reopened")


def is_open_between(issue: Issue, head: str, base: str, head_repository: str) -> bool:
    """Return whether this is an open pull request between these branches."""
    pull = issue.pull_request
    return (
        pull is not None
        and issue.state == "open"
        and (pull.head_branch, pull.base_branch) == (head, base)
        and pull.head_repository == head_repository
    )


def _check_reopening(call: Call, issue: Issue) -> None:
    """Refuse to reopen pull requests that are merged, lack a branch, or have an open duplicate."""
    git, pull = call.git, issue.pull
    if pull.merged_at:
        raise _unchangeable("The pull request has been merged.")
    for branch in (pull.head_branch, pull.base_branch):
        if git.head(branch) is None:
            raise _unchangeable(f"The {branch} branch has been deleted.")
    head = git.commit(pull.head_branch).id
    if not git.is_ancestor(pull.head_commit, head):
        raise _unchangeable(f"The {pull.head_branch} branch was force-pushed or recreated.")
    if git.is_ancestor(head, pull.base_branch):
        raise _unchangeable(f"There are no new commits on the {pull.head_branch} branch.")
    for other in call.repository.issues.values():
        ends = (pull.head_branch, pull.base_branch, pull.head_repository)
        if other.number != issue.number and is_open_between(other, *ends):
            raise _unchangeable(f"There is already an open pull request, #{other.number}.")
    pull.head_commit = head


def _unchangeable(reason: str) -> RefusedError:
    return invalid("PullRequest", "state", "custom", f"state cannot be changed. {reason}")


def _comment_text(call: Call) -> str:
    text = requests.required_text(call.body, "body")
    if not text.strip():
        raise invalid("IssueComment", "body", "missing_field")
    if len(text) > requests.MAX_BODY_LENGTH:
        message = f"Body is too long (maximum is {requests.MAX_BODY_LENGTH} characters)"
        raise invalid("IssueComment", "data", "unprocessable", message)
    return text


def _comment(call: Call) -> tuple[Issue, Comment]:
    comment_id = call.parameters["comment_id"]
    for issue in call.repository.issues.values():
        for comment in issue.comments:
            if str(comment.id) == comment_id:
                return issue, comment
    raise requests.not_found()


@endpoint("GET", LABELS, *READ, statuses=(200,))
def read_labels(call: Call) -> Answer:
    """List the labels of the repository."""
    return requests.listed(call, list(call.repository.labels.values()), payloads.label)


@endpoint("POST", LABELS, *WRITE, statuses=(201, 422))
def create_label(call: Call) -> Answer:
    """Create a label."""
    name = requests.required_text(call.body, "name")
    if name.lower() in call.repository.labels:
        raise invalid("Label", "name", "already_exists")
    return requests.created(payloads.label(call, _new_label(call, name, call.body)))


@endpoint("GET", LABEL, *READ, statuses=(200, 404))
def read_label(call: Call) -> Answer:
    """Return a label."""
    return Answer(200, payloads.label(call, _named_label(call)))


@endpoint("DELETE", LABEL, *WRITE, statuses=(204, 404))
def delete_label(call: Call) -> Answer:
    """Delete a label, and remove it from every issue."""
    key = _named_label(call).name.lower()
    del call.repository.labels[key]
    for issue in call.repository.issues.values():
        issue.labels = [label for label in issue.labels if label != key]
    return Answer(204)


@endpoint("GET", OF_ISSUE, *READ, statuses=(200, 404))
def read_labels_of_issue(call: Call) -> Answer:
    """List the labels of an issue."""
    page, headers = requests.paginate(call, payloads.labels(call, requests.issue(call)))
    return Answer(200, page, headers)


@endpoint("POST", OF_ISSUE, *WRITE, statuses=(200, 404, 422))
def add_labels(call: Call) -> Answer:
    """Add labels to an issue; create missing ones.

    GitHub answers 422 for a while after the issue's creation.
    """
    unknown = RefusedError(422, "Validation Failed", (requests.ISSUE_NOT_FOUND,))
    issue = requests.issue(call, unknown)
    put_labels(call, issue, [*issue.labels, *_requested(call)])
    return _labels(call, issue)


@endpoint("DELETE", ONE_OF_ISSUE, *WRITE, statuses=(200, 404))
def remove_label(call: Call) -> Answer:
    """Remove a label from an issue."""
    issue = requests.issue(call)
    name = call.parameters["name"].lower()
    if name not in issue.labels:
        raise RefusedError(404, "Label does not exist")
    put_labels(call, issue, [key for key in issue.labels if key != name])
    return _labels(call, issue)


def put_labels(call: Call, issue: Issue, names: list[str]) -> None:
    """Set the labels of an issue; create missing ones, and record each change."""
    before = list(issue.labels)
    for name in names:
        if name.lower() not in call.repository.labels:
            _new_label(call, name, {})
    after = list(dict.fromkeys(name.lower() for name in names))
    if len(after) > MAX_LABELS:
        raise invalid("Issue", "labels")
    if after == before:
        return
    issue.labels = after
    issue.updated_at = call.store.now
    _record_changes(call, issue, "labeled", [key for key in after if key not in before])
    _record_changes(call, issue, "unlabeled", [key for key in before if key not in after])


def names_in(values: Json) -> list[str]:
    """Return the names of a request's labels: strings, or objects with a name."""
    given = [value.get("name") if isinstance(value, dict) else value for value in values]
    names = [name for name in given if isinstance(name, str) and name]
    if len(names) < len(given):
        raise invalid("Label", "name")
    return names


def _record_changes(call: Call, issue: Issue, action: str, keys: list[str]) -> None:
    changed = [call.repository.labels[key] for key in keys]
    for label in changed:
        pushes.record(call, issue, action, label=(label.name, label.color))
    if issue.pull_request is not None:
        of_event = access_of_event(call.store, call.repository, call.identity)
        for label in changed:
            events.pull_request(call, issue, action, label=payloads.label(of_event, label))


def _requested(call: Call) -> list[str]:
    """Return the names in a body that is a list, or an object with `labels`."""
    body = call.body
    return names_in(body if isinstance(body, list) else requests.listing(body, "labels") or [])


def _named_label(call: Call) -> Label:
    label = call.repository.labels.get(call.parameters["name"].lower())
    if label is None:
        raise requests.not_found()
    return label


def _new_label(call: Call, name: str, body: Mapping[str, Json]) -> Label:
    blank = Label(id=call.store.new_id(), name=_checked_name(name))
    blank.color, blank.description = _color_and_description(body, blank)
    call.repository.labels[name.lower()] = blank
    return blank


def _checked_name(name: str) -> str:
    if not name.strip() or len(name) > MAX_NAME_LENGTH:
        raise invalid("Label", "name")
    return name


def _color_and_description(body: Mapping[str, Json], label: Label) -> tuple[str, str | None]:
    """Return the requested color and description, by default those of the label."""
    color = requests.text(body, "color") or label.color
    description = requests.text(body, "description") if "description" in body else label.description
    if not COLOR.fullmatch(color):
        raise invalid("Label", "color")
    requests.check_length("Label", "description", description, MAX_DESCRIPTION_LENGTH)
    return color, description


def _labels(call: Call, issue: Issue) -> Answer:
    return Answer(200, payloads.labels(call, issue))
