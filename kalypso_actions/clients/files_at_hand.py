"""Find the files of locations on this machine, so that people can open them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import lru_cache
from pathlib import Path

from kalypso_actions.clients.git.files import GitFiles
from kalypso_actions.clients.git.local import GitRepository, enclosing_clone, is_repository
from kalypso_actions.clients.git.urls import is_path
from kalypso_actions.clients.process import Programs
from kalypso_actions.errors import KalypsoError, Location
from kalypso_actions.model.documents import EXECUTABLE_MODE, FILE_MODE
from kalypso_actions.model.object_ids import blob_id
from kalypso_actions.model.urls import name_in, repository_key

MAX_BYTES = 1024 * 1024
"""The largest file to read in order to show one of its lines, in bytes."""


class FilesAtHand:
    """Finds the files of locations in folders and clones of this machine.

    A file of a commit is on the disk if its branch is checked out and its content is the same
    there. The same content of another branch is another file: who follows its advice must not edit
    the checked-out one.
    """

    def __init__(
        self, programs: Programs, folders: Callable[[], Mapping[str, Path]] = dict
    ) -> None:
        """`folders` returns folders and clones by the URL of their repository."""
        self._programs = programs
        self._find_folders = folders
        self._folders: Mapping[str, Path] | None = None
        self._commits: dict[tuple[Path, str], GitFiles | None] = {}
        self._texts: dict[tuple[str, str, str, str], tuple[str, str]] = {}
        # A run may have a hundred thousand findings, and git takes milliseconds.
        self._checked_out = lru_cache(maxsize=None)(self._find_checked_out)
        self._is_clone_of = lru_cache(maxsize=None)(self._has_remote)
        self._path_in_clone = lru_cache(maxsize=None)(self._find_in_clone)

    def path(self, where: Location) -> str:
        """Return the path of a location's file; "" if the file is not on this machine.

        Below the current folder, the path is relative to that folder.
        """
        return self._read(where)[0]

    def text(self, where: Location) -> str:
        """Return the content of a location's file; "" if it is not on this machine."""
        return self._read(where)[1]

    def path_here(self, where: Location) -> str:
        """Return the path of a location's file in the clone that contains the current folder.

        Outside of a clone, the path is relative to the clone of a path that the user names, else to
        the current folder. Return "" for files elsewhere, and for files of clones that replace the
        URL of an application.
        """
        path = self.path(where)
        clone = enclosing_clone(Path())
        if clone is None and path and is_path(where.repository):
            clone = enclosing_clone(Path(path).parent)
        root, file = (clone or Path()).resolve(), Path(path).resolve()
        return file.relative_to(root).as_posix() if path and file.is_relative_to(root) else ""

    def path_in_clone(self, where: Location, repository: str = "") -> str:
        """Return the path of a location's file in the clone that contains it; "" if none does.

        With `repository` (owner/name), one of the clone's remotes must be this repository.
        """
        return self._path_in_clone(self.path(where), repository)

    def _find_in_clone(self, path: str, repository: str) -> str:
        clone = enclosing_clone(Path(path).parent) if path else None
        if clone is None:
            return ""
        if repository and not self._is_clone_of(clone, repository):
            return ""
        return Path(path).resolve().relative_to(clone.resolve()).as_posix()

    def is_in_clone(self, where: Location, repository: str) -> bool:
        """Whether a location is in a commit of a clone of this repository (owner/name)."""
        folder = self._folder(where.repository) if where.commit else None
        return folder is not None and self._is_clone_of(folder, repository)

    def _has_remote(self, folder: Path, repository: str) -> bool:
        if not is_repository(folder):
            return False
        urls = GitRepository(folder, self._programs).remotes()
        return repository.lower() in {name_in(url).lower() for url in urls}

    def _read(self, where: Location) -> tuple[str, str]:
        key = (where.repository, where.branch, where.commit, where.path)
        if key not in self._texts:
            try:
                self._texts[key] = self._look_up(where)
            except (KalypsoError, OSError, ValueError):
                self._texts[key] = "", ""  # show the message without the line
        return self._texts[key]

    def _look_up(self, where: Location) -> tuple[str, str]:
        folder = self._folder(where.repository)
        if folder is None or not where.path:
            return "", ""
        on_disk = _content(folder, where.path)
        if not where.commit:
            return (
                (_shown(folder / where.path), on_disk.decode()) if on_disk is not None else ("", "")
            )
        files = self._commit(folder, where.commit)
        entry = files.entries().get(where.path) if files else None
        if files is None or entry is None or entry.mode not in {FILE_MODE, EXECUTABLE_MODE}:
            return "", ""
        is_same = on_disk is not None and blob_id(on_disk) == entry.object_id
        if on_disk is not None and is_same and self._is_checked_out(folder, where):
            return _shown(folder / where.path), on_disk.decode()
        content = files.read([where.path])[where.path] if entry.size <= MAX_BYTES else b""
        return "", content.decode()

    def _is_checked_out(self, folder: Path, where: Location) -> bool:
        """Whether a location's branch is checked out; a detached HEAD must be its commit."""
        branch, commit = self._checked_out(folder)
        return where.branch in {"", branch} or (not branch and where.commit == commit)

    def _find_checked_out(self, folder: Path) -> tuple[str, str]:
        repository = GitRepository(folder, self._programs)
        return repository.checked_out, repository.checked_out_commit

    def _folder(self, repository: str) -> Path | None:
        if is_path(repository):
            return Path(repository) if Path(repository).is_dir() else None
        if self._folders is None:
            folders = self._find_folders()
            self._folders = {repository_key(url): path for url, path in folders.items()}
        return self._folders.get(repository_key(repository))

    def _commit(self, folder: Path, commit: str) -> GitFiles | None:
        if (folder, commit) not in self._commits:
            files = None
            if is_repository(folder):
                files = GitRepository(folder, self._programs).at_commit(commit)
            self._commits[folder, commit] = files
        return self._commits[folder, commit]


def _content(folder: Path, path: str) -> bytes | None:
    """Return the content of a regular file inside of the folder, without following links."""
    file = folder / path
    inside = file.resolve().is_relative_to(folder.resolve())
    if not (inside and file.is_file() and not file.is_symlink()):
        return None
    return file.read_bytes() if file.stat().st_size <= MAX_BYTES else None


def _shown(file: Path) -> str:
    """Return the path relative to the current folder if the file is below that folder."""
    here = Path.cwd()
    return (
        str(file.relative_to(here))
        if file.is_absolute() and file.is_relative_to(here)
        else str(file)
    )
