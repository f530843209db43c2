"""Our issues, identified by their exact title and their author.

This module lists issues instead of using GitHub's search, because the search index lags behind:
Kalypso would open an issue a second time if the index lacks it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Final, Literal

from github.Issue import Issue as GitHubIssue
from github.PaginatedList import PaginatedList
from github.Repository import Repository

from kalypso_actions.clients.github import comments, idempotent_writes, rest
from kalypso_actions.clients.github.connection import GitHub
from kalypso_actions.clients.github.labels import add as add_labels
from kalypso_actions.clients.github.labels import missing as missing_labels
from kalypso_actions.model.github import Issue, IssueEvent
from kalypso_actions.model.own_account import Identity, is_marked

State = Literal["open", "closed", "all"]

DUPLICATE: Final = "<!-- kalypso:v1 kind=duplicate -->"
"""The first line of the comment on a duplicate issue."""


def find_all(
    github: GitHub, repository: str, *, label: str = "", state: State = "open"
) -> tuple[Issue, ...]:
    """Return the issues, optionally only those with a label, oldest first, without pull requests.

    Raises GitHubError.
    """
    failure = "the issues cannot be listed"
    issues = github.call(
        repository,
        failure,
        lambda target: _issues(rest.all_of(_pages(target, label, state, "asc"))),
    )
    for issue in issues:
        github.recent_writes.add_issue(repository, issue.number)
    return issues


def candidates(
    github: GitHub, repository: str, labels: Sequence[str], *, with_closed: bool = True
) -> tuple[Issue, ...]:
    """Return our issues for `ensure`, and those of former identities.

    These are all open issues, since an open issue may have lost its labels, and the closed ones
    with the first of our labels. No pull request has this label, so that list stays short.
    One result serves many calls of `ensure`. Raises GitHubError.
    """
    listed = find_all(github, repository)
    if with_closed:
        listed += find_all(github, repository, label=labels[0], state="closed")
    identity = github.identity(repository)
    return tuple(
        issue
        for issue in listed
        if is_ours(issue, identity, labels) or formerly_ours(issue, identity, labels)
    )


def ensure(
    github: GitHub,
    repository: str,
    *,
    title: str,
    body: str,
    labels: Sequence[str],
    among: Iterable[Issue] | None = None,
) -> tuple[Issue, idempotent_writes.WriteResult]:
    """Create, update or reopen our issue with exactly this title; set its body, add its labels.

    Our oldest issue stays. This closes our other issues of this title, which a repeated delivery
    may leave, as duplicates, and those of former identities as replaced. Issues of others stay as
    they are. `among` is the result of `candidates`. Raises GitHubError.
    """
    title, body = (
        idempotent_writes.truncate(title, idempotent_writes.TITLE).strip(),
        idempotent_writes.truncate_body(body),
    )
    known = tuple(candidates(github, repository, labels) if among is None else among)
    identity = github.identity(repository)
    same_title = _with_title(known, title, identity, labels)
    created = not same_title
    if created:
        issue = _create(github, repository, title, body, labels)
        newest = _newest(github, repository, labels)
        same_title = _with_title([issue, *newest], title, identity, labels)
    kept, *others = same_title
    for other in others:
        if other.state == "open":
            _close_as_other(github, repository, other, DUPLICATE, f"Duplicate of #{kept.number}")
    reason = f"{identity.login} writes for Kalypso now: #{kept.number} replaces this issue."
    for former in known:
        is_same = former.title == title and former.state == "open"
        if is_same and formerly_ours(former, identity, labels):
            _close_as_other(github, repository, former, comments.REPLACED, reason)
    issue = _if_current(kept, body) or _update(github, repository, kept.number, body)
    if added := missing_labels(labels, issue.labels):
        add_labels(github, repository, issue.number, added)
        issue = issue._replace(labels=(*issue.labels, *added))
    if created:
        return issue, "created"
    return issue, "unchanged" if issue == kept else "updated"


def is_ours(issue: Issue, identity: Identity, labels: Sequence[str]) -> bool:
    """Whether an issue is ours, by its author; on a shared account, also by label or marker."""
    return identity.wrote(issue.author, is_marked=_is_marked(issue, labels))


def formerly_ours(issue: Issue, identity: Identity, labels: Sequence[str]) -> bool:
    """Whether an issue belongs to a former identity, by the same rules as `is_ours`."""
    return identity.formerly_wrote(issue.author, is_marked=_is_marked(issue, labels))


def events(github: GitHub, repository: str, number: int) -> tuple[IssueEvent, ...]:
    """Return the events of an issue or a pull request, oldest first. Raises GitHubError."""
    failure = f"the events of #{number} cannot be listed"
    return github.call(
        repository,
        failure,
        lambda target: tuple(
            IssueEvent(
                name=event.event,
                actor=rest.login_of(event.actor),
                by_bot=bool(rest.login_of(event.actor)) and event.actor.type == "Bot",
                date=event.created_at,
            )
            for event in rest.all_of(target.get_issue(number).get_events())
        ),
    )


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


def _pages(
    repository: Repository, label: str, state: State, direction: str
) -> PaginatedList[GitHubIssue]:
    """Return the pages of issues and pull requests.

    Issues lack `pull_request`, for which PyGithub would send a request for each of them.
    """
    filters = {"state": state, "sort": "created", "direction": direction}
    return PaginatedList(
        GitHubIssue,
        repository.requester,
        f"{repository.url}/issues",
        {**filters, "labels": label} if label else filters,
        attributesTransformer=lambda item: {"pull_request": None, **item},
    )


def _issues(items: Iterable[GitHubIssue]) -> tuple[Issue, ...]:
    """Convert issues, without pull requests."""
    issues = (_converted(item) for item in items if item.pull_request is None)
    return tuple(sorted(issues, key=lambda issue: issue.number))


def _converted(issue: GitHubIssue) -> Issue:
    return Issue(
        number=issue.number,
        url=issue.html_url,
        title=issue.title,
        body=issue.body or "",
        state="closed" if issue.state == "closed" else "open",
        labels=rest.label_names(issue),
        author=rest.login_of(issue.user),
    )


def _is_marked(issue: Issue, labels: Sequence[str]) -> bool:
    has_label = len(missing_labels(labels, issue.labels)) < len(labels)
    return has_label or is_marked(issue.body)


def _with_title(
    issues: Iterable[Issue], title: str, identity: Identity, labels: Sequence[str]
) -> list[Issue]:
    """Return our issues of this title: open ones before closed ones, each oldest first."""
    same = {
        issue.number: issue
        for issue in issues
        if issue.title == title and is_ours(issue, identity, labels)
    }
    return sorted(same.values(), key=lambda issue: (issue.state == "closed", issue.number))


def _newest(github: GitHub, repository: str, labels: Sequence[str]) -> tuple[Issue, ...]:
    """Return the newest page of open issues, which has a duplicate of an issue just opened."""
    failure = "the issues cannot be listed"
    return github.call(
        repository,
        failure,
        lambda target: _issues(_pages(target, labels[0], "open", "desc").get_page(0)),
    )


def _get(github: GitHub, repository: str, number: int) -> Issue:
    failure = f"issue #{number} cannot be read"
    return github.call(
        repository, failure, lambda target: _converted(target.get_issue(number).complete())
    )


def _create(github: GitHub, repository: str, title: str, body: str, labels: Sequence[str]) -> Issue:
    identity = github.identity(repository)

    def find() -> Issue | None:
        newest = _newest(github, repository, labels)
        return next(iter(_with_title(newest, title, identity, labels)), None)

    def write() -> Issue:
        issue = github.call(
            repository,
            f"the issue “{title}” cannot be opened",
            lambda target: _converted(target.create_issue(title, body, labels=list(labels))),
        )
        github.recent_writes.add_issue(repository, issue.number)
        return issue

    return idempotent_writes.write_verified(github, find, write)


def _if_current(issue: Issue, body: str) -> Issue | None:
    same = issue.state == "open" and idempotent_writes.same_text(issue.body, body)
    return issue if same else None


def _update(github: GitHub, repository: str, number: int, body: str) -> Issue:
    def find() -> Issue | None:
        return _if_current(_get(github, repository, number), body)

    def write() -> Issue:
        failure = f"issue #{number} cannot be updated"
        return _edit(github, repository, failure, number, state="open", body=body)

    return idempotent_writes.write_verified(github, find, write)


def _close_as_other(github: GitHub, repository: str, issue: Issue, mark: str, reason: str) -> None:
    """Close an issue in favour of another one."""
    comments.ensure(github, repository, issue.number, mark, reason)
    _close(github, repository, issue.number, "not_planned")


def _close(github: GitHub, repository: str, number: int, reason: str) -> None:
    def find() -> Issue | None:
        issue = _get(github, repository, number)
        return issue if issue.state == "closed" else None

    def write() -> Issue:
        failure = f"issue #{number} cannot be closed"
        return _edit(github, repository, failure, number, state="closed", state_reason=reason)

    idempotent_writes.write_verified(github, find, write)


def _edit(github: GitHub, repository: str, failure: str, number: int, **changes: Any) -> Issue:
    def edit(target: Repository) -> Issue:
        issue = target.get_issue(number)
        issue.edit(**changes)
        return _converted(issue)

    return github.call(repository, failure, edit)
