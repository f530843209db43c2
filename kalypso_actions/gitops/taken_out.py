"""Which content people took out of a GitOps branch, computed from the commits of the branch.

Content is a path with the version of the file there; no file is a content as well. The present era
begins with the first merge of ours that names the promoted commit. An older rejection no longer
counts: people have written base-repo.yaml since.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Final, Literal

from kalypso_actions.gitops.digest import digest_of
from kalypso_actions.gitops.own_files import README_ID, cluster_type_folders, is_own, own_content
from kalypso_actions.model.history import FileVersion, HistoryCommit
from kalypso_actions.model.layout import PROMOTED_COMMIT_FILE, SOURCES_FILE
from kalypso_actions.model.object_ids import blob_id
from kalypso_actions.model.tree import BaseTree

Content = tuple[str, FileVersion | None]

UPSTREAM: Final = re.compile(
    r"Kalypso Scheduler commit|Merge pull request #\d+ from [^/\s]+/deployment/"
    r"|Update manifests in \S+ from deployment/"
)
"""How the message of a merge of the upstream operator's pull request begins, by each method."""


@dataclass(frozen=True, slots=True)
class Rejection:
    """Where people rejected a content.

    `number` is the pull request of ours that brought it; `commit` is a commit of which the
    `sources.json` says what the content was made of.
    """

    number: int
    how: Literal["closed", "undone"]
    commit: str


@dataclass(frozen=True, slots=True)
class Past:
    """What became of our merges on a branch.

    `taken_out` is the content that the branch held through a merge of ours in the present era, and
    that a commit of others took away. `brought` names the newest merge of the era that brought a
    content. `before` is the newest pull request that was merged before the era, 0 for none.
    `is_as_merged`: the branch's files of ours are exactly those that our last merge left; before
    our first merge: it has none.
    """

    taken_out: Mapping[Content, Rejection]
    brought: Mapping[Content, int]
    before: int
    is_as_merged: bool


@dataclass(frozen=True, slots=True)
class _Step:
    """A commit, and the pull request of ours that it merges (None: it is not ours)."""

    commit: HistoryCommit
    number: int | None


def without_merges(base: BaseTree, cluster_types: Collection[str]) -> Past:
    """The past of a branch to which nothing of ours was merged."""
    return Past({}, {}, 0, not own_content(base.entries, base.path, cluster_types))


def read_past(
    line: Iterable[HistoryCommit],
    base: BaseTree,
    cluster_types: Collection[str],
    promoted_commit: str | None,
    number_of: Callable[[str], int | None],
) -> Past:
    """Read the commits of a branch from its head, which holds `base`, back to the era's beginning.

    `number_of` gives the pull request of ours that a commit merges. Of `line`, newest first, as few
    commits are taken as it needs.
    """
    tracking = f"{base.path}/{PROMOTED_COMMIT_FILE}" if base.path else PROMOTED_COMMIT_FILE
    rest = iter(line)
    content = {
        path: FileVersion(entry.mode, entry.object_id) for path, entry in base.entries.items()
    }
    last: Mapping[str, FileVersion] | None = None
    begun: Mapping[str, FileVersion] = {}
    steps: list[_Step] = []  # newest first
    era = 0  # how many of them belong to it
    number = before = 0
    named = _Named(tracking, rest)
    for commit in rest:
        merged = number_of(commit.id)
        if merged is None and number and digest_of(commit.message):
            merged = number  # a merge by rebase may leave several commits
        steps.append(_Step(commit, merged))
        if merged is not None:
            number = merged
            last = dict(content) if last is None else last
            if not _names(content.get(tracking), promoted_commit):
                before = merged
                break
            era, begun = len(steps), dict(content)
        _undo(content, commit)
    if last is None:
        return without_merges(base, cluster_types)
    folders = _folders(steps, base, cluster_types)
    named.add(step.commit for step in steps[max(era - 1, 0) :])
    walk = _Walk(base.path, folders, named)
    walk.go(begun, list(reversed(steps[:era])))
    now, then = (own_content(one, base.path, folders) for one in (base.entries, last))
    return Past(walk.taken_out, walk.brought, before, now == then)


@dataclass(slots=True)
class _Named:
    """The commits that the tracking file has named; older ones are looked up when it matters."""

    tracking: str
    older: Iterator[HistoryCommit]
    versions: set[FileVersion | None] = field(default_factory=lambda: {None})

    def add(self, commits: Iterable[HistoryCommit]) -> None:
        for commit in commits:
            self.versions |= set(commit.changes.get(self.tracking, ()))

    def has(self, version: FileVersion | None) -> bool:
        while version not in self.versions:
            commit = next(self.older, None)
            if commit is None:
                return False
            self.add([commit])
        return True

    def is_promotion(self, commit: HistoryCommit) -> bool:
        """Whether a commit that is not ours promotes, as the upstream operator's do."""
        if UPSTREAM.match(commit.message) and not digest_of(commit.message):
            return True
        change = commit.changes.get(self.tracking)
        return change is not None and not self.has(change.after)


@dataclass(slots=True)
class _Walk:
    """Goes through an era from its first merge on."""

    folder: str
    cluster_types: Collection[str]
    named: _Named
    taken_out: dict[Content, Rejection] = field(default_factory=dict)
    brought: dict[Content, int] = field(default_factory=dict)
    _held: dict[str, dict[FileVersion | None, int]] = field(default_factory=dict)
    """By path, what merges of ours left there, and the newest that brought it."""

    def go(self, begun: Mapping[str, FileVersion], steps: Iterable[_Step]) -> None:
        """`begun` is the whole content after the first step, a merge of ours."""
        first = merge = ""
        number = 0
        for step in steps:
            if not first:
                first, number = step.commit.id, step.number or 0
                own = own_content(begun, self.folder, self.cluster_types)
                self._held = {path: {version: number} for path, version in own.items()}
                self.brought = dict.fromkeys(own.items(), number)
            if step.number is not None:
                merge = step.commit.id
                self._merge(step.commit, step.number)
            else:
                self._judge(step.commit, number, merge)
            self.named.add([step.commit])

    def _merge(self, commit: HistoryCommit, number: int) -> None:
        for path in self._own(commit):
            after = commit.changes[path].after
            self._held.setdefault(path, {})[after] = number
            self.brought[path, after] = number
            self.taken_out.pop((path, after), None)

    def _judge(self, commit: HistoryCommit, first: int, merge: str) -> None:
        promotes = self.named.is_promotion(commit)
        for path in self._own(commit):
            before, after = commit.changes[path]
            # A revert of a revert gives back, and takes nothing away.
            given_back = self.taken_out.pop((path, after), None)
            held = self._held.setdefault(path, {None: first})
            if before in held and not (given_back or promotes):
                self.taken_out[path, before] = Rejection(held[before], "undone", merge)

    def _own(self, commit: HistoryCommit) -> Iterator[str]:
        prefix = f"{self.folder}/" if self.folder else ""
        for path in commit.changes:
            place = path.removeprefix(prefix)
            inside = path.startswith(prefix) and place != SOURCES_FILE
            if inside and is_own(place.split("/"), self.cluster_types):
                yield path


def _names(version: FileVersion | None, commit: str | None) -> bool:
    """Whether a tracking file names a commit; other tools end it with a newline."""
    if commit is None or version is None:
        return commit is None and version is None
    return version.object_id in {blob_id(commit.encode()), blob_id(f"{commit}\n".encode())}


def _undo(content: dict[str, FileVersion], commit: HistoryCommit) -> None:
    for path, change in commit.changes.items():
        if change.before is None:
            content.pop(path, None)
        else:
            content[path] = change.before


def _folders(
    steps: Iterable[_Step], base: BaseTree, cluster_types: Collection[str]
) -> frozenset[str]:
    """The folders of cluster types of all these commits."""
    readmes = {
        path: version
        for step in steps
        for path, change in step.commit.changes.items()
        for version in change
        if version is not None and version.object_id == README_ID
    }
    return cluster_type_folders({**base.entries, **readmes}, base.path, cluster_types)
