"""What exists in the sandbox. Files and commits lie in bare repositories; the rest is here.

It is kept in one JSON file, which is written whole after each change, and its events in another.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Literal

from pydantic import Field, PrivateAttr, ValidationError

from kalypso_actions.clients.process import Programs
from kalypso_actions.errors import KalypsoError
from kalypso_actions.sandbox.entities import (
    Account,
    App,
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
from kalypso_actions.sandbox.event_log import PAYLOADS, EventLog
from kalypso_actions.sandbox.repositories import BareRepository
from kalypso_actions.sandbox.valid_names import is_valid_login, is_valid_repository_name

__all__ = [
    "Account",
    "App",
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


def _the_epoch() -> datetime:
    return datetime.fromtimestamp(0, UTC)


class Store(Entity):
    """Everything; `clusters` belongs to `sandbox.azure`.

    `repositories` lie under their full names in lower case. `api_url` and `server_url` begin the
    links in events; `flavour` is the GitHub that is embedded: github.com, or a GitHub Enterprise
    Server that lacks what is newest.
    """

    accounts: dict[str, Account] = Field(default_factory=dict)
    repositories: dict[str, Repository] = Field(default_factory=dict)
    tokens: dict[str, Identity] = Field(default_factory=dict)
    apps: dict[int, App] = Field(default_factory=dict)
    events: list[Event] = Field(default_factory=list, exclude=True)
    clusters: dict[str, dict[str, Any]] = Field(default_factory=dict)
    next_id: int = 1
    flavour: Literal["github.com", "ghes"] = "github.com"
    api_url: str = "https://api.github.com"
    server_url: str = "https://github.com"

    _folder: Path = PrivateAttr(default=Path())
    _log: EventLog = PrivateAttr(default_factory=lambda: EventLog(Path()))
    # Made by a factory: pydantic would take a function that stands here for a method.
    _now: Callable[[], datetime] = PrivateAttr(default_factory=lambda: _the_epoch)
    _programs: Programs = PrivateAttr(default_factory=lambda: Programs({}))
    _gits: dict[int, BareRepository] = PrivateAttr(default_factory=dict)
    """By the repository's id: each remembers what it has read of commits."""

    @classmethod
    def open(cls, folder: Path, now: Callable[[], datetime], programs: Programs) -> Store:
        """The world of a folder: what was saved there, else an empty one.

        Raises KalypsoError where another version has saved something else.
        """
        file = folder / "world.json"
        try:
            store = cls.model_validate_json(file.read_bytes()) if file.exists() else cls()
        except ValidationError as error:
            message = f"{file} is no world of this version's sandbox"
            raise KalypsoError(message, advice="start with a new folder") from error
        store._folder = folder
        store._log = EventLog(folder)
        store.events = store._log.read()
        store.next_id = max([store.next_id, *(event.id for event in store.events)])
        store._now = now
        store._programs = programs
        return store

    def save(self) -> None:
        """Write everything to the folder, whole or not at all."""
        self._folder.mkdir(parents=True, exist_ok=True)
        self._log.append(self.events)
        draft = self._folder / "world.json.new"
        draft.touch(mode=0o600)  # tokens are in it
        draft.write_text(self.model_dump_json(), encoding="utf-8")
        draft.replace(self._folder / "world.json")

    def add_event(self, event: Event) -> None:
        """Add an event. Payloads of old ones are forgotten."""
        self.events.append(event)
        if len(self.events) > PAYLOADS:
            self.events[-PAYLOADS - 1].payload = {}

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
        git_dir = self._folder / "repositories" / name
        known = self._gits.get(repository.id)
        if known is None or known.git_dir != git_dir:
            known = self._gits[repository.id] = BareRepository(git_dir, self._programs)
        return known

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
        if not (is_valid_login(owner) and is_valid_repository_name(name)):
            raise ValueError(f"no repository can be called {owner}/{name}")
        if self.repository(f"{owner}/{name}"):
            raise ValueError(f"there is a repository {owner}/{name}")

    def account(self, login: str, kind: Literal["User", "Organization", "Bot"] = "User") -> Account:
        """The account of that name, made with this kind where it is missing.

        Raises ValueError for what cannot be the name of one.
        """
        account = self.accounts.get(login.lower())
        if account is None:
            if not is_valid_login(login):
                raise ValueError(f"no account can be called {login!r}")
            kind = "Bot" if login.endswith("[bot]") else kind
            account = Account(id=self.new_id(), login=login, kind=kind)
            self.accounts[login.lower()] = account
        return account
