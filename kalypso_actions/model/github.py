"""What GitHub knows of a repository, as far as promotion looks at it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal

Relation = Literal["identical", "ahead", "behind", "diverged"]
StatusState = Literal["error", "failure", "pending", "success"]
RunStatus = Literal["requested", "pending", "waiting", "queued", "in_progress"]
"""In the order of a run's life."""


@dataclass(frozen=True, slots=True)
class CommitStatus:
    """A status of a commit under one context (contexts do not differ by case).

    `created_at` is None for a status that is not posted yet; it is no part of what a status says.
    """

    context: str
    state: StatusState
    description: str
    target_url: str = ""
    created_at: datetime | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True)
class Commit:
    """A commit, without its files."""

    id: str
    tree: str
    parents: tuple[str, ...]
    message: str


@dataclass(frozen=True, slots=True)
class PullRequest:
    """A pull request; `merge_commit` is "" unless it was merged.

    Lists do not tell `mergeable` (None: GitHub has not found out yet) and `merge_state`.
    """

    number: int
    url: str
    title: str
    body: str
    state: Literal["open", "closed"]
    merged: bool
    merge_commit: str
    head_repository: str
    head_branch: str
    head_commit: str
    base_branch: str
    labels: tuple[str, ...]
    author: str
    mergeable: bool | None = None
    merge_state: str = ""


@dataclass(frozen=True, slots=True)
class Issue:
    """An issue that is not a pull request."""

    number: int
    url: str
    title: str
    body: str
    state: Literal["open", "closed"]
    labels: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class IssueEvent:
    """An event of an issue or a pull request, by GitHub's name (`closed`, `head_ref_deleted`).

    `actor` is "" where the account is gone.
    """

    name: str
    actor: str
    by_bot: bool
    date: datetime


@dataclass(frozen=True, slots=True)
class Comment:
    """A comment on an issue or a pull request."""

    id: int
    url: str
    body: str
    author: str


@dataclass(frozen=True, slots=True)
class Comparison:
    """How a commit (the head) stands to another (the base).

    `commits` are those from the base, exclusive, to the head, oldest first, and complete.
    """

    relation: Relation
    merge_base: str
    commits: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class WorkflowRun:
    """A started workflow run, where the server names it."""

    id: int
    url: str


@dataclass(frozen=True, slots=True)
class ActiveRun:
    """A workflow run that is not completed; its title comes from the workflow's `run-name`."""

    id: int
    url: str
    title: str
    status: RunStatus
    created_at: datetime


@dataclass(frozen=True, slots=True)
class RegisteredPath:
    """A folder on a branch of a repository of the GitHub server (`repository` is owner/name)."""

    repository: str
    branch: str
    path: str


@dataclass(frozen=True, slots=True)
class PathHead:
    """Where a registered path stands: the branch's commit, and the folder's tree id."""

    commit: str
    tree: str | None


@dataclass(frozen=True, slots=True)
class RepositoryFacts:
    """A repository; `name` is owner/name as GitHub writes it now.

    `may_push` is true where GitHub does not say whether the credential may push.
    """

    id: int
    name: str
    owner_id: int
    is_organization: bool
    default_branch: str
    may_push: bool
    is_archived: bool


@dataclass(frozen=True, slots=True)
class AppInstallation:
    """What an App was granted for an owner (`contents` -> `write`); `page` is where it is set."""

    permissions: Mapping[str, str]
    page: str


@dataclass(frozen=True, slots=True)
class SettingNames:
    """Which secrets and variables there are, in capitals."""

    secrets: frozenset[str] = frozenset()
    variables: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class ActionsSettings:
    """How GitHub Actions is set up in a repository; `allowed` says whose actions may be used."""

    enabled: bool
    allowed: Literal["all", "local_only", "selected"]
    jobs_may_open_pull_requests: bool


@dataclass(frozen=True, slots=True)
class BranchRules:
    """What the rules of a branch ask of those whom they bind.

    `types` are those of the rulesets' rules, as GitHub calls them. `is_classic`: there is a classic
    branch protection in their place, whose content only administrators may read.
    """

    types: tuple[str, ...] = ()
    required_approvals: int = 0
    dismisses_stale_approvals: bool = False
    is_classic: bool = False


@dataclass(frozen=True, slots=True)
class WorkflowState:
    """A workflow file of the default branch as GitHub lists it; `active` unless it is disabled."""

    path: str
    state: str
