"""A folder that receives a whole tree, and never loses other files."""

from __future__ import annotations

import json
import os
import stat
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from kalypso_actions.errors import UsageError
from kalypso_actions.model.documents import EXECUTABLE_MODE, FILE_MODE, SYMLINK_MODE
from kalypso_actions.model.layout import (
    PROMOTED_COMMIT_FILE,
    README_FILE,
    README_TEXT,
    SOURCES_FILE,
    TARGET_FILES,
)

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
