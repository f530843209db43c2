"""A folder that receives a whole tree, and is never somebody else's."""

from __future__ import annotations

import json
import os
import stat
from collections.abc import Collection, Iterator, Mapping
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

_OUR_NAMES = TARGET_FILES | {PurePosixPath(PROMOTED_COMMIT_FILE).name}


@dataclass(frozen=True, slots=True)
class OutputFile:
    """A file to be written: `mode` as git has it; a symlink's content is its target."""

    content: bytes
    mode: str = FILE_MODE


class OutputFolder:
    """The folder of `--out`.

    It may be absent, empty, or written by us before: then it holds a `sources.json` of ours and
    no `.git`. Files in it that we cannot have written are never removed.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def check(self) -> None:
        """Raises UsageError for a folder that is not ours."""
        with self._told():
            there = self._folder.exists() or self._folder.is_symlink()
            if there and not self._folder.is_dir():
                raise UsageError(f"--out {self._folder} is not a folder")
            if not any(self._present()):
                return
            if (self._folder / ".git").exists() or not any(self._our_marks()):
                raise UsageError(
                    f"--out {self._folder} is not empty, and was not written by this command",
                    advice="choose another folder, or empty it",
                )

    def write(self, files: Mapping[str, OutputFile]) -> None:
        """Make the folder hold these files and nothing else.

        The mark that makes the folder ours is written first, so that a run that was cut off can
        be repeated. Raises UsageError: before anything is written, for what must not be removed;
        later, for what the system refuses.
        """
        with self._told():
            stale = [path for path in self._present() if path not in files]
            strangers = sorted(path for path in stale if not self._is_ours(path))
            if strangers:
                raise UsageError(
                    f"--out {self._folder} holds files that are not ours: "
                    f"{', '.join(strangers[:5])}",
                    advice="remove them, or choose another folder",
                )
            _refuse_unsafe(files)
            marks = [path for path in files if path.endswith(SOURCES_FILE)]
            made: set[Path] = set()
            for path in (*marks, *(path for path in files if path not in marks)):
                self._write_file(self._folder / path, files[path], made)
            for path in stale:
                (self._folder / path).unlink()
            self._remove_empty_folders()

    @contextmanager
    def _told(self) -> Iterator[None]:
        """What the system refuses (no permission, a full disk) is told as a fault of `--out`."""
        try:
            yield
        except OSError as error:
            message = f"--out {self._folder} cannot be written: {error.strerror}"
            if error.filename:
                message += f" ({error.filename})"
            raise UsageError(message, advice="choose another folder") from error

    def _is_ours(self, path: str) -> bool:
        """Whether we have written this file, which this run does not write.

        A stale `sources.json` marks another tree: nothing below one that holds others is ours.
        """
        file = self._folder / path
        if file.name == README_FILE:
            return not file.is_symlink() and file.read_bytes() == README_TEXT
        return file.name in _OUR_NAMES

    def _our_marks(self) -> Iterator[Path]:
        for mark in self._folder.rglob(SOURCES_FILE):
            try:
                body = json.loads(mark.read_bytes())
            except (OSError, ValueError):
                continue
            if isinstance(body, dict) and str(body.get("schema", "")).startswith(
                "kalypso.sources/"
            ):
                yield mark

    def _present(self) -> Iterator[str]:
        """Every file; a link to a folder is one."""
        if not self._folder.is_dir():
            return
        for root, folders, names in os.walk(self._folder, onerror=_raise):
            links = [name for name in folders if (Path(root) / name).is_symlink()]
            for name in (*names, *links):
                yield (Path(root) / name).relative_to(self._folder).as_posix()

    def _write_file(self, path: Path, file: OutputFile, made: set[Path]) -> None:
        if path.parent not in made:
            path.parent.mkdir(parents=True, exist_ok=True)
            made.add(path.parent)
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
    """A tree made by hand may hold paths that git itself would never check out."""
    for path in paths:
        parts = path.split("/")
        unsafe = any(part in {"", ".", ".."} or part.lower() == ".git" for part in parts)
        # A link that is a folder at the same time would lead what is below it out of the tree.
        through_file = any("/".join(parts[:length]) in paths for length in range(1, len(parts)))
        if unsafe or through_file or "\\" in path:
            raise UsageError(f"the GitOps tree holds the path {path!r}, which cannot be written")


def _raise(error: OSError) -> None:
    raise error
