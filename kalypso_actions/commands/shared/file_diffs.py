"""The diffs of files, for a document."""

from __future__ import annotations

from collections.abc import Iterable

from kalypso_actions.comparison import unified_diff
from kalypso_actions.model.differences import FileDiff
from kalypso_actions.report.documents import FileDiffEntry


def file_diffs(files: Iterable[FileDiff]) -> tuple[FileDiffEntry, ...]:
    """Return the complete diff of each file."""
    return tuple(FileDiffEntry.of(file.path, file.change, unified_diff(file)) for file in files)
