"""Wait until files change."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Final

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
