"""What there is in a world: accounts, repositories with all that is in them, Apps, events.

Everything is a pydantic model, so that it is written to files and read again.
"""

from __future__ import annotations

from datetime import datetime
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

RunStatus = Literal["completed", "in_progress", "pending", "queued", "requested", "waiting"]

Permissions = dict[str, Literal["read", "write", "admin"]]
"""GitHub's names: contents, pull_requests, issues, statuses, actions, workflows, environments, …"""


class Entity(BaseModel):
    """What all of them are: checked, also when they change."""

    model_config = ConfigDict(extra="forbid", validate_assignment=True)


class Account(Entity):
    """An owner of repositories, or an author; in `World.accounts` by its login in lower case."""

    id: int
    login: str
    kind: Literal["User", "Organization", "Bot"] = "User"


class Identity(Entity):
    """Who a token speaks for, and what it may do.

    kind          `user` (a fine-grained personal token), `actions` (a job's GITHUB_TOKEN),
                  `installation` (an App's), `app` (the App itself, by its JWT)
    repositories  full names; None means all of `owner`'s ("" for every owner's)
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
        """The name that GitHub prefers to the number."""
        return f"Iv1.{self.id:016x}"

    @property
    def issuers(self) -> tuple[int | str, ...]:
        """What stands for the App in its JWTs: the number, also as a text, or the client id."""
        return self.id, str(self.id), self.client_id


class Installation(Entity):
    """An App in an account; `repositories` as in Identity."""

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
    """What somebody says of a pull request at a commit; PENDING until it is submitted."""

    id: int
    author: str
    state: Literal["APPROVED", "CHANGES_REQUESTED", "COMMENTED", "PENDING"]
    body: str
    commit: str
    submitted_at: datetime | None


class PullRequest(Entity):
    """What makes an issue a pull request; its commits stand still once it is closed.

    `merge_commit` is what the merge has made; before that, the commit that tries the merge out
    ("" where it cannot be merged).
    """

    head_repository: str
    head_branch: str
    head_commit: str
    base_branch: str
    base_commit: str
    draft: bool = False
    reviews: list[Review] = Field(default_factory=list)
    merged_at: datetime | None = None
    merged_by: str = ""
    merge_commit: str = ""

    @property
    def opinions(self) -> dict[str, str]:
        """Login -> what was said last: `APPROVED` or `CHANGES_REQUESTED`; comments change none."""
        deciding = ("APPROVED", "CHANGES_REQUESTED")
        return {one.author: one.state for one in self.reviews if one.state in deciding}


class IssueEvent(Entity):
    """What happened to an issue: `event` is GitHub's word for it.

    `commit` is that of a merge; `label` is a label's name with its color; `renamed` are the titles.
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
    """An issue or, with `pull_request`, a pull request: they share their numbers.

    `labels` are keys of the repository's labels; `state_reason` says why an issue was closed
    (`completed`, `not_planned`, `duplicate`) or that it was `reopened`.
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
    """One commit status; the latest of a context counts."""

    id: int
    commit: str
    context: str
    state: Literal["error", "failure", "pending", "success"]
    description: str | None
    target_url: str | None
    author: str
    created_at: datetime


class WorkflowRun(Entity):
    """A run that a dispatch has started; `workflow` is the path of its file.

    Nothing executes it here: whoever does sets its status and conclusion.
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
    """A GitHub environment with its variables and the names of its secrets, in capitals."""

    id: int
    name: str
    created_at: datetime
    variables: dict[str, str] = Field(default_factory=dict)
    secrets: list[str] = Field(default_factory=list)


class BranchRule(Entity):
    """What protects branches whose names match `pattern` (a glob).

    Those in `may_push` are bound by nothing but the refusal of force pushes and deletion;
    with `restrict_pushes` nobody else may push. It is part of a ruleset, or `classic`.
    """

    pattern: str
    classic: bool = False
    required_reviews: int = 0
    dismiss_stale_reviews: bool = False
    required_contexts: list[str] = Field(default_factory=list)
    allow_force_push: bool = False
    restrict_pushes: bool = False
    may_push: list[str] = Field(default_factory=list)


class Repository(Entity):
    """A repository; `World.git` has its files and commits.

    `labels` and `environments` lie under their names in lower case, `variables` under theirs in
    capitals. Of secrets there are names alone; `shared_variables` and `shared_secrets` are those of
    the organization. `actions_may_open_pull_requests` is the setting that a GITHUB_TOKEN needs for
    it, `allowed_actions` says whose actions may be used.
    """

    id: int
    owner: str
    name: str
    private: bool = True
    default_branch: str = "main"
    archived: bool = False
    actions_may_open_pull_requests: bool = True
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

    @property
    def full_name(self) -> str:
        """`owner/name`."""
        return f"{self.owner}/{self.name}"


class Event(Entity):
    """What GitHub would tell workflows: an event's name, its repository, ref and payload.

    `starts_workflows` is false where GitHub would start none (most acts of a GITHUB_TOKEN);
    `held` where a person must approve the runs first. `commit` is "" for a deleted ref. Of old
    events the payload is forgotten ({}).
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
