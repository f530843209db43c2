"""The diffs of a masked comparison's files, for its document."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from kalypso_actions.comparison import unified_diff
from kalypso_actions.model.differences import FileChange
from kalypso_actions.report.documents import FileDiffEntry

ONLY_MASKED: Final = "\\ Only masked values differ.\n"


def file_diffs(files: Iterable[FileChange]) -> tuple[FileDiffEntry, ...]:
    """Return the diff of each file; without secrets, if the files are those of a mask."""
    return tuple(_file_diff(file) for file in files)


def _file_diff(file: FileChange) -> FileDiffEntry:
    diff = unified_diff(file)
    if file.change == "modified" and file.before == file.after:
        diff += ONLY_MASKED
    return FileDiffEntry.of(file.path, file.change, diff)
