"""Issues, found again by their exact title.

They are looked for in GitHub's lists, never by its search: the search index lags behind, and an
issue that it does not know yet would be opened a second time.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Final, Literal

from kalypso_actions.clients.github import (
    comments,
    from_json,
    idempotent_writes,
    labels,
    length_limits,
    rest,
)
from kalypso_actions.clients.github.connection import GitHub
from kalypso_actions.model.github import Issue, IssueEvent

State = Literal["open", "closed", "all"]

DUPLICATE: Final = "<!-- kalypso:v1 kind=duplicate -->"
"""The first line of the comment with which a doubled issue is closed."""


def find_all(
    github: GitHub, repository: str, *, label: str = "", state: State = "open"
) -> tuple[Issue, ...]:
    """Every issue that is no pull request, with the label where one is named, oldest first.

    Raises GitHubError.
    """
    failure = "the issues cannot be listed"
    parameters = _filters(label, state, "asc")
    return _issues(rest.read_all(github, repository, failure, "/issues", parameters))


def candidates(github: GitHub, repository: str, label: str) -> tuple[Issue, ...]:
    """Where `ensure` looks: the open issues, and the closed ones with our label.

    Open ones may have lost the label, or have been opened by Kalypso's operator, which sets none.
    Read once, they serve many calls of `ensure`. Raises GitHubError.
    """
    opened = find_all(github, repository)
    return opened + find_all(github, repository, label=label, state="closed")


def ensure(
    github: GitHub,
    repository: str,
    *,
    title: str,
    body: str,
    label: str,
    among: Iterable[Issue] | None = None,
) -> tuple[Issue, idempotent_writes.WriteResult]:
    """The one open issue of exactly this title, with this body and our label.

    One that exists is updated where it differs, and reopened where it was closed. The oldest stays:
    others of this title and label, which a doubled delivery left, are closed as its duplicates.
    `among` is what `candidates` gave. Raises GitHubError.
    """
    title, body = (
        length_limits.truncate(title, length_limits.TITLE).strip(),
        length_limits.truncate_body(body),
    )
    known = candidates(github, repository, label) if among is None else among
    found = _titled(known, title)
    created = not found
    if created:
        issue = _create(github, repository, title, body, label)
        found = _titled([issue, *_newest(github, repository, label)], title)
    kept, *others = found
    for other in others:
        if other.state == "open" and not labels.missing([label], other.labels):
            _close_duplicate(github, repository, other, kept)
    issue = _as_wanted(kept, body) or _update(github, repository, kept.number, body)
    if labels.missing([label], issue.labels):
        labels.add(github, repository, issue.number, [label])
        issue = replace(issue, labels=(*issue.labels, label))
    if created:
        return issue, "created"
    return issue, "unchanged" if issue == kept else "updated"


def events(github: GitHub, repository: str, number: int) -> tuple[IssueEvent, ...]:
    """The events of an issue or a pull request, oldest first. Raises GitHubError."""
    failure = f"the events of #{number} cannot be listed"
    found = rest.read_all(github, repository, failure, f"/issues/{number}/events")
    return tuple(map(from_json.issue_event, found))


def close(github: GitHub, repository: str, number: int, *, mark: str, comment: str) -> bool:
    """Close an open issue with a comment that says why; whether it was open.

    `mark` is the comment's first line. The comment comes first: where closing fails, the next run
    finds the issue open and goes on. Raises GitHubError.
    """
    if _get(github, repository, number).state == "closed":
        return False
    comments.ensure(github, repository, number, mark, comment)
    _close(github, repository, number, "completed")
    return True


def _filters(label: str, state: State, direction: str) -> dict[str, str]:
    filters = {"state": state, "sort": "created", "direction": direction}
    return {**filters, "labels": label} if label else filters


def _issues(found: Iterable[rest.Json]) -> tuple[Issue, ...]:
    issues = (from_json.issue(one) for one in found if not from_json.is_pull_request(one))
    return tuple(sorted(issues, key=lambda issue: issue.number))


def _titled(issues: Iterable[Issue], title: str) -> list[Issue]:
    """Those of this title: open ones before closed ones, each oldest first."""
    same = {issue.number: issue for issue in issues if issue.title == title}
    return sorted(same.values(), key=lambda issue: (issue.state == "closed", issue.number))


def _newest(github: GitHub, repository: str, label: str) -> tuple[Issue, ...]:
    """The latest page of open issues: where a second delivery of our request would show."""
    failure = "the issues cannot be listed"
    parameters = {**_filters(label, "open", "desc"), "per_page": "100"}
    return _issues(rest.read(github, repository, failure, "/issues", parameters))


def _get(github: GitHub, repository: str, number: int) -> Issue:
    failure = f"issue #{number} cannot be read"
    return from_json.issue(rest.read(github, repository, failure, f"/issues/{number}"))


def _create(github: GitHub, repository: str, title: str, body: str, label: str) -> Issue:
    def find() -> Issue | None:
        return next(iter(_titled(_newest(github, repository, label), title)), None)

    def write() -> Issue:
        failure = f"the issue “{title}” cannot be opened"
        content = {"title": title, "body": body, "labels": [label]}
        return from_json.issue(rest.write(github, repository, failure, "POST", "/issues", content))

    return idempotent_writes.write_verified(github, find, write)


def _as_wanted(issue: Issue, body: str) -> Issue | None:
    same = issue.state == "open" and length_limits.same_text(issue.body, body)
    return issue if same else None


def _update(github: GitHub, repository: str, number: int, body: str) -> Issue:
    def find() -> Issue | None:
        return _as_wanted(_get(github, repository, number), body)

    def write() -> Issue:
        failure = f"issue #{number} cannot be updated"
        return _edit(github, repository, failure, number, {"state": "open", "body": body})

    return idempotent_writes.write_verified(github, find, write)


def _close_duplicate(github: GitHub, repository: str, issue: Issue, kept: Issue) -> None:
    comments.ensure(github, repository, issue.number, DUPLICATE, f"Duplicate of #{kept.number}")
    _close(github, repository, issue.number, "not_planned")


def _close(github: GitHub, repository: str, number: int, reason: str) -> None:
    def find() -> Issue | None:
        issue = _get(github, repository, number)
        return issue if issue.state == "closed" else None

    def write() -> Issue:
        failure = f"issue #{number} cannot be closed"
        content = {"state": "closed", "state_reason": reason}
        return _edit(github, repository, failure, number, content)

    idempotent_writes.write_verified(github, find, write)


def _edit(
    github: GitHub, repository: str, failure: str, number: int, content: dict[str, str]
) -> Issue:
    return from_json.issue(
        rest.write(github, repository, failure, "PATCH", f"/issues/{number}", content)
    )
