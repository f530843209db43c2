"""The entities of a store: accounts, repositories and their contents, Apps, events.

All are pydantic models, so that they can be saved and loaded.
"""

from __future__ import annotations

from datetime import datetime
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

RunStatus = Literal["completed", "in_progress", "pending", "queued", "requested", "waiting"]

Permissions = dict[str, Literal["read", "write", "admin"]]
"""Levels by GitHub's names: contents, pull_requests, issues, statuses, actions, workflows, …"""


class Entity(BaseModel):
    """The base class: values are validated when they are set."""

    model_config = ConfigDict(extra="forbid", validate_assignment=True)


class Account(Entity):
    """An owner of repositories, or an author; the key in `Store.accounts` is in lower case."""

    id: int
    login: str
    kind: Literal["User", "Organization", "Bot"] = "User"


class Identity(Entity):
    """The subject of a token, and its permissions.

    kind          `user` (a fine-grained personal token), `actions` (a job's GITHUB_TOKEN),
                  `installation` (an App's), `app` (the App itself, by its JWT)
    repositories  full names; None means all of `owner` ("" means every owner)
    """

    kind: Literal["user", "actions", "installation", "app"]
    login: str
    permissions: Permissions
    owner: str = ""
    repositories: list[str] | None = None
    app_id: int = 0
    expires_at: datetime | None = None


class App(Entity):
    """A GitHub App, with its installations by owner (login -> installation)."""

    id: int
    slug: str
    public_key: str
    permissions: Permissions
    installations: dict[str, Installation] = Field(default_factory=dict)

    @property
    def client_id(self) -> str:
        """Return the client id, which GitHub prefers to the number."""
        return f"Iv1.{self.id:016x}"

    @property
    def issuers(self) -> tuple[int | str, ...]:
        """Return the accepted `iss` claims of its JWTs: the id, its text, or the client id."""
        return self.id, str(self.id), self.client_id


class Installation(Entity):
    """An App in an account; `repositories` has the same meaning as in Identity."""

    id: int
    repositories: list[str] | None = None
    suspended: bool = False


class Label(Entity):
    """A label of a repository."""

    id: int
    name: str
    color: str = "ededed"
    description: str | None = None


class Comment(Entity):
    """A comment on an issue or pull request."""

    id: int
    body: str
    author: str
    created_at: datetime
    updated_at: datetime


class Review(Entity):
    """A review of a pull request at a commit; PENDING until it is submitted."""

    id: int
    author: str
    state: Literal["APPROVED", "CHANGES_REQUESTED", "COMMENTED", "PENDING"]
    body: str
    commit: str
    submitted_at: datetime | None


class AutoMerge(Entity):
    """GitHub merges the pull request for this identity once the rules of its base allow it."""

    identity: Identity
    method: Literal["merge", "squash", "rebase"]


class PullRequest(Entity):
    """The fields that a pull request adds to an issue. A closed pull request keeps its commits.

    `merge_commit` is the commit of the merge; before the merge, the test merge ("" for a conflict).
    `former_head` is the head before the last push, at `head_moved_at`.
    """

    head_repository: str
    head_branch: str
    head_commit: str
    base_branch: str
    base_commit: str
    former_head: str = ""
    head_moved_at: datetime | None = None
    draft: bool = False
    reviews: list[Review] = Field(default_factory=list)
    merged_at: datetime | None = None
    merged_by: str = ""
    merge_commit: str = ""
    auto_merge: AutoMerge | None = None

    @property
    def opinions(self) -> dict[str, str]:
        """Return login -> latest state `APPROVED` or `CHANGES_REQUESTED`; comments do not count."""
        deciding = ("APPROVED", "CHANGES_REQUESTED")
        return {review.author: review.state for review in self.reviews if review.state in deciding}


class IssueEvent(Entity):
    """An event in the timeline of an issue; `event` is GitHub's name for it.

    `commit` is that of a merge, `label` is a name and a color, and `renamed` is the old and the new
    title.
    """

    id: int
    event: Literal[
        "closed",
        "head_ref_deleted",
        "head_ref_restored",
        "labeled",
        "merged",
        "renamed",
        "reopened",
        "unlabeled",
    ]
    actor: str
    created_at: datetime
    commit: str | None = None
    label: tuple[str, str] | None = None
    renamed: tuple[str, str] | None = None


class Issue(Entity):
    """An issue or, with `pull_request`, a pull request: both share one sequence of numbers.

    `labels` are keys of the repository's labels. `state_reason` is `completed`, `not_planned`,
    `duplicate` or `reopened`.
    """

    id: int
    number: int
    title: str
    body: str | None
    author: str
    state: Literal["open", "closed"] = "open"
    state_reason: str | None = None
    labels: list[str] = Field(default_factory=list)
    comments: list[Comment] = Field(default_factory=list)
    events: list[IssueEvent] = Field(default_factory=list)
    pull_request: PullRequest | None = None
    created_at: datetime
    updated_at: datetime
    closed_at: datetime | None = None
    closed_by: str = ""


class Status(Entity):
    """One commit status; the latest of each context counts."""

    id: int
    commit: str
    context: str
    state: Literal["error", "failure", "pending", "success"]
    description: str | None
    target_url: str | None
    author: str
    created_at: datetime


class WorkflowRun(Entity):
    """A run that a dispatch started; `workflow` is the path of its file.

    The sandbox does not execute it: a runner sets its status and conclusion.
    """

    id: int
    workflow: str
    ref: str
    commit: str
    inputs: dict[str, str]
    author: str
    created_at: datetime
    status: RunStatus = "queued"
    conclusion: str | None = None


class Environment(Entity):
    """A GitHub environment with its variables and the names of its secrets, in upper case."""

    id: int
    name: str
    created_at: datetime
    variables: dict[str, str] = Field(default_factory=dict)
    secrets: list[str] = Field(default_factory=list)


class BranchRule(Entity):
    """A rule that protects the branches whose names match the glob `pattern`.

    It does not apply to users in `may_push`, except for force pushes and deletion. With
    `restrict_pushes`, nobody else may push. The rule is part of a ruleset, or a `classic` one.
    """

    pattern: str
    classic: bool = False
    required_reviews: int = 0
    dismiss_stale_reviews: bool = False
    required_contexts: list[str] = Field(default_factory=list)
    allow_force_push: bool = False
    restrict_pushes: bool = False
    required_signatures: bool = False
    may_push: list[str] = Field(default_factory=list)


class Repository(Entity):
    """A repository; `Store.git` has its files and commits.

    The keys of `labels` and `environments` are in lower case, those of `variables` in upper case.
    Secrets have names only. `shared_variables` and `shared_secrets` belong to the organization.
    `actions_may_open_pull_requests` is the setting for GITHUB_TOKENs, and `allowed_actions`
    restricts the actions that workflows may use. `internal` repositories are private ones that all
    members of an enterprise see. A fork has the full name of its `parent`. `branches_created_at`
    has the times of branches.
    """

    id: int
    owner: str
    name: str
    private: bool = True
    internal: bool = False
    parent: str = ""
    default_branch: str = "main"
    archived: bool = False
    actions_may_open_pull_requests: bool = True
    has_pages: bool = False
    allow_auto_merge: bool = False
    actions_enabled: bool = True
    allowed_actions: Literal["all", "local_only", "selected"] = "all"
    created_at: datetime
    pushed_at: datetime
    former_names: list[str] = Field(default_factory=list)
    labels: dict[str, Label] = Field(default_factory=dict)
    issues: dict[int, Issue] = Field(default_factory=dict)
    statuses: list[Status] = Field(default_factory=list)
    runs: list[WorkflowRun] = Field(default_factory=list)
    environments: dict[str, Environment] = Field(default_factory=dict)
    variables: dict[str, str] = Field(default_factory=dict)
    secrets: list[str] = Field(default_factory=list)
    shared_variables: dict[str, str] = Field(default_factory=dict)
    shared_secrets: list[str] = Field(default_factory=list)
    rules: list[BranchRule] = Field(default_factory=list)
    next_number: int = 1
    branches_created_at: dict[str, datetime] = Field(default_factory=dict)

    @property
    def full_name(self) -> str:
        """Return `owner/name`."""
        return f"{self.owner}/{self.name}"

    @property
    def visibility(self) -> Literal["public", "internal", "private"]:
        """Return the visibility in GitHub's words."""
        if not self.private:
            return "public"
        return "internal" if self.internal else "private"


class Event(Entity):
    """An event for workflows: its name, repository, ref and payload.

    `starts_workflows` is false if GitHub starts no workflows for it, as for most events of a
    GITHUB_TOKEN. `held` is true if a person must approve the runs first. `commit` is "" for a
    deleted ref. Old events lose their payload ({}).
    """

    id: int
    name: str
    repository: str
    ref: str
    commit: str
    actor: str
    payload: dict[str, Any]
    created_at: datetime
    starts_workflows: bool = True
    held: bool = False
