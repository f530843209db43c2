"""The data of a sandbox, except files and commits, which are in bare repositories.

One JSON file of a folder holds the data and is rewritten after each change; another file holds the
events, with a line for each event, because events are most of the data. A lock lets one sandbox at
a time use the folder.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final, Literal, Self, TypeVar

from pydantic import BaseModel, ConfigDict, Field, PrivateAttr, ValidationError

from kalypso_actions.clients.process import Programs
from kalypso_actions.errors import KalypsoError
from kalypso_sandbox.git.repositories import BareRepository

if sys.platform == "win32":
    import msvcrt

    def _lock(file: int) -> None:
        msvcrt.locking(file, msvcrt.LK_NBLCK, 1)
else:
    import fcntl

    def _lock(file: int) -> None:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)


PERSON: Final = "somebody"
"""The login of people whose token names no other one."""

ACTIONS: Final = "github-actions[bot]"
ACTIONS_ID: Final = 41_898_282
"""The user of all GITHUB_TOKENs on github.com."""

LOGIN: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,99}(\[bot\])?")
REPOSITORY: Final = re.compile(r"(?!\.+\Z)[A-Za-z0-9._-]{1,100}(?<!\.git)(?<!\.wiki)")
"""The valid names of accounts and repositories, which become folders. `x.git` is not valid, because
it is the clone URL of `x`."""

DATA: Final = "world.json"
EVENTS: Final = "events.jsonl"
LOCK: Final = "in-use"

PAYLOADS: Final = 1000
PAYLOADS_IN_MEMORY: Final = 200
"""The number of newest events that keep their payloads, on the disk and in memory, because a
sandbox may run for days: thirty events of a promotion take 1.2 MB in memory."""

RunStatus = Literal["completed", "in_progress", "pending", "queued", "requested", "waiting"]
RunConclusion = Literal[
    "action_required", "cancelled", "failure", "neutral", "skipped", "stale", "success", "timed_out"
]  # fmt: skip

Permissions = dict[str, Literal["read", "write", "admin"]]
"""Levels by GitHub's names: contents, pull_requests, issues, statuses, actions, workflows, …"""


class Entity(BaseModel):
    """The base class: values are validated when they are set."""

    model_config = ConfigDict(extra="forbid", validate_assignment=True)


EntityT = TypeVar("EntityT", bound=Entity)


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
    merged_at: datetime | None = None
    merged_by: str = ""
    merge_commit: str = ""
    auto_merge: AutoMerge | None = None


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

    @property
    def pull(self) -> PullRequest:
        """Return the fields of the pull request. Raises LookupError for an issue."""
        if self.pull_request is None:
            raise LookupError(f"#{self.number} is not a pull request")
        return self.pull_request


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


class CheckRun(Entity):
    """A check run of a commit by an App; `conclusion` is None before its end."""

    id: int
    commit: str
    name: str
    app: str
    conclusion: (
        Literal[
            "action_required",
            "cancelled",
            "failure",
            "neutral",
            "skipped",
            "success",
            "timed_out",
        ]
        | None
    )
    started_at: datetime


class StepRun(Entity):
    """A step of a job: Kalypso's command, or an action that keeps files, by its `name`.

    `folder` has `log.txt`, `summary.md` and `outputs.txt`; it is relative to the folder of the
    runner. `note` says what is special, as that the step does not run here.
    """

    name: str
    status: RunStatus = "queued"
    conclusion: str | None = None
    folder: str = ""
    note: str = ""
    started_at: datetime | None = None
    completed_at: datetime | None = None


class JobRun(Entity):
    """A job of a run: `key` as in the file, and the `name` that people see.

    It is `waiting` while its environment asks a person to approve it.
    """

    key: str
    name: str
    environment: str = ""
    status: RunStatus = "queued"
    conclusion: str | None = None
    steps: list[StepRun] = Field(default_factory=list)
    started_at: datetime | None = None
    completed_at: datetime | None = None


class WorkflowRun(Entity):
    """A run of a workflow that an event started; `workflow` is the path of its file.

    A dispatch makes a run without jobs; a runner executes it, or sets its status and conclusion.
    `name` is that of the workflow, `title` that of the run; both are "" before a runner knows the
    run. A person who runs it again is the `triggering_actor`, and `attempt` counts from 1. `group`
    is the concurrency group. `reason` says why a run is not executed here (its conclusion is
    `skipped`), or why it was cancelled.
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
    event: str = "workflow_dispatch"
    event_id: int = 0
    name: str = ""
    title: str = ""
    attempt: int = 1
    triggering_actor: str = ""
    group: str = ""
    reason: str = ""
    jobs: list[JobRun] = Field(default_factory=list)
    started_at: datetime | None = None
    completed_at: datetime | None = None


class Environment(Entity):
    """A GitHub environment with its variables and the names of its secrets, in upper case.

    With `needs_approval`, a job waits until a person approves it. `branches` are those that may
    use it, none: all; the sandbox tells this, and does not enforce it.
    """

    id: int
    name: str
    created_at: datetime
    needs_approval: bool = False
    branches: list[str] = Field(default_factory=list)
    variables: dict[str, str] = Field(default_factory=dict)
    secrets: list[str] = Field(default_factory=list)


class BranchRule(Entity):
    """A rule that protects the branches whose names match the glob `pattern`.

    It does not apply to users in `may_push`, except for force pushes and deletion. With
    `restrict_pushes`, nobody else may push. The rule is part of a ruleset, or a `classic` one. The
    sandbox has no reviews: `required_reviews` keeps everybody from merging.
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
    check_runs: list[CheckRun] = Field(default_factory=list)
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
    deleted ref. Old events lose their payload ({}): see `Store.event`.
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


class Store(Entity):
    """All data of a sandbox. `azure.clusters` describes `clusters`.

    The keys of `repositories` are full names in lower case. Links in events begin with `api_url`
    and `server_url`. `flavour` is github.com or GitHub Enterprise Server, which lacks the newest
    features. `lag` is the number of seconds that some endpoints lag behind a write: see `lags`.
    A token without the permission `workflows` may only push workflow files that
    `workflows_known_from` has already. The commit statuses of clusters until `clusters_heard_until`
    are in the repositories. A runner in the background has started the workflows of the events
    until the id `events_run_until` (None: there was no runner). `saved_at` is the time of the clock
    at the last change.
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
    clusters_heard_until: datetime | None = None
    events_run_until: int | None = None
    saved_at: datetime | None = None

    _folder: Path = PrivateAttr(default=Path())
    _log: EventLog = PrivateAttr(default_factory=lambda: EventLog(Path()))
    # The default is a factory, because pydantic would turn a plain function into a method.
    _now: Callable[[], datetime] = PrivateAttr(
        default_factory=lambda: lambda: datetime.fromtimestamp(0, UTC)
    )
    _programs: Programs = PrivateAttr(default_factory=lambda: Programs({}))
    _gits: dict[int, BareRepository] = PrivateAttr(default_factory=dict)
    """The repositories by id. Each instance caches the commits that it has read."""

    @classmethod
    def open(cls, folder: Path, now: Callable[[], datetime], programs: Programs) -> Self:
        """Return the store that a folder keeps, or an empty one.

        Raises KalypsoError if another version saved the files.
        """
        file = folder / DATA
        store = _parsed(cls, file, file.read_bytes()) if file.exists() else cls()
        store._folder = folder
        store._log = EventLog(folder)
        store.events = store._log.read()
        store._drop_payloads()
        store.next_id = max([store.next_id, *(event.id for event in store.events)])
        store._now = now
        store._programs = programs
        return store

    def save(self) -> None:
        """Write all data to the folder, atomically."""
        self._folder.mkdir(parents=True, exist_ok=True)
        self.saved_at = self._now()
        self._log.append(self.events)
        self._drop_payloads()
        _replace(self._folder / DATA, self.model_dump_json())

    def _drop_payloads(self) -> None:
        """Drop the payloads of old events, which the disk has."""
        for event in reversed(self.events[:-PAYLOADS_IN_MEMORY]):
            if not event.payload:
                break
            event.payload = {}

    def event(self, event_id: int) -> Event | None:
        """Return an event, with its payload if the disk still has it."""
        event = next((each for each in self.events if each.id == event_id), None)
        if event is None or event.payload:
            return event
        return next((each for each in self._log.read() if each.id == event_id), event)

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
        if not (LOGIN.fullmatch(owner) and REPOSITORY.fullmatch(name)):
            raise ValueError(f"{owner}/{name} is not a valid repository name")
        if self.repository(f"{owner}/{name}"):
            raise ValueError(f"the repository {owner}/{name} exists already")

    def account(self, login: str, kind: Literal["User", "Organization", "Bot"] = "User") -> Account:
        """Return the account with this login; create it with this kind if it is missing.

        Raises ValueError for an invalid login.
        """
        account = self.accounts.get(login.lower())
        if account is None:
            if not LOGIN.fullmatch(login):
                raise ValueError(f"{login!r} is not a valid login")
            kind = "Bot" if login.endswith("[bot]") else kind
            account_id = ACTIONS_ID if login.lower() == ACTIONS else self.new_id()
            account = Account(id=account_id, login=login, kind=kind)
            self.accounts[login.lower()] = account
        return account


class EventLog:
    """The event file of a folder."""

    def __init__(self, folder: Path) -> None:
        self._file = folder / EVENTS
        self._last = 0

    def read(self) -> list[Event]:
        """Return every event, oldest first. Raises KalypsoError if the file has another format."""
        content = self._file.read_bytes() if self._file.exists() else b""
        # An interrupted write leaves a last line without a newline.
        lines = content.splitlines(keepends=True)
        whole = [line for line in lines if line.endswith(b"\n")]
        events = [_parsed(Event, self._file, line) for line in whole]
        if len(events) > PAYLOADS or len(whole) < len(lines):
            for event in events[:-PAYLOADS]:
                event.payload = {}
            _replace(self._file, _lines(events))
        self._last = max((event.id for event in events), default=0)
        return events

    def append(self, events: Sequence[Event]) -> None:
        """Write the events that the file lacks; the ids of events increase."""
        new = []
        for event in reversed(events):
            if event.id <= self._last:
                break
            new.append(event)
        if new:
            self._file.touch(mode=0o600)
            with self._file.open("a", encoding="utf-8", newline="\n") as file:
                file.write(_lines(new[::-1]))
            self._last = new[0].id


def _lines(events: Sequence[Event]) -> str:
    return "".join(f"{event.model_dump_json()}\n" for event in events)


def _parsed(kind: type[EntityT], file: Path, content: bytes) -> EntityT:
    try:
        return kind.model_validate_json(content)
    except ValidationError as error:
        message = f"{file} was not written by this version's sandbox"
        raise KalypsoError(message, advice="start with a new folder") from error


def _replace(file: Path, text: str) -> None:
    """Replace a file atomically; only its owner can read it, because it contains tokens."""
    draft = file.with_name(f"{file.name}.new")
    draft.touch(mode=0o600)
    draft.write_text(text, encoding="utf-8", newline="\n")
    draft.replace(file)


class FolderLock:
    """Locks a folder until release; the operating system releases it when the program ends.

    Raises KalypsoError if another sandbox holds the lock, or the folder cannot be used.
    """

    def __init__(self, folder: Path) -> None:
        try:
            folder.mkdir(parents=True, exist_ok=True)
            self._file = os.open(folder / LOCK, os.O_RDWR | os.O_CREAT, 0o600)
        except OSError as error:
            raise KalypsoError(f"{folder} cannot be used: {error.strerror}") from error
        try:
            _lock(self._file)
        except OSError as error:
            self.release()
            message = f"another sandbox is running in {folder}"
            advice = "stop it, or use another folder"
            raise KalypsoError(message, advice=advice) from error

    def release(self) -> None:
        """Release the lock."""
        os.close(self._file)
