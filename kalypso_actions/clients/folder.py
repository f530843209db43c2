"""Plain folders: read like a commit, written as an output, and watched.

Git's ignored files are read as well; `git.local.local_files` leaves them out.
"""

from __future__ import annotations

import json
import os
import stat
import time
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Final

from kalypso_actions.errors import KalypsoError, Location, UsageError
from kalypso_actions.model.documents import (
    EXECUTABLE_MODE,
    FILE_MODE,
    SYMLINK_MODE,
    FileEntry,
    FilesTooLargeError,
)
from kalypso_actions.model.layout import (
    PROMOTED_COMMIT_FILE,
    README_FILE,
    README_TEXT,
    SOURCES_FILE,
    TARGET_FILES,
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
                files = sorted(self._walk(), key=lambda file: os.fsencode(file[0]))
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

    def _walk(self) -> Iterator[tuple[str, str]]:
        """Yield the path and git mode of each regular file and symbolic link."""
        pending = [""]
        while pending:
            folder = pending.pop()
            with os.scandir(self._folder / folder) as inside:
                for entry in inside:
                    path = f"{folder}/{entry.name}" if folder else entry.name
                    file = entry.stat(follow_symlinks=False)
                    if entry.name == ".git":
                        continue
                    if stat.S_ISDIR(file.st_mode):
                        pending.append(path)
                    elif mode := mode_of(file):
                        yield path, mode

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


def mode_of(file: os.stat_result) -> str:
    """Return git's mode of a regular file or symbolic link; "" for anything else."""
    if stat.S_ISLNK(file.st_mode):
        return SYMLINK_MODE
    if not stat.S_ISREG(file.st_mode):
        return ""
    return EXECUTABLE_MODE if file.st_mode & stat.S_IXUSR else FILE_MODE


_OUTPUT_NAMES = {*TARGET_FILES, PurePosixPath(PROMOTED_COMMIT_FILE).name}


@dataclass(frozen=True, slots=True)
class OutputForm:
    """The marks of a folder that is the output of an earlier run.

    The folder has a JSON file at the path `record`, and its `schema` begins with the text `schema`.
    `is_output` says for a path in the folder whether an earlier run has written the file.
    """

    record: str
    schema: str
    is_output: Callable[[Path, str], bool]


def _is_platform_output(folder: Path, path: str) -> bool:
    """Whether an earlier run of `kalypso render` has written a file that this run does not write.

    A stale `sources.json` belongs to another tree, and is never an output.
    """
    file = folder / path
    if file.name == README_FILE:
        return not file.is_symlink() and file.read_bytes() == README_TEXT
    return file.name in _OUTPUT_NAMES


PLATFORM_TREE = OutputForm(SOURCES_FILE, "kalypso.sources/", _is_platform_output)


@dataclass(frozen=True, slots=True)
class OutputFile:
    """A file to write; `mode` is git's, and a symbolic link's content is its target."""

    content: bytes
    mode: str = FILE_MODE


class OutputFolder:
    """The folder of `--out`.

    It may be missing, empty, or the output of an earlier run, with its record and without `.git`.
    Writing never removes other files in it.
    """

    def __init__(self, folder: Path, form: OutputForm = PLATFORM_TREE) -> None:
        self._folder = folder
        self._form = form

    def check(self) -> None:
        """Raises UsageError for a folder with other content."""
        with self._as_usage_error():
            exists = self._folder.exists() or self._folder.is_symlink()
            if exists and not self._folder.is_dir():
                raise UsageError(f"--out {self._folder} is not a folder")
            if not any(self._present()):
                return
            if (self._folder / ".git").exists() or not any(self._records()):
                raise UsageError(
                    f"--out {self._folder} is not empty, and is not an output of this command",
                    advice="choose another folder, or empty it",
                )

    def write(self, files: Mapping[str, OutputFile]) -> None:
        """Write these files and remove all others of an earlier run.

        Write the record first, so that people can repeat an interrupted run. Raises UsageError:
        before the first write, if other files are in the way; later, if the system refuses a write.
        """
        with self._as_usage_error():
            stale = [path for path in self._present() if path not in files]
            foreign = sorted(path for path in stale if not self._form.is_output(self._folder, path))
            if foreign:
                raise UsageError(
                    f"--out {self._folder} contains other files: {', '.join(foreign[:5])}",
                    advice="remove them, or choose another folder",
                )
            _refuse_unsafe(files)
            created: set[Path] = set()
            for path in sorted(files, key=lambda path: not path.endswith(self._form.record)):
                self._write_file(self._folder / path, files[path], created)
            for path in stale:
                (self._folder / path).unlink()
            self._remove_empty_folders()

    @contextmanager
    def _as_usage_error(self) -> Iterator[None]:
        """Convert an OSError (no permission, a full disk) to a UsageError about `--out`."""
        try:
            yield
        except OSError as error:
            message = f"--out {self._folder} cannot be written: {error.strerror}"
            if error.filename:
                message += f" ({error.filename})"
            raise UsageError(message, advice="choose another folder") from error

    def _records(self) -> Iterator[Path]:
        for file in self._folder.rglob(self._form.record):
            try:
                body = json.loads(file.read_bytes())
            except (OSError, ValueError):
                continue
            schema = body.get("schema", "") if isinstance(body, dict) else ""
            if str(schema).startswith(self._form.schema):
                yield file

    def _present(self) -> Iterator[str]:
        """Yield all files; a link to a folder is a file."""
        if not self._folder.is_dir():
            return
        for root, folders, names in os.walk(self._folder, onerror=_raise):
            links = [name for name in folders if (Path(root) / name).is_symlink()]
            for name in (*names, *links):
                yield (Path(root) / name).relative_to(self._folder).as_posix()

    def _write_file(self, path: Path, file: OutputFile, created: set[Path]) -> None:
        if path.parent not in created:
            path.parent.mkdir(parents=True, exist_ok=True)
            created.add(path.parent)
        if path.is_symlink():
            path.unlink()
        if file.mode == SYMLINK_MODE:
            path.unlink(missing_ok=True)
            path.symlink_to(os.fsdecode(file.content))
            return
        path.write_bytes(file.content)
        executable = bool(path.stat().st_mode & stat.S_IXUSR)
        if executable != (file.mode == EXECUTABLE_MODE):
            path.chmod(0o644 if executable else 0o755)

    def _remove_empty_folders(self) -> None:
        for root, _, _ in os.walk(self._folder, topdown=False):
            folder = Path(root)
            if folder != self._folder and not any(folder.iterdir()):
                folder.rmdir()


def _refuse_unsafe(paths: Collection[str]) -> None:
    """Refuse paths that git would never check out, but that a tree made by hand may contain."""
    for path in paths:
        parts = path.split("/")
        unsafe = any(part in {"", ".", ".."} or part.lower() == ".git" for part in parts)
        # If a path is a link and also a folder, the files below it would land outside of the tree.
        through_file = any("/".join(parts[:length]) in paths for length in range(1, len(parts)))
        if unsafe or through_file or "\\" in path:
            raise UsageError(f"the GitOps tree contains the path {path!r}, which cannot be written")


def _raise(error: OSError) -> None:
    raise error


INTERVAL: Final = 0.5
"""Seconds between two checks: short enough to notice a save before the user looks."""

_GIT: Final = ("HEAD", "packed-refs", "refs")
"""The files in `.git` that a commit, a checkout or a fetch changes; git status also writes `index`.
"""

State = dict[str, tuple[int, int]]
"""Time and size of each file, by path."""


class FileWatch:
    """The files below folders, and the branches of those that are clones."""

    def __init__(
        self, folders: Iterable[Path], sleep: Callable[[float], None] = time.sleep
    ) -> None:
        self._folders = tuple(folders)
        self._sleep = sleep

    def state(self) -> State:
        """Return the state of all files now."""
        return {
            entry.path: (info.st_mtime_ns, info.st_size)
            for folder in self._folders
            for entry in _files(folder)
            if (info := _info(entry))
        }

    def wait(self, seen: State) -> None:
        """Wait until the files differ from the state `seen`."""
        while self.state() == seen:
            self._sleep(INTERVAL)


def _files(folder: Path) -> Iterator[os.DirEntry[str]]:
    try:
        entries = list(os.scandir(folder))
    except OSError:
        return  # another program is replacing the folder
    is_git = folder.name == ".git"
    for entry in entries:
        if is_git and entry.name not in _GIT:
            continue
        if entry.is_dir(follow_symlinks=False):
            yield from _files(Path(entry.path))
        else:
            yield entry


def _info(entry: os.DirEntry[str]) -> os.stat_result | None:
    try:
        return entry.stat()
    except OSError:
        return None
