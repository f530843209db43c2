"""What exists in the sandbox. Files and commits lie in bare repositories; the rest is here.

Everything is a pydantic model, so that the world is written to one JSON file and read again.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, PrivateAttr, ValidationError

from kalypso_actions.clients.process import Programs
from kalypso_actions.errors import KalypsoError
from kalypso_actions.sandbox.names import is_login, is_repository
from kalypso_actions.sandbox.repositories import BareRepository

Permissions = dict[str, Literal["read", "write", "admin"]]
"""GitHub's names: contents, pull_requests, issues, statuses, actions, workflows, environments, …"""


class _Entity(BaseModel):
    model_config = ConfigDict(extra="forbid", validate_assignment=True)


class Account(_Entity):
    """An owner of repositories, or an author; in `World.accounts` by its login in lower case."""

    id: int
    login: str
    kind: Literal["User", "Organization", "Bot"] = "User"


class Identity(_Entity):
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


class App(_Entity):
    """A GitHub App, with its installations by owner (login -> installation)."""

    id: int
    slug: str
    public_key: str
    permissions: Permissions
    installations: dict[str, Installation] = Field(default_factory=dict)


class Installation(_Entity):
    """An App in an account; `repositories` as in Identity."""

    id: int
    repositories: list[str] | None = None
    suspended: bool = False


class Label(_Entity):
    """A label of a repository."""

    id: int
    name: str
    color: str = "ededed"
    description: str | None = None


class Comment(_Entity):
    """A comment on an issue or pull request."""

    id: int
    body: str
    author: str
    created_at: datetime
    updated_at: datetime


class PullRequest(_Entity):
    """What makes an issue a pull request; its commits stand still once it is closed.

    `merge_commit` is what the merge has made; before that, the commit that tries the merge out
    ("" where it cannot be merged). `approvals` are the logins of those who approved.
    """

    head_repository: str
    head_branch: str
    head_commit: str
    base_branch: str
    base_commit: str
    draft: bool = False
    approvals: list[str] = Field(default_factory=list)
    merged_at: datetime | None = None
    merged_by: str = ""
    merge_commit: str = ""


class Issue(_Entity):
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
    pull_request: PullRequest | None = None
    created_at: datetime
    updated_at: datetime
    closed_at: datetime | None = None
    closed_by: str = ""


class Status(_Entity):
    """One commit status; the latest of a context counts."""

    id: int
    commit: str
    context: str
    state: Literal["error", "failure", "pending", "success"]
    description: str | None
    target_url: str | None
    author: str
    created_at: datetime


class WorkflowRun(_Entity):
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
    status: str = "queued"
    conclusion: str | None = None


class Environment(_Entity):
    """A GitHub environment with its variables, whose names are in capitals."""

    id: int
    name: str
    created_at: datetime
    variables: dict[str, str] = Field(default_factory=dict)


class BranchRule(_Entity):
    """What protects branches whose names match `pattern` (a glob).

    Those in `may_push` are bound by nothing but the refusal of force pushes and deletion;
    with `restrict_pushes` nobody else may push.
    """

    pattern: str
    required_reviews: int = 0
    required_contexts: list[str] = Field(default_factory=list)
    allow_force_push: bool = False
    restrict_pushes: bool = False
    may_push: list[str] = Field(default_factory=list)


class Repository(_Entity):
    """A repository; `World.git` has its files and commits.

    `labels` and `environments` lie under their names in lower case, `variables` under theirs in
    capitals. `actions_may_open_pull_requests` is the setting that a GITHUB_TOKEN needs for it.
    """

    id: int
    owner: str
    name: str
    private: bool = True
    default_branch: str = "main"
    archived: bool = False
    actions_may_open_pull_requests: bool = True
    created_at: datetime
    pushed_at: datetime
    former_names: list[str] = Field(default_factory=list)
    labels: dict[str, Label] = Field(default_factory=dict)
    issues: dict[int, Issue] = Field(default_factory=dict)
    statuses: list[Status] = Field(default_factory=list)
    runs: list[WorkflowRun] = Field(default_factory=list)
    environments: dict[str, Environment] = Field(default_factory=dict)
    variables: dict[str, str] = Field(default_factory=dict)
    rules: list[BranchRule] = Field(default_factory=list)
    next_number: int = 1

    @property
    def full_name(self) -> str:
        """`owner/name`."""
        return f"{self.owner}/{self.name}"


class Event(_Entity):
    """What GitHub would tell workflows: an event's name, its repository, ref and payload.

    `starts_workflows` is false where GitHub would start none (most acts of a GITHUB_TOKEN);
    `held` where a person must approve the runs first.
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


def _the_epoch() -> datetime:
    return datetime.fromtimestamp(0, UTC)


class World(_Entity):
    """Everything; `clusters` belongs to `sandbox.azure`.

    `repositories` lie under their full names in lower case. `api_url` and `server_url` begin the
    links in events; `flavour` is the GitHub that is embedded: github.com, or a GitHub Enterprise
    Server that lacks what is newest.
    """

    accounts: dict[str, Account] = Field(default_factory=dict)
    repositories: dict[str, Repository] = Field(default_factory=dict)
    tokens: dict[str, Identity] = Field(default_factory=dict)
    apps: dict[int, App] = Field(default_factory=dict)
    events: list[Event] = Field(default_factory=list)
    clusters: dict[str, dict[str, Any]] = Field(default_factory=dict)
    next_id: int = 1
    flavour: Literal["github.com", "ghes"] = "github.com"
    api_url: str = "https://api.github.com"
    server_url: str = "https://github.com"

    _folder: Path = PrivateAttr(default=Path())
    # Made by a factory: pydantic would take a function that stands here for a method.
    _now: Callable[[], datetime] = PrivateAttr(default_factory=lambda: _the_epoch)
    _programs: Programs = PrivateAttr(default_factory=lambda: Programs({}))

    @classmethod
    def open(cls, folder: Path, now: Callable[[], datetime], programs: Programs) -> World:
        """The world of a folder: what was saved there, else an empty one.

        Raises KalypsoError where another version has saved something else.
        """
        file = folder / "world.json"
        try:
            world = cls.model_validate_json(file.read_bytes()) if file.exists() else cls()
        except ValidationError as error:
            message = f"{file} is no world of this version's sandbox"
            raise KalypsoError(message, advice="start with a new folder") from error
        world._folder = folder
        world._now = now
        world._programs = programs
        return world

    def save(self) -> None:
        """Write everything to the folder, whole or not at all."""
        self._folder.mkdir(parents=True, exist_ok=True)
        draft = self._folder / "world.json.new"
        draft.touch(mode=0o600)  # tokens are in it
        draft.write_text(self.model_dump_json(), encoding="utf-8")
        draft.replace(self._folder / "world.json")

    @property
    def now(self) -> datetime:
        """The time, to the second, as GitHub tells it."""
        return self._now().replace(microsecond=0)

    def new_id(self) -> int:
        """An id that nothing else has."""
        self.next_id += 1
        return self.next_id

    def git(self, repository: Repository) -> BareRepository:
        """A repository's files and commits."""
        name = f"{repository.owner}/{repository.name}.git".lower()
        return BareRepository(self._folder / "repositories" / name, self._programs)

    def repository(self, full_name: str) -> Repository | None:
        """By its name or a former one; names do not differ by case."""
        wanted = full_name.lower()
        if wanted in self.repositories:
            return self.repositories[wanted]
        for repository in self.repositories.values():
            if wanted in (name.lower() for name in repository.former_names):
                return repository
        return None

    def add_repository(
        self, owner: str, name: str, *, private: bool = True, default_branch: str = "main"
    ) -> Repository:
        """An empty repository; its owner becomes an organization unless there is such an account.

        Raises ValueError when the name is taken or cannot be one.
        """
        self.check_free(owner, name)
        repository = Repository(
            id=self.new_id(),
            owner=self.account(owner, "Organization").login,
            name=name,
            private=private,
            default_branch=default_branch,
            created_at=self.now,
            pushed_at=self.now,
        )
        self.git(repository).create(default_branch)
        self.repositories[repository.full_name.lower()] = repository
        return repository

    def check_free(self, owner: str, name: str) -> None:
        """Raise ValueError where no repository can be called so, or one is."""
        if not (is_login(owner) and is_repository(name)):
            raise ValueError(f"no repository can be called {owner}/{name}")
        if self.repository(f"{owner}/{name}"):
            raise ValueError(f"there is a repository {owner}/{name}")

    def account(self, login: str, kind: Literal["User", "Organization", "Bot"] = "User") -> Account:
        """The account of that name, made with this kind where it is missing.

        Raises ValueError for what cannot be the name of one.
        """
        account = self.accounts.get(login.lower())
        if account is None:
            if not is_login(login):
                raise ValueError(f"no account can be called {login!r}")
            kind = "Bot" if login.endswith("[bot]") else kind
            account = Account(id=self.new_id(), login=login, kind=kind)
            self.accounts[login.lower()] = account
        return account
