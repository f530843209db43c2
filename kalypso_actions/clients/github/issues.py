"""Issues, identified by their exact title.

They are found by listing, not by GitHub's search: its index lags behind, and an issue that it lacks
would be opened a second time.
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
from kalypso_actions.clients.github.messages import Json
from kalypso_actions.model.github import Issue, IssueEvent

State = Literal["open", "closed", "all"]

DUPLICATE: Final = "<!-- kalypso:v1 kind=duplicate -->"
"""The first line of the comment on a duplicate issue."""


def find_all(
    github: GitHub, repository: str, *, label: str = "", state: State = "open"
) -> tuple[Issue, ...]:
    """Return the issues, optionally those with a label, oldest first; no pull requests.

    Raises GitHubError.
    """
    failure = "the issues cannot be listed"
    parameters = _filters(label, state, "asc")
    return _issues(rest.read_all(github, repository, failure, "/issues", parameters))


def candidates(github: GitHub, repository: str, label: str) -> tuple[Issue, ...]:
    """Return the issues for `ensure`: all open ones, and the closed ones with our label.

    An open issue may have lost the label, or Kalypso's operator, which sets no label, opened it.
    Read once, they serve many calls of `ensure`. Raises GitHubError.
    """
    open_issues = find_all(github, repository)
    return open_issues + find_all(github, repository, label=label, state="closed")


def ensure(
    github: GitHub,
    repository: str,
    *,
    title: str,
    body: str,
    label: str,
    among: Iterable[Issue] | None = None,
) -> tuple[Issue, idempotent_writes.WriteResult]:
    """Create, update or reopen the issue with exactly this title, and set its body and label.

    The oldest issue of this title stays; others with the label, which a repeated delivery may
    leave, are closed as duplicates. `among` is the result of `candidates`. Raises GitHubError.
    """
    title, body = (
        length_limits.truncate(title, length_limits.TITLE).strip(),
        length_limits.truncate_body(body),
    )
    known = candidates(github, repository, label) if among is None else among
    same_title = _with_title(known, title)
    created = not same_title
    if created:
        issue = _create(github, repository, title, body, label)
        same_title = _with_title([issue, *_newest(github, repository, label)], title)
    kept, *others = same_title
    for other in others:
        if other.state == "open" and not labels.missing([label], other.labels):
            _close_duplicate(github, repository, other, kept)
    issue = _if_current(kept, body) or _update(github, repository, kept.number, body)
    if labels.missing([label], issue.labels):
        labels.add(github, repository, issue.number, [label])
        issue = replace(issue, labels=(*issue.labels, label))
    if created:
        return issue, "created"
    return issue, "unchanged" if issue == kept else "updated"


def events(github: GitHub, repository: str, number: int) -> tuple[IssueEvent, ...]:
    """Return the events of an issue or a pull request, oldest first. Raises GitHubError."""
    failure = f"the events of #{number} cannot be listed"
    answers = rest.read_all(github, repository, failure, f"/issues/{number}/events")
    return tuple(map(from_json.issue_event, answers))


def close(github: GitHub, repository: str, number: int, *, mark: str, comment: str) -> bool:
    """Close an open issue with a comment that gives the reason; return whether it was open.

    `mark` is the comment's first line. The comment comes first: if closing fails, the issue is
    still open for the next run. Raises GitHubError.
    """
    if _get(github, repository, number).state == "closed":
        return False
    comments.ensure(github, repository, number, mark, comment)
    _close(github, repository, number, "completed")
    return True


def _filters(label: str, state: State, direction: str) -> dict[str, str]:
    filters = {"state": state, "sort": "created", "direction": direction}
    return {**filters, "labels": label} if label else filters


def _issues(answers: Iterable[Json]) -> tuple[Issue, ...]:
    issues = (
        from_json.issue(answer) for answer in answers if not from_json.is_pull_request(answer)
    )
    return tuple(sorted(issues, key=lambda issue: issue.number))


def _with_title(issues: Iterable[Issue], title: str) -> list[Issue]:
    """Return the issues of this title: open ones before closed ones, each oldest first."""
    same = {issue.number: issue for issue in issues if issue.title == title}
    return sorted(same.values(), key=lambda issue: (issue.state == "closed", issue.number))


def _newest(github: GitHub, repository: str, label: str) -> tuple[Issue, ...]:
    """Return the newest page of open issues, which has a duplicate of an issue just opened."""
    failure = "the issues cannot be listed"
    parameters = {**_filters(label, "open", "desc"), "per_page": "100"}
    return _issues(rest.read(github, repository, failure, "/issues", parameters))


def _get(github: GitHub, repository: str, number: int) -> Issue:
    failure = f"issue #{number} cannot be read"
    return from_json.issue(rest.read(github, repository, failure, f"/issues/{number}"))


def _create(github: GitHub, repository: str, title: str, body: str, label: str) -> Issue:
    def find() -> Issue | None:
        return next(iter(_with_title(_newest(github, repository, label), title)), None)

    def write() -> Issue:
        failure = f"the issue “{title}” cannot be opened"
        content = {"title": title, "body": body, "labels": [label]}
        return from_json.issue(rest.write(github, repository, failure, "POST", "/issues", content))

    return idempotent_writes.write_verified(github, find, write)


def _if_current(issue: Issue, body: str) -> Issue | None:
    same = issue.state == "open" and length_limits.same_text(issue.body, body)
    return issue if same else None


def _update(github: GitHub, repository: str, number: int, body: str) -> Issue:
    def find() -> Issue | None:
        return _if_current(_get(github, repository, number), body)

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
