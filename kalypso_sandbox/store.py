"""The data of a sandbox, except files and commits, which are in bare repositories.

One JSON file holds the data and is rewritten after each change; another file holds the events.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final, Literal

from pydantic import Field, PrivateAttr, ValidationError

from kalypso_actions.clients.process import Programs
from kalypso_actions.errors import KalypsoError
from kalypso_sandbox.entities import (
    Account,
    App,
    AutoMerge,
    BranchRule,
    Comment,
    Entity,
    Environment,
    Event,
    Identity,
    Installation,
    Issue,
    IssueEvent,
    Label,
    Permissions,
    PullRequest,
    Repository,
    Review,
    Status,
    WorkflowRun,
)
from kalypso_sandbox.event_log import PAYLOADS, EventLog
from kalypso_sandbox.git.repositories import BareRepository
from kalypso_sandbox.github.valid_names import is_valid_login, is_valid_repository_name

__all__ = [
    "Account",
    "App",
    "AutoMerge",
    "BranchRule",
    "Comment",
    "Environment",
    "Event",
    "Identity",
    "Installation",
    "Issue",
    "IssueEvent",
    "Label",
    "Permissions",
    "PullRequest",
    "Repository",
    "Review",
    "Status",
    "Store",
    "WorkflowRun",
]


ACTIONS: Final = "github-actions[bot]"
ACTIONS_ID: Final = 41_898_282
"""The user of all GITHUB_TOKENs on github.com."""


def _the_epoch() -> datetime:
    return datetime.fromtimestamp(0, UTC)


class Store(Entity):
    """All data of a sandbox. `azure.clusters` describes `clusters`.

    The keys of `repositories` are full names in lower case. Links in events begin with `api_url`
    and `server_url`. `flavour` is github.com or GitHub Enterprise Server, which lacks the newest
    features. `lag` is the number of seconds that some endpoints lag behind a write: see `lags`.
    A token without the permission `workflows` may only push workflow files that
    `workflows_known_from` has already.
    """

    accounts: dict[str, Account] = Field(default_factory=dict)
    repositories: dict[str, Repository] = Field(default_factory=dict)
    tokens: dict[str, Identity] = Field(default_factory=dict)
    apps: dict[int, App] = Field(default_factory=dict)
    events: list[Event] = Field(default_factory=list, exclude=True)
    clusters: dict[str, dict[str, Any]] = Field(default_factory=dict)
    next_id: int = 1
    flavour: Literal["github.com", "ghes"] = "github.com"
    workflows_known_from: Literal["any branch", "default branch"] = "any branch"
    api_url: str = "https://api.github.com"
    server_url: str = "https://github.com"
    lag: float = 0.0

    _folder: Path = PrivateAttr(default=Path())
    _log: EventLog = PrivateAttr(default_factory=lambda: EventLog(Path()))
    # The default is a factory, because pydantic would turn a plain function into a method.
    _now: Callable[[], datetime] = PrivateAttr(default_factory=lambda: _the_epoch)
    _programs: Programs = PrivateAttr(default_factory=lambda: Programs({}))
    _gits: dict[int, BareRepository] = PrivateAttr(default_factory=dict)
    """The repositories by id. Each instance caches the commits that it has read."""

    @classmethod
    def open(cls, folder: Path, now: Callable[[], datetime], programs: Programs) -> Store:
        """Return the store that a folder keeps, or an empty one.

        Raises KalypsoError if another version saved the files.
        """
        file = folder / "world.json"
        try:
            store = cls.model_validate_json(file.read_bytes()) if file.exists() else cls()
        except ValidationError as error:
            message = f"{file} was not written by this version's sandbox"
            raise KalypsoError(message, advice="start with a new folder") from error
        store._folder = folder
        store._log = EventLog(folder)
        store.events = store._log.read()
        store.next_id = max([store.next_id, *(event.id for event in store.events)])
        store._now = now
        store._programs = programs
        return store

    def save(self) -> None:
        """Write all data to the folder, atomically."""
        self._folder.mkdir(parents=True, exist_ok=True)
        self._log.append(self.events)
        draft = self._folder / "world.json.new"
        draft.touch(mode=0o600)  # tokens are in it
        draft.write_text(self.model_dump_json(), encoding="utf-8")
        draft.replace(self._folder / "world.json")

    def add_event(self, event: Event) -> None:
        """Add an event, and drop the payload of the oldest event that has one."""
        self.events.append(event)
        if len(self.events) > PAYLOADS:
            self.events[-PAYLOADS - 1].payload = {}

    @property
    def now(self) -> datetime:
        """Return the current time without fractions of a second, as GitHub does."""
        return self._now().replace(microsecond=0)

    def lags(self, written_at: datetime | None, identity: Identity) -> bool:
        """Return whether an endpoint may not know yet of a write at the time `written_at`.

        People see every write, because they are slower than the programs of a job.
        """
        if not self.lag or written_at is None or identity.kind == "user":
            return False
        return (self._now() - written_at).total_seconds() < self.lag

    def new_id(self) -> int:
        """Return a new, unique id."""
        self.next_id += 1
        return self.next_id

    def git(self, repository: Repository) -> BareRepository:
        """Return the bare repository of a repository."""
        name = f"{repository.owner}/{repository.name}.git".lower()
        git_dir = self._folder / "repositories" / name
        known = self._gits.get(repository.id)
        if known is None or known.git_dir != git_dir:
            known = self._gits[repository.id] = BareRepository(git_dir, self._programs)
        return known

    def repository(self, full_name: str) -> Repository | None:
        """Return a repository by its current or a former name, ignoring case."""
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
        """Create an empty repository. An unknown owner becomes an organization.

        Raises ValueError if the name is invalid or in use.
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
        """Raise ValueError if a repository name is invalid or in use."""
        if not (is_valid_login(owner) and is_valid_repository_name(name)):
            raise ValueError(f"{owner}/{name} is not a valid repository name")
        if self.repository(f"{owner}/{name}"):
            raise ValueError(f"the repository {owner}/{name} exists already")

    def account(self, login: str, kind: Literal["User", "Organization", "Bot"] = "User") -> Account:
        """Return the account with this login; create it with this kind if it is missing.

        Raises ValueError for an invalid login.
        """
        account = self.accounts.get(login.lower())
        if account is None:
            if not is_valid_login(login):
                raise ValueError(f"{login!r} is not a valid login")
            kind = "Bot" if login.endswith("[bot]") else kind
            account_id = ACTIONS_ID if login.lower() == ACTIONS else self.new_id()
            account = Account(id=account_id, login=login, kind=kind)
            self.accounts[login.lower()] = account
        return account
