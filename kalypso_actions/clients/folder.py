"""A plain folder, read like a commit."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from kalypso_actions.errors import KalypsoError, Location
from kalypso_actions.model.documents import (
    EXECUTABLE_MODE,
    FILE_MODE,
    SYMLINK_MODE,
    FileEntry,
    FilesTooLargeError,
)
from kalypso_actions.model.object_ids import blob_id


class FolderFiles:
    """All files below a folder, with their git blob ids.

    This skips `.git` at any depth, includes files that git ignores, and does not follow symbolic
    links.
    """

    def __init__(self, folder: Path, *, repository: str = "") -> None:
        """`repository` is the name for messages (default: the path)."""
        self._folder = folder
        self._repository = repository or str(folder)
        self._entries: Mapping[str, FileEntry] | None = None

    @property
    def repository(self) -> str:
        """The name for messages."""
        return self._repository

    @property
    def commit(self) -> str | None:
        """Always None: a folder has no commit."""
        return None

    def entries(self, _max_bytes: int = 0, /) -> Mapping[str, FileEntry]:
        """Return all files by path, without a limit. Raises KalypsoError for an unreadable file."""
        if self._entries is None:
            try:
                files = sorted(_walk(self._folder), key=lambda file: os.fsencode(file[0]))
            except OSError as error:
                raise self._unreadable(error) from error
            self._entries = {path: self._entry(path, mode) for path, mode in files}
        return self._entries

    def read(self, paths: Iterable[str], max_bytes: int | None = None) -> Mapping[str, bytes]:
        """Return the contents of files; the content of a symbolic link is its target.

        Raises KeyError for an unknown path, KalypsoError if a file cannot be read,
        FilesTooLargeError for more than `max_bytes`.
        """
        entries = self.entries()
        paths = list(paths)
        if max_bytes is not None and sum(entries[path].size for path in paths) > max_bytes:
            raise FilesTooLargeError(max(paths, key=lambda path: entries[path].size))
        return {path: self._content(path, entries[path].mode) for path in paths}

    def tree_id(self, path: str) -> str | None:  # noqa: ARG002 - part of RevisionFiles
        """Return None: a folder has no trees."""
        return None

    def folder_ids(self, path: str) -> Mapping[str, str]:  # noqa: ARG002 - part of RevisionFiles
        """Return no ids: a folder has no trees."""
        return {}

    def _entry(self, path: str, mode: str) -> FileEntry:
        content = self._content(path, mode)
        return FileEntry(path, mode, blob_id(content), len(content))

    def _content(self, path: str, mode: str) -> bytes:
        file = self._folder / path
        try:
            if mode == SYMLINK_MODE:
                # Path.readlink would normalize the text and so change its blob id.
                return os.fsencode(os.readlink(file))  # noqa: PTH115
            return file.read_bytes()
        except OSError as error:
            raise self._unreadable(error, path) from error

    def _unreadable(self, error: OSError, path: str = "") -> KalypsoError:
        where = Location(self._repository, path)
        return KalypsoError(f"cannot be read: {error.strerror} ({error.filename})", where)


def _walk(top: Path) -> Iterator[tuple[str, str]]:
    """Yield the path and git mode of each regular file and symbolic link."""
    pending = [""]
    while pending:
        folder = pending.pop()
        with os.scandir(top / folder) as inside:
            for entry in inside:
                path = f"{folder}/{entry.name}" if folder else entry.name
                mode = entry.stat(follow_symlinks=False).st_mode
                if entry.name == ".git":
                    continue
                if stat.S_ISDIR(mode):
                    pending.append(path)
                elif stat.S_ISLNK(mode):
                    yield path, SYMLINK_MODE
                elif stat.S_ISREG(mode):
                    yield path, EXECUTABLE_MODE if mode & stat.S_IXUSR else FILE_MODE
