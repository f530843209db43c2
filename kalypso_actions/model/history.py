"""The commits of a branch: their files, and which of them contain which others.

`Relation` and `ON_BRANCH` in `model.github` answer the latter from GitHub's comparison of two
commits.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import NamedTuple


class FileVersion(NamedTuple):
    """The mode and blob id of a file at a commit."""

    mode: str
    object_id: str


class FileVersions(NamedTuple):
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
    changes: Mapping[str, FileVersions]
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


@dataclass(frozen=True, slots=True)
class Ancestry:
    """The ancestors of a branch's head, each with its parents."""

    head: str
    parents: Mapping[str, tuple[str, ...]]
    _ancestors: dict[str, frozenset[str]] = field(default_factory=dict, repr=False)
    _places: dict[str, int] = field(default_factory=dict, repr=False)

    def __contains__(self, commit: object) -> bool:
        """Whether the branch contains the commit."""
        return commit in self.parents

    def contains(self, newer: str, older: str) -> bool:
        """Whether `newer` is `older` or its descendant; False for commits not on the branch."""
        line = self._line()
        if newer in line and older in line:
            return line[newer] <= line[older]
        if newer not in self._ancestors:
            self._ancestors[newer] = self._reachable(newer)
        return older in self._ancestors[newer]

    def since(self, commit: str) -> tuple[str, ...] | None:
        """Return the commits after this one up to the head; None if it is not on the branch."""
        if commit not in self:
            return None
        before = self._reachable(commit)
        return tuple(item for item in self.parents if item not in before)

    def first_parents(self) -> Iterator[str]:
        """Yield the commits on the first-parent line of the head, the newest first."""
        seen: set[str] = set()
        commit = self.head
        while commit in self.parents and commit not in seen:
            seen.add(commit)
            yield commit
            commit = next(iter(self.parents[commit]), "")

    def _line(self) -> Mapping[str, int]:
        """Return the places on the first-parent line, where most compared commits lie."""
        if not self._places:
            self._places.update((commit, n) for n, commit in enumerate(self.first_parents()))
        return self._places

    def _reachable(self, commit: str) -> frozenset[str]:
        reachable: set[str] = set()
        pending = [commit] if commit in self.parents else []
        while pending:
            ancestor = pending.pop()
            if ancestor not in reachable:
                reachable.add(ancestor)
                pending += self.parents.get(ancestor, ())
        return frozenset(reachable)
