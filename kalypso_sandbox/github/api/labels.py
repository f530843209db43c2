"""Labels of a repository and of its issues; names ignore case.

https://docs.github.com/rest/issues/labels
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
from kalypso_sandbox.store import Issue, Label

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


@endpoint("GET", LABELS, *READ, statuses=(200,))
def read_all(call: Call) -> Answer:
    """List the labels of the repository."""
    return requests.listed(call, list(call.repository.labels.values()), payloads.label)


@endpoint("POST", LABELS, *WRITE, statuses=(201, 422))
def create(call: Call) -> Answer:
    """Create a label."""
    name = requests.required_text(call.body, "name")
    if name.lower() in call.repository.labels:
        raise invalid("Label", "name", "already_exists")
    return requests.created(payloads.label(call, _create_label(call, name, call.body)))


@endpoint("GET", LABEL, *READ, statuses=(200, 404))
def read(call: Call) -> Answer:
    """Return a label."""
    return Answer(200, payloads.label(call, _named(call)))


@endpoint("DELETE", LABEL, *WRITE, statuses=(204, 404))
def delete(call: Call) -> Answer:
    """Delete a label, and remove it from every issue."""
    key = _named(call).name.lower()
    del call.repository.labels[key]
    for issue in call.repository.issues.values():
        issue.labels = [label for label in issue.labels if label != key]
    return Answer(204)


@endpoint("GET", OF_ISSUE, *READ, statuses=(200, 404))
def read_of_issue(call: Call) -> Answer:
    """List the labels of an issue."""
    page, headers = requests.paginate(call, payloads.labels(call, requests.issue(call)))
    return Answer(200, page, headers)


@endpoint("POST", OF_ISSUE, *WRITE, statuses=(200, 404, 422))
def add(call: Call) -> Answer:
    """Add labels to an issue; create missing ones.

    GitHub answers 422 for a while after the issue's creation.
    """
    unknown = RefusedError(422, "Validation Failed", (requests.ISSUE_NOT_FOUND,))
    issue = requests.issue(call, unknown)
    put(call, issue, [*issue.labels, *_requested(call)])
    return _labels(call, issue)


@endpoint("DELETE", ONE_OF_ISSUE, *WRITE, statuses=(200, 404))
def remove(call: Call) -> Answer:
    """Remove a label from an issue."""
    issue = requests.issue(call)
    name = call.parameters["name"].lower()
    if name not in issue.labels:
        raise RefusedError(404, "Label does not exist")
    put(call, issue, [key for key in issue.labels if key != name])
    return _labels(call, issue)


def put(call: Call, issue: Issue, names: list[str]) -> None:
    """Set the labels of an issue; create missing ones, and record each change."""
    before = list(issue.labels)
    for name in names:
        if name.lower() not in call.repository.labels:
            _create_label(call, name, {})
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


def _named(call: Call) -> Label:
    label = call.repository.labels.get(call.parameters["name"].lower())
    if label is None:
        raise requests.not_found()
    return label


def _create_label(call: Call, name: str, body: Mapping[str, Json]) -> Label:
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
