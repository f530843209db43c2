"""The commits of main that an environment's branch has named."""

from __future__ import annotations

from collections.abc import Collection, Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import islice
from typing import Final, Protocol

from kalypso_actions.clients.git import RemoteRepositories
from kalypso_actions.commands.shared.reading.control_plane import read_base_file
from kalypso_actions.errors import KalypsoError
from kalypso_actions.model.documents import FILE_MODE
from kalypso_actions.model.history import FileVersion, HistoryCommit
from kalypso_actions.promotion.base_repo import BaseDocument, base_document
from kalypso_actions.sources.objects import read_objects
from kalypso_actions.sources.source_tree import YAML_SUFFIXES, normalize, within

CHUNK: Final = 100
LARGEST_CHUNK: Final = 5000
"""One request reads the contents of `CHUNK` commits at first, later of at most `LARGEST_CHUNK`."""

FILE_MODES: Final = frozenset({FILE_MODE, "100755"})


@dataclass(frozen=True, slots=True)
class BaseWrite:
    """A commit of an environment's branch that changes the commit of main that the branch names.

    `promoted_commit` is None if it removes that commit. `author` is the name in the commit.
    """

    environment_commit: str
    promoted_commit: str | None
    at: datetime
    author: str


class ReadBlobs(Protocol):
    """Reads the contents of blobs by their ids."""

    def __call__(self, ids: Collection[str], /) -> Mapping[str, bytes]:
        """Raises KalypsoError."""


def read_base_writes(
    remotes: RemoteRepositories, url: str, head: str, folder: str, main: Container[str]
) -> Iterator[BaseWrite]:
    """Yield the writes on the first-parent line of an environment's branch, newest first.

    `head` is a commit of the branch, and the environment lies in `folder`. `main` are the commits
    of main: the iteration ends there, because main has no BaseRepo. Commits and contents are
    fetched on demand. Raises KalypsoError.
    """
    base = read_base_file(remotes.fetch(url, commit=head), folder)
    path = base.where.path
    document = _document(url, path, base.text.encode()) if base.text else None

    def read_blobs(ids: Collection[str]) -> Mapping[str, bytes]:
        return remotes.blobs(url, ids)

    trail = _Trail(
        url, normalize(folder), path if document else "", base.promoted_commit, read_blobs
    )
    return trail.writes(remotes.history(url, head), main)


def _document(url: str, path: str, content: bytes) -> BaseDocument | None:
    """Return the BaseRepo named main in a file; None also for an unreadable file."""
    if b"BaseRepo" not in content:
        return None
    try:
        return base_document(read_objects(url, path, content).documents)
    except KalypsoError:
        return None


class _Trail:
    """Follows the BaseRepo named main from newer commits to older ones, through renames.

    `path` is its file at the next commit, "" for none, and `promoted_commit` the commit of main.
    """

    def __init__(
        self, url: str, folder: str, path: str, promoted_commit: str | None, read_blobs: ReadBlobs
    ) -> None:
        self._url = url
        self._folder = folder
        self._path = path
        self._promoted_commit = promoted_commit
        self._read_blobs = read_blobs
        self._contents: dict[str, bytes] = {}
        self._read: set[str] = set()

    def writes(self, line: Iterator[HistoryCommit], main: Container[str]) -> Iterator[BaseWrite]:
        """Yield the writes of a first-parent line, newest first."""
        size = CHUNK
        while chunk := list(islice(line, size)):
            size = min(4 * size, LARGEST_CHUNK)
            self._contents = {}
            self._read = set()
            for index, commit in enumerate(chunk):
                if not self._path and commit.id in main:
                    return
                before = self._before(chunk, index)
                if before != self._promoted_commit:
                    named = self._promoted_commit
                    yield BaseWrite(commit.id, named, commit.date, commit.author)
                self._promoted_commit = before

    def _before(self, chunk: Sequence[HistoryCommit], index: int) -> str | None:
        """Return the commit of main that the first parent of a commit of the chunk names."""
        commit = chunk[index]
        if self._path and self._path not in commit.changes:
            return self._promoted_commit
        # Older commits of the chunk may change the same file.
        if self._path not in self._read:
            self._need(chunk[index:], self._path)
            self._read.add(self._path)
        document: BaseDocument | None = None
        if self._path:
            document = self._document_at(self._path, commit.changes[self._path].before)
        if document is None:
            self._need([commit])
            document = self._moved(commit)
        self._path = document.path if document else ""
        return document.promoted_commit if document else None

    def _moved(self, commit: HistoryCommit) -> BaseDocument | None:
        """Return the document from its file in the first parent, from which the commit removed it.

        Another environment may share the branch, so a file outside the environment's folder counts
        only if the commit moved the document from there.
        """
        removed = [
            before
            for path, change in commit.changes.items()
            if (self._path or within(path, self._folder))
            and (before := self._document_at(path, change.before))
            and not self._document_at(path, change.after)
        ]
        removed.sort(key=lambda item: (not within(item.path, self._folder), item.path))
        return next(iter(removed), None)

    def _document_at(self, path: str, version: FileVersion | None) -> BaseDocument | None:
        content = self._contents.get(version.object_id) if version else None
        return _document(self._url, path, content) if content else None

    def _need(self, commits: Iterable[HistoryCommit], path: str = "") -> None:
        """Read the versions in these commits of one file, or of all the parents' YAML files."""
        wanted = dict.fromkeys(
            version.object_id
            for commit in commits
            for name, change in commit.changes.items()
            if name == path or (not path and change.before and name.endswith(YAML_SUFFIXES))
            for version in change
            if version and version.mode in FILE_MODES and version.object_id not in self._contents
        )
        if wanted:
            self._contents.update(self._read_blobs(wanted))
