"""GitHub's data of a repository at one moment, as one GraphQL query returns it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime

from kalypso_actions.model.github import Commit, CommitStatus, PullRequest, Visibility


@dataclass(frozen=True, slots=True)
class CommitView:
    """A commit with its latest statuses, by context in lower case.

    `length` is the number of commits in its history: for two commits of one branch, the difference
    says how far one is ahead of the other.
    """

    id: str
    subject: str
    author: str
    committed_at: datetime
    length: int
    statuses: Mapping[str, CommitStatus] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class PullRequestView:
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

    `heads` are the heads of branches by name, `commits` the requested commits by id; None stands
    for an absent one. `pull_requests` and `issues` are all open ones.
    """

    heads: Mapping[str, CommitView | None]
    commits: Mapping[str, CommitView | None]
    pull_requests: tuple[PullRequestView, ...] = ()
    issues: tuple[OpenIssue, ...] = ()


@dataclass(frozen=True, slots=True)
class ProposalOverview:
    """The data about a proposal from our branch to a GitOps branch; None means unknown.

    `from_branch` are the open pull requests from our branch, `into_branch` the numbers of all open
    ones into the GitOps branch. `has_closed` is whether one between the two was closed or
    merged. `labels` are the names of the repository's labels. `requires_signatures` is whether a
    rule refuses unsigned commits on the GitOps branch. `own_commit` is the head of our branch,
    `visibility` the visibility of the repository.
    """

    from_branch: tuple[PullRequest, ...] | None = None
    into_branch: tuple[int, ...] | None = None
    has_closed: bool | None = None
    labels: tuple[str, ...] | None = None
    requires_signatures: bool | None = None
    own_commit: Commit | None = None
    visibility: Visibility | None = None
