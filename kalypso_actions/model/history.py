"""The history of a branch, as far as promotion looks at it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import NamedTuple


class FileVersion(NamedTuple):
    """Mode and blob id of a file at one commit."""

    mode: str
    object_id: str


class FileChange(NamedTuple):
    """What a commit makes of a file; None stands for no file."""

    before: FileVersion | None
    after: FileVersion | None


@dataclass(frozen=True, slots=True)
class HistoryCommit:
    """A commit on the first-parent line of a branch.

    `changes` are the files that differ from the first parent, by their paths; a renamed file is
    one that goes and one that comes. `date` is the committer's. `author_email` is as written.
    """

    id: str
    parents: tuple[str, ...]
    date: datetime
    author_email: str
    message: str
    changes: Mapping[str, FileChange]


@dataclass(frozen=True, slots=True)
class Ancestry:
    """All commits that a branch's head contains, each with its parents."""

    head: str
    parents: Mapping[str, tuple[str, ...]]
    _ancestors: dict[str, frozenset[str]] = field(default_factory=dict, repr=False)

    def __contains__(self, commit: object) -> bool:
        """Whether the commit lies on the branch."""
        return commit in self.parents

    def contains(self, newer: str, older: str) -> bool:
        """Whether `newer` is `older` or descends from it; False for commits not on the branch."""
        if newer not in self._ancestors:
            self._ancestors[newer] = self._reachable(newer)
        return older in self._ancestors[newer]

    def first_parent_line(self) -> frozenset[str]:
        """The commits on the first-parent line of the head."""
        line: set[str] = set()
        commit = self.head
        while commit in self.parents and commit not in line:
            line.add(commit)
            commit = next(iter(self.parents[commit]), "")
        return frozenset(line)

    def _reachable(self, commit: str) -> frozenset[str]:
        found: set[str] = set()
        waiting = [commit] if commit in self.parents else []
        while waiting:
            one = waiting.pop()
            if one not in found:
                found.add(one)
                waiting += self.parents.get(one, ())
        return frozenset(found)
