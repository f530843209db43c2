"""GitHub's objects, with the fields that Kalypso uses."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from types import MappingProxyType
from typing import Final, Literal, NamedTuple

Relation = Literal["identical", "ahead", "behind", "diverged"]
"""The relation of a commit, the head, to another one, the base."""
ON_BRANCH: Final[frozenset[Relation | None]] = frozenset({"identical", "ahead"})
"""The relations of a head to the commits that its branch contains."""
StatusState = Literal["error", "failure", "pending", "success"]
RunStatus = Literal["requested", "pending", "waiting", "queued", "in_progress"]
"""The states of a run that is not completed, in order."""
Visibility = Literal["private", "internal", "public"]


@dataclass(frozen=True, slots=True)
class CommitStatus:
    """A status of a commit in one context; names of contexts ignore case.

    `created_at` is None and `author` "" for a status that is not posted yet. Comparisons ignore
    both.
    """

    context: str
    state: StatusState
    description: str
    target_url: str = ""
    author: str = field(default="", compare=False)
    created_at: datetime | None = field(default=None, compare=False)


class CheckRun(NamedTuple):
    """A check run of a commit; `app` is the slug of its App, `conclusion` "" before its end."""

    name: str
    app: str
    conclusion: str
    started_at: datetime | None


class Account(NamedTuple):
    """An account of GitHub: a user, an organization or a bot."""

    login: str
    id: int


class Commit(NamedTuple):
    """A commit, without its files."""

    id: str
    tree: str
    parents: tuple[str, ...]
    message: str
    committed_at: datetime


class PullRequest(NamedTuple):
    """A pull request; `merge_commit` is "" unless the pull request was merged.

    Lists lack `mergeable` (None: GitHub has not computed it yet), `merge_state` and `merged_by`.
    `auto_merge_by` is the login that enabled GitHub's auto-merge; "" if it is not enabled.
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
    node_id: str = ""
    auto_merge_by: str = ""
    created_at: datetime = datetime.min
    merged_at: datetime | None = None
    merged_by: str = ""


class Issue(NamedTuple):
    """An issue that is not a pull request."""

    number: int
    url: str
    title: str
    body: str
    state: Literal["open", "closed"]
    labels: tuple[str, ...]
    author: str


class IssueEvent(NamedTuple):
    """An event of an issue or a pull request, by GitHub's name (`closed`, `head_ref_deleted`).

    `actor` is "" for a deleted account.
    """

    name: str
    actor: str
    by_bot: bool
    date: datetime


class Comment(NamedTuple):
    """A comment on an issue or a pull request."""

    id: int
    url: str
    body: str
    author: str


class WorkflowRun(NamedTuple):
    """A started workflow run."""

    id: int
    url: str


class ActiveRun(NamedTuple):
    """A workflow run that is not completed; `title` comes from the workflow's `run-name`."""

    id: int
    url: str
    title: str
    status: RunStatus
    created_at: datetime


class RegisteredPath(NamedTuple):
    """A registered folder of a GitHub repository (owner/name)."""

    repository: str
    branch: str
    path: str


class PathHead(NamedTuple):
    """The commit of a registered path's branch, and the tree id of its folder."""

    commit: str
    tree: str | None


class RepositoryFacts(NamedTuple):
    """A repository; `name` is its current owner/name.

    `may_push` is true if GitHub does not say whether the credential may push.
    """

    id: int
    name: str
    owner_id: int
    is_organization: bool
    default_branch: str
    may_push: bool
    is_archived: bool
    created_at: datetime
    visibility: Visibility = "private"


class AppInstallation(NamedTuple):
    """An App's permissions for an owner (`contents` -> `write`), and the page of its settings."""

    permissions: Mapping[str, str]
    page: str


class SettingNames(NamedTuple):
    """The names of secrets and variables, in upper case, and the values of the repository's."""

    secrets: frozenset[str] = frozenset()
    variables: frozenset[str] = frozenset()
    values: Mapping[str, str] = MappingProxyType({})


class EnvironmentRules(NamedTuple):
    """The protection of a GitHub environment: `any_branch` may use it, jobs need an approval."""

    any_branch: bool
    needs_approval: bool


class ActionsSettings(NamedTuple):
    """Settings of GitHub Actions in a repository; `allowed` restricts third-party actions."""

    enabled: bool
    allowed: Literal["all", "local_only", "selected"]
    jobs_may_open_pull_requests: bool


REFUSING: Final = frozenset(
    {
        *("update", "pull_request", "merge_queue"),
        *("required_status_checks", "required_deployments"),
        *("workflows", "code_scanning", "code_quality"),
        *("branch_name_pattern", "commit_message_pattern"),
        *("commit_author_email_pattern", "committer_email_pattern"),
        *("file_path_restriction", "file_extension_restriction"),
    }
)
"""Rules that refuse, or may refuse, a push without a pull request.

https://docs.github.com/rest/repos/rules#get-rules-for-a-branch
"""


class BranchRules(NamedTuple):
    """The rules of a branch.

    `types` are GitHub's types of the rules in rulesets. `is_classic` is whether the branch has a
    classic protection instead, which only administrators may read.
    """

    types: tuple[str, ...] = ()
    required_approvals: int = 0
    dismisses_stale_approvals: bool = False
    is_classic: bool = False

    @property
    def refuses_pushes(self) -> bool:
        """Whether a rule refuses, or may refuse, a push without a pull request."""
        return self.is_classic or not REFUSING.isdisjoint(self.types)

    @property
    def requires_checks(self) -> bool:
        """Whether a ruleset requires checks of pull requests."""
        return "required_status_checks" in self.types

    @property
    def requires_signatures(self) -> bool:
        """Whether a ruleset refuses commits without a verified signature."""
        return "required_signatures" in self.types


class WorkflowState(NamedTuple):
    """A workflow file of the default branch; its state is `active` unless it is disabled."""

    path: str
    state: str


@dataclass(frozen=True, slots=True)
class CommitView:
    """A commit with its latest statuses, by context in lower case.

    `length` is the number of commits in its history: for two commits of one branch, the difference
    says how far one is ahead of the other. It is 0 if the commits were not counted.
    """

    id: str
    subject: str
    author: str
    committed_at: datetime
    length: int
    statuses: Mapping[str, CommitStatus] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class PullRequestView:
    """An open pull request.

    `failed` are the contexts of the statuses of its head that failed, and `conflicts` is whether
    it conflicts with its base, as far as both are read.
    """

    number: int
    title: str
    url: str
    base: str
    head: str
    author: str
    created_at: datetime
    is_draft: bool = False
    failed: tuple[str, ...] = ()
    conflicts: bool = False


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
