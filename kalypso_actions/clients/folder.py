"""A plain folder as the files of a revision."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from kalypso_actions.errors import KalypsoError, Location
from kalypso_actions.model.documents import EXECUTABLE_MODE, FILE_MODE, SYMLINK_MODE, FileEntry
from kalypso_actions.model.object_ids import blob_id


class FolderFiles:
    """Every file below a folder, with the blob ids that git would give them.

    `.git` is left out at any depth; a file that git would ignore is a file like any other.
    Symbolic links are not followed.
    """

    def __init__(self, folder: Path, *, repository: str = "") -> None:
        """`repository` is how the user names it (default: the path)."""
        self._folder = folder
        self._repository = repository or str(folder)
        self._entries: Mapping[str, FileEntry] | None = None

    @property
    def repository(self) -> str:
        """How the user names it."""
        return self._repository

    @property
    def commit(self) -> str | None:
        """None: a folder stands for whatever commit is asked of it."""
        return None

    def entries(self) -> Mapping[str, FileEntry]:
        """Every file by its path. Raises KalypsoError when one cannot be read."""
        if self._entries is None:
            try:
                found = sorted(_walk(self._folder), key=lambda one: os.fsencode(one[0]))
            except OSError as error:
                raise self._unreadable(error) from error
            self._entries = {path: self._entry(path, mode) for path, mode in found}
        return self._entries

    def read(self, paths: Iterable[str]) -> Mapping[str, bytes]:
        """Contents of these files, of a symbolic link the text of its target.

        Raises KeyError for a path that is no entry, KalypsoError when reading fails.
        """
        entries = self.entries()
        return {path: self._content(path, entries[path].mode) for path in paths}

    def tree_id(self, path: str) -> str | None:  # noqa: ARG002 - as any revision's
        """None: a folder has no trees."""
        return None

    def _entry(self, path: str, mode: str) -> FileEntry:
        content = self._content(path, mode)
        return FileEntry(path, mode, blob_id(content), len(content))

    def _content(self, path: str, mode: str) -> bytes:
        file = self._folder / path
        try:
            if mode == SYMLINK_MODE:
                # Path.readlink would tidy the text up, and its blob id would be another.
                return os.fsencode(os.readlink(file))  # noqa: PTH115
            return file.read_bytes()
        except OSError as error:
            raise self._unreadable(error, path) from error

    def _unreadable(self, error: OSError, path: str = "") -> KalypsoError:
        where = Location(self._repository, path)
        return KalypsoError(f"cannot be read: {error.strerror} ({error.filename})", where)


def _walk(top: Path) -> Iterator[tuple[str, str]]:
    """Path and git's mode of every file and symbolic link; sockets and the like are no files."""
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
