"""Which content people took out of a GitOps branch, computed from the commits of the branch.

Content is a path with the version of the file there; no file is a content as well. The present era
begins with the first merge of ours that names the promoted commit. An older rejection no longer
counts: people have written base-repo.yaml since.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
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
    rest = iter(line)
    search = _Search(base, promoted_commit)
    for commit in rest:
        if search.passes(commit, number_of(commit.id)):
            break
    if search.last is None:
        return without_merges(base, cluster_types)
    folders = _folders(search.steps, base, cluster_types)
    named = _Named(search.tracking, rest)
    named.add(step.commit for step in search.steps[max(search.era - 1, 0) :])
    walk = _Walk(base.path, folders, named)
    walk.go(search.begun, list(reversed(search.steps[: search.era])))
    now, then = (own_content(one, base.path, folders) for one in (base.entries, search.last))
    return Past(walk.taken_out, walk.brought, search.before, now == then)


class _Search:
    """Goes back to the first merge of ours in the present era."""

    def __init__(self, base: BaseTree, promoted_commit: str | None) -> None:
        self.tracking = f"{base.path}/{PROMOTED_COMMIT_FILE}" if base.path else PROMOTED_COMMIT_FILE
        self._promoted = promoted_commit
        self._content = {
            path: FileVersion(entry.mode, entry.object_id) for path, entry in base.entries.items()
        }
        self._number = 0
        self.steps: list[_Step] = []  # newest first
        self.era = 0
        """How many of the steps belong to it, with `begun` after the oldest one."""
        self.begun: Mapping[str, FileVersion] = {}
        self.last: Mapping[str, FileVersion] | None = None
        """The content after our last merge."""
        self.before = 0

    def passes(self, commit: HistoryCommit, number: int | None) -> bool:
        """Take the next older commit; whether no older one can belong to the era."""
        if number is None and self._number and digest_of(commit.message):
            number = self._number  # a merge by rebase may leave several commits
        self.steps.append(_Step(commit, number))
        change = commit.changes.get(self.tracking)
        if number is None:
            # Others have promoted before us, or gone back further than we look.
            ends = (
                change is not None
                and (self.era or self.before) > 0
                and not any(_names(version, self._promoted) for version in change)
            )
        else:
            self._number = number
            is_named = _names(self._content.get(self.tracking), self._promoted)
            self._merge(number, is_named=is_named)
            # A merge that leaves the tracking file alone may stand on somebody's revert.
            ends = change is not None and not is_named
        _undo(self._content, commit)
        return ends

    def _merge(self, number: int, *, is_named: bool) -> None:
        if self.last is None:
            self.last = dict(self._content)
        if is_named:
            self.era, self.begun, self.before = len(self.steps), dict(self._content), 0
        else:
            self.before = self.before or number


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
    """By path, what stood there after a merge of ours, and the newest that brought it."""
    _changed: dict[str, int] = field(default_factory=dict)
    """By path, the step that changed it last."""

    def go(self, begun: Mapping[str, FileVersion], steps: Sequence[_Step]) -> None:
        """`begun` is the whole content after the first step, a merge of ours."""
        merge: _Step | None = None
        merged_at = 0
        for place, step in enumerate(steps):
            if place == 0:
                own = own_content(begun, self.folder, self.cluster_types)
                self._held = {path: {version: step.number or 0} for path, version in own.items()}
                self.brought = dict.fromkeys(own.items(), step.number or 0)
            paths = list(self._own(step.commit))
            for path in paths:
                if merge is not None and self._changed.get(path, 0) <= merged_at:
                    # Our last merge left it, whoever had brought it.
                    held = self._held.setdefault(path, {})
                    held.setdefault(step.commit.changes[path].before, merge.number or 0)
            if step.number is not None:
                merge, merged_at = step, place
                self._merge(step.commit, paths, step.number)
            elif merge is not None:
                self._judge(step.commit, paths, merge.commit.id)
            self._changed |= dict.fromkeys(paths, place)
            self.named.add([step.commit])

    def _merge(self, commit: HistoryCommit, paths: Iterable[str], number: int) -> None:
        for path in paths:
            after = commit.changes[path].after
            self._held.setdefault(path, {})[after] = number
            self.brought[path, after] = number
            self.taken_out.pop((path, after), None)

    def _judge(self, commit: HistoryCommit, paths: Iterable[str], merge: str) -> None:
        """A commit of others; `merge` is our last one before it."""
        promotes = self.named.is_promotion(commit)
        for path in paths:
            before, after = commit.changes[path]
            # A revert of a revert gives back, and takes nothing away.
            given_back = self.taken_out.pop((path, after), None)
            held = self._held.get(path, {})
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
