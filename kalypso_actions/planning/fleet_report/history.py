"""The last commits of a GitOps branch that changed the files of each assignment."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Final

from kalypso_actions.model.history import HistoryCommit
from kalypso_actions.model.urls import web_page

MOST_COMMITS: Final = 900
"""The most commits of a branch to read: fewer than git fetches at once."""

MOST_CHANGES: Final = 10
"""The most commits to show of each assignment."""


@dataclass(frozen=True, slots=True)
class MergedTree:
    """A GitOps branch: the URL of its repository, its name, and the folder of the tree.

    `commit` is its head, and `changes` are the commits by the assignment's folder, newest first.
    `fault` tells why the commits are unknown.
    """

    url: str
    branch: str
    folder: str
    commit: str = ""
    changes: Mapping[str, tuple[HistoryCommit, ...]] = field(default_factory=dict)
    fault: str = ""

    @property
    def page(self) -> str:
        """The page of the repository, "" without one."""
        return web_page(self.url)


def last_changes(
    commits: Iterable[HistoryCommit], folder: str, assignments: Collection[str]
) -> dict[str, tuple[HistoryCommit, ...]]:
    """Return the newest commits that change each assignment's folder below `folder`.

    `commits` are the commits of a branch, newest first; the function reads no more than needed.
    """
    changes: dict[str, list[HistoryCommit]] = {}
    wanted = set(assignments)
    for commit in commits:
        for name in wanted.intersection(_folders(commit.changes, folder)):
            changes.setdefault(name, []).append(commit)
            if len(changes[name]) == MOST_CHANGES:
                wanted.discard(name)
        if not wanted:
            break
    return {name: tuple(newest) for name, newest in changes.items()}


def _folders(paths: Iterable[str], folder: str) -> Iterator[str]:
    """Yield `<cluster type>/<target>` of the paths below a folder."""
    prefix = f"{folder}/" if folder else ""
    for path in paths:
        if path.startswith(prefix):
            yield "/".join(path[len(prefix) :].split("/", 2)[:2])
