"""The commits and files of a branch's history, with the fields that Kalypso uses."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple


class FileVersion(NamedTuple):
    """The mode and blob id of a file at a commit."""

    mode: str
    object_id: str


class FileChange(NamedTuple):
    """A file before and after a commit; None if it does not exist."""

    before: FileVersion | None
    after: FileVersion | None


@dataclass(frozen=True, slots=True)
class HistoryCommit:
    """A commit on the first-parent line of a branch.

    `changes` are the files that differ from the first parent, by path; a renamed file is a deleted
    and an added one. `date` is the committer's; `author` is a name.
    """

    id: str
    parents: tuple[str, ...]
    date: datetime
    message: str
    changes: Mapping[str, FileChange]
    author: str = ""

    @property
    def subject(self) -> str:
        """The first line of the message."""
        return self.message.partition("\n")[0]


@dataclass(frozen=True, slots=True)
class BranchPosition:
    """A commit of a branch: the first line of its message, and how far the branch is ahead.

    `ahead` is None if the commit is not on the branch, or if `fault` says why it is unknown.
    """

    branch: str
    commit: str
    subject: str
    ahead: int | None
    fault: str = ""
