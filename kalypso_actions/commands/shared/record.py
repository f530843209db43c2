"""The branch that holds the record, in a repository or in a folder on this machine.

branch = record_branch(context, "acme/record")
head, record = read_record(branch)
"""

from __future__ import annotations

import hashlib
import sqlite3
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import Final, Protocol, TypeVar

from kalypso_actions.clients.git import PushConflictError, WritableRepository, is_repository
from kalypso_actions.clients.git.line_log import CommitLines, LineLog
from kalypso_actions.clients.git.shallow_clone import create_bare_repository
from kalypso_actions.clients.process import Programs
from kalypso_actions.commands.shared.carry_out import push
from kalypso_actions.commands.shared.context import CommandContext, visibility_of
from kalypso_actions.commands.shared.local_commits import LocalBranch
from kalypso_actions.errors import KalypsoError, Location, UsageError
from kalypso_actions.inputs.paths import is_folder
from kalypso_actions.model.urls import owner_of
from kalypso_actions.model.writes import CommitBy, Push
from kalypso_actions.observations.projection import (
    Database,
    Log,
    SqliteDatabase,
    Step,
    load,
    loaded_head,
)
from kalypso_actions.observations.record import ObservationRecord, place_of
from kalypso_actions.observations.retention import pruned

BRANCH: Final = "kalypso-observability"

LONGEST_LOAD: Final = 120
"""Seconds to wait for another process that loads the same record."""

Answer = TypeVar("Answer")


class RecordBranch(Protocol):
    """A branch with a record, wherever it lies."""

    @property
    def name(self) -> str:
        """The name for people."""

    def head(self) -> str:
        """Return the newest commit, read anew; "" if the branch does not exist."""

    def files(self, commit: str) -> Mapping[str, bytes]:
        """Return the files of a commit. Raises KalypsoError."""

    def log(self, commit: str, after: str = "") -> LineLog:
        """Return the changed lines of the commits after `after`, or of all. Raises KalypsoError."""

    def push_of(self, head: str, changes: Mapping[str, bytes | None], message: str) -> Push:
        """Return the write of a commit on `head`."""

    def carry_out(self, write: Push, at: datetime) -> str:
        """Make the commit, and return it.

        Raises PushConflictError if another run has moved the branch.
        """


@dataclass(frozen=True, slots=True)
class FolderRecord:
    """A record in a repository on this machine: bare or a clone, whose work tree stays as it is.

    The first write makes a bare repository in a missing or empty folder.
    """

    folder: Path
    programs: Programs

    @classmethod
    def open(cls, folder: Path, programs: Programs, *, create: bool) -> FolderRecord:
        """Open a folder, which may be missing or empty with `create`.

        Raises UsageError for another folder that is no repository.
        """
        record = cls(folder, programs)
        is_free = not folder.exists() or (folder.is_dir() and not any(folder.iterdir()))
        if not record._exists and not (create and is_free):
            raise UsageError(
                f"record: {folder} is no git repository",
                advice="name a repository, or a new or empty folder for `kalypso observe`",
            )
        return record

    @property
    def name(self) -> str:
        """The name for people."""
        return str(self.folder)

    @property
    def repository(self) -> WritableRepository:
        """The repository in the folder."""
        return WritableRepository(self.folder, self.programs, trust_user_config=True)

    @property
    def _exists(self) -> bool:
        return self.folder.is_dir() and is_repository(self.folder)

    def head(self) -> str:
        """Return the newest commit; "" if the branch does not exist."""
        return self.repository.own_head(BRANCH) if self._exists else ""

    def files(self, commit: str) -> Mapping[str, bytes]:
        """Return the files of a commit. Raises KalypsoError."""
        files = self.repository.files(commit)
        return files.read(files.entries())

    def log(self, commit: str, after: str = "") -> LineLog:
        """Return the changed lines of the commits after `after`, or of all. Raises KalypsoError."""
        return self.repository.line_log(commit, after)

    def push_of(self, head: str, changes: Mapping[str, bytes | None], message: str) -> Push:
        """Return the write of a commit on `head`."""
        return Push(self.name, self.name, BRANCH, head or None, head or None, changes, message)

    def carry_out(self, write: Push, at: datetime) -> str:
        """Make the commits. Raises PushConflictError if the branch is elsewhere."""
        head = write.expected or ""
        if not self._exists:
            create_bare_repository(self.folder, "sha1")
        try:
            branch = LocalBranch(self.repository, BRANCH, head)
            return branch.commit(
                write.changes,
                write.message,
                at,
                earlier=write.earlier,
                is_root=write.parent is None,
            )
        except KalypsoError as error:
            moved = self.head()
            if moved == head:
                raise
            raise PushConflictError(BRANCH, self.name, moved) from error


@dataclass(frozen=True, slots=True)
class RemoteRecord:
    """A record in a repository on GitHub, `owner/name`."""

    context: CommandContext
    repository: str
    branch: str = BRANCH
    commit_by: CommitBy = "auto"

    @property
    def name(self) -> str:
        """The name for people."""
        return f"{self.repository}, branch {self.branch}"

    def head(self) -> str:
        """Return the newest commit, read anew; "" if the branch does not exist."""
        heads = self.context.remotes.heads(self._url, [self.branch])
        return heads.get(self.branch, "")

    def files(self, commit: str) -> Mapping[str, bytes]:
        """Return the files of a commit. Raises KalypsoError."""
        files = self.context.repositories.open(self._url, branch=self.branch, commit=commit)
        return files.read(files.entries())

    def log(self, commit: str, after: str = "") -> LineLog:
        """Return the changed lines of the commits after `after`, or of all. Raises KalypsoError."""
        return self.context.remotes.line_log(self._url, commit, after)

    def push_of(self, head: str, changes: Mapping[str, bytes | None], message: str) -> Push:
        """Return the write of a commit on `head`."""
        return Push(
            self.repository,
            self._url,
            self.branch,
            head or None,
            head or None,
            changes,
            message,
            commit_by=self.commit_by,
            alternative="name another repository in record",
        )

    def carry_out(self, write: Push, _: datetime) -> str:
        """Push the commit. Raises PushConflictError if the branch is elsewhere."""
        return push(write, self.context)

    def check_private(self) -> None:
        """Raise UsageError for a repository that everybody can read.

        Raises GitHubError if GitHub cannot be asked.
        """
        if visibility_of(self.context, self._url) == "public":
            raise UsageError(
                f"record: {self.repository} is public, and the record names all clusters",
                Location(self._url),
                "record in a private repository, or set record-public: true",
            )

    @property
    def _url(self) -> str:
        return self.context.url(self.repository)


def record_branch(
    context: CommandContext,
    place: str,
    *,
    create: bool = False,
    may_be_public: bool = True,
    commit_by: CommitBy = "auto",
) -> RecordBranch:
    """Return the branch that the input `record` names, by default in the control plane.

    `create` makes a missing folder. Raises UsageError for a place that is none, and for a public
    repository unless that is allowed.
    """
    place = place or context.control_plane
    repository, _, branch = place.partition("@")
    if is_folder(place) or not owner_of(repository):
        return FolderRecord.open(Path(place).expanduser(), context.runtime.programs, create=create)
    remote = RemoteRecord(context, repository, branch or BRANCH, commit_by)
    if not may_be_public:
        remote.check_private()
    return remote


def existing_head(branch: RecordBranch) -> str:
    """Return the newest commit of a record. Raises KalypsoError if there is none."""
    head = branch.head()
    if not head:
        raise KalypsoError(
            "there is no record yet", Location(branch.name), "kalypso observe writes one"
        )
    return head


def read_record(branch: RecordBranch) -> tuple[str, ObservationRecord]:
    """Return the head of the branch ("" without one), and the record there.

    Raises KalypsoError for a record that does not parse.
    """
    head = branch.head()
    return head, ObservationRecord.parse(
        branch.files(head), branch.name
    ) if head else ObservationRecord()


def record_log(branch: RecordBranch, head: str, after: str = "") -> Log:
    """Return the changes of the record up to a commit, after another one. Raises KalypsoError."""
    log = branch.log(head, after)
    return Log(log.continues, ((each.commit, _steps(each)) for each in log.commits))


def _steps(commit: CommitLines) -> Iterator[Step]:
    for path, lines in commit.files.items():
        if (place := place_of(path)) is not None:
            yield Step(place, lines.removed, lines.added)


def ask(
    branch: RecordBranch,
    head: str,
    environment: Mapping[str, str],
    question: Callable[[Database], Answer],
) -> Answer:
    """Return what a question finds in the tables of the record up to a commit.

    The tables are a file for each record in the user's cache, where only what is new is loaded. A
    damaged file is made anew; without a place for it, the tables are in memory. Raises KalypsoError
    for a record that cannot be read.
    """
    path = _cache_file(branch.name, environment)
    for _ in range(2):
        try:
            path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            return _ask(str(path), branch, head, question)
        except (sqlite3.OperationalError, OSError):  # locked, or no place on the disk
            break
        except sqlite3.DatabaseError:
            path.unlink(missing_ok=True)
    return _ask(":memory:", branch, head, question)


def ask_record(
    context: CommandContext, record: str, question: Callable[[Database], Answer]
) -> tuple[str, Answer]:
    """Return the name of the record, and what a question finds in it.

    Raises KalypsoError without a record.
    """
    branch = record_branch(context, record)
    head = existing_head(branch)
    return branch.name, ask(branch, head, context.runtime.environment, question)


def _ask(
    path: str, branch: RecordBranch, head: str, question: Callable[[Database], Answer]
) -> Answer:
    with closing(open_sqlite(path, branch, head)) as database:
        database.execute("begin")
        return question(SqliteDatabase(database))


def open_sqlite(path: str, branch: RecordBranch, head: str) -> sqlite3.Connection:
    """Load what is new into a file, and open it. Raises KalypsoError and sqlite3.Error."""
    connection = sqlite3.connect(path, timeout=LONGEST_LOAD)
    try:
        database = SqliteDatabase(connection)
        if loaded_head(database) != head:
            connection.execute("begin immediate")
            load(database, partial(record_log, branch), head, branch.name)
            connection.execute("commit")
    except BaseException:
        connection.close()
        raise
    return connection


def _cache_file(record: str, environment: Mapping[str, str]) -> Path:
    """Return the file with the tables of a record in the cache of the user."""
    home = environment.get("HOME", "") or tempfile.gettempdir()
    folder = environment.get("XDG_CACHE_HOME", "") or environment.get("LOCALAPPDATA", "")
    name = hashlib.sha256(record.encode("utf-8", "surrogatepass")).hexdigest()
    return Path(folder or Path(home, ".cache")) / "kalypso" / "records" / f"{name[:32]}.sqlite"


def push_of_records(
    branch: RecordBranch,
    head: str,
    before: ObservationRecord,
    records: Sequence[ObservationRecord],
    message: str,
) -> Push | None:
    """Return the write of records on `head`, a commit for each that differs from the one before.

    Return None if none does.
    """
    old = before.files() if head else {}
    commits: list[dict[str, bytes | None]] = []
    for record in records:
        if record is before and head:
            continue
        before, new = record, record.files()
        changes: dict[str, bytes | None] = {
            path: content for path, content in new.items() if old.get(path) != content
        }
        changes |= dict.fromkeys(old.keys() - new.keys())
        old = new
        if changes:
            commits.append(changes)
    if not commits:
        return None
    return replace(branch.push_of(head, commits[-1], message), earlier=tuple(commits[:-1]))


def shorter_record(branch: RecordBranch, before: datetime, message: str) -> Push | None:
    """Return the write of a record that answers for times after `before` alone.

    Return None if nothing is left out. Raises KalypsoError without a record, and for one that does
    not parse.
    """
    head = existing_head(branch)
    try:
        commits = pruned((each.files for each in branch.log(head).commits), before)
    except ValueError as error:
        raise KalypsoError(
            f"a line is none of the record: {error}", Location(branch.name)
        ) from error
    if not commits:
        return None
    *earlier, last = commits
    return replace(branch.push_of(head, last, message), parent=None, earlier=tuple(earlier))
