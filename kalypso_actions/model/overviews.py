"""GitHub's data of a repository: heads, commits with statuses, open pull requests, issues."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime

from kalypso_actions.model.github import CommitStatus


@dataclass(frozen=True, slots=True)
class CommitView:
    """A commit with its latest statuses, by context in lower case.

    `length` is the number of commits that it reaches: of two commits of one branch, the difference
    is how far one is ahead.
    """

    id: str
    subject: str
    author: str
    committed_at: datetime
    length: int
    statuses: Mapping[str, CommitStatus] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class OpenPullRequest:
    """An open pull request."""

    number: int
    title: str
    url: str
    base: str
    head: str
    author: str
    created_at: datetime
    is_draft: bool = False


@dataclass(frozen=True, slots=True)
class OpenIssue:
    """An open issue; `body` may be long."""

    number: int
    title: str
    url: str
    body: str


@dataclass(frozen=True, slots=True)
class RepositoryOverview:
    """A repository at one moment.

    `heads` are those of branches by name, `commits` those asked for by id; None for an absent one.
    `more` counts the open pull requests that are not listed.
    """

    heads: Mapping[str, CommitView | None]
    commits: Mapping[str, CommitView | None]
    pull_requests: tuple[OpenPullRequest, ...] = ()
    more: int = 0
    issues: tuple[OpenIssue, ...] = ()
