"""Which commits of main an environment's branch has named, one write after the other."""

from __future__ import annotations

from collections.abc import Collection, Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Final, Protocol

from kalypso_actions.clients.git import RemoteRepositories
from kalypso_actions.errors import KalypsoError
from kalypso_actions.model.documents import FILE_MODE
from kalypso_actions.model.history import FileVersion, HistoryCommit
from kalypso_actions.promotion.base_branch import BaseDocument, base_document
from kalypso_actions.snapshot.base_file import read_base_file
from kalypso_actions.sources.objects import read_objects
from kalypso_actions.sources.paths import normalize, within
from kalypso_actions.sources.source_tree import YAML_SUFFIXES

CHUNK: Final = 100
LARGEST_CHUNK: Final = 5000
"""One request reads the contents that so many commits change: the first few, then more."""

FILE_MODES: Final = frozenset({FILE_MODE, "100755"})


@dataclass(frozen=True, slots=True)
class BaseWrite:
    """A commit of an environment's branch that changes which commit of main the branch names.

    `promoted_commit` is None where it names none any more.
    """

    environment_commit: str
    promoted_commit: str | None


class ReadBlobs(Protocol):
    """Reads the contents of blobs by their ids."""

    def __call__(self, ids: Collection[str], /) -> Mapping[str, bytes]:
        """Raises KalypsoError."""


def read_base_writes(
    remotes: RemoteRepositories, url: str, head: str, folder: str, main: Container[str]
) -> Iterator[BaseWrite]:
    """The writes on the first-parent line of an environment's branch, newest first.

    `head` is a commit of the branch, and the environment lies in `folder`. `main` are the commits
    of main: a branch may have been cut from it, and main has no BaseRepo. Commits and contents are
    fetched as far as the iteration goes. Raises KalypsoError.
    """
    base = read_base_file(remotes.fetch(url, commit=head), folder)
    path = base.where.path
    document = _document(url, path, base.text.encode()) if base.text else None

    def read_blobs(ids: Collection[str]) -> Mapping[str, bytes]:
        return remotes.blobs(url, ids)

    trail = _Trail(url, normalize(folder), path if document else "", base.commit, read_blobs)
    return trail.writes(remotes.history(url, head), main)


def _document(url: str, path: str, content: bytes) -> BaseDocument | None:
    """The BaseRepo named main in a file; None also where the file cannot be read."""
    if b"BaseRepo" not in content:
        return None
    try:
        return base_document(read_objects(url, path, content).documents)
    except KalypsoError:
        return None


class _Trail:
    """Follows the BaseRepo named main from newer commits to older ones, over renames.

    `path` is its file at the commit that comes next, "" for none, and `named` the commit of main.
    """

    def __init__(
        self, url: str, folder: str, path: str, named: str | None, read_blobs: ReadBlobs
    ) -> None:
        self._url = url
        self._folder = folder
        self._path = path
        self._named = named
        self._read_blobs = read_blobs
        self._contents: dict[str, bytes] = {}
        self._read: set[str] = set()

    def writes(self, line: Iterator[HistoryCommit], main: Container[str]) -> Iterator[BaseWrite]:
        """Those of a first-parent line, newest first."""
        size = CHUNK
        while chunk := list(islice(line, size)):
            size = min(4 * size, LARGEST_CHUNK)
            self._contents = {}
            self._read = set()
            for index, commit in enumerate(chunk):
                if not self._path and commit.id in main:
                    return
                before = self._before(chunk, index)
                if before != self._named:
                    yield BaseWrite(commit.id, self._named)
                self._named = before

    def _before(self, chunk: Sequence[HistoryCommit], index: int) -> str | None:
        """The commit of main that the first parent of a commit of the chunk names."""
        commit = chunk[index]
        if self._path and self._path not in commit.changes:
            return self._named
        # The next commits change the same file, or may have had the document.
        if self._path not in self._read:
            self._need(chunk[index:], self._path)
            self._read.add(self._path)
        found: BaseDocument | None = None
        if self._path:
            found = self._document_at(self._path, commit.changes[self._path].before)
        if found is None:
            self._need([commit])
            found = self._moved(commit)
        self._path = found.path if found else ""
        return found.commit if found else None

    def _moved(self, commit: HistoryCommit) -> BaseDocument | None:
        """The document in a file of the first parent that does not have it any more.

        Another environment may share the branch: a file outside of the own folder counts only if
        the commit moved the document from there.
        """
        gone = [
            before
            for path, change in commit.changes.items()
            if (self._path or within(path, self._folder))
            and (before := self._document_at(path, change.before))
            and not self._document_at(path, change.after)
        ]
        gone.sort(key=lambda one: (not within(one.path, self._folder), one.path))
        return next(iter(gone), None)

    def _document_at(self, path: str, version: FileVersion | None) -> BaseDocument | None:
        content = self._contents.get(version.object_id) if version else None
        return _document(self._url, path, content) if content else None

    def _need(self, commits: Iterable[HistoryCommit], path: str = "") -> None:
        """Read what the commits make of one file, or of every YAML file of their parents."""
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
