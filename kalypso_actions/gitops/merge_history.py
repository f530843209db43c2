"""The content that others removed from a GitOps branch after our merges.

Content is a path with a version of its file; the absence of a file is content as well. The present
era begins with our first merge that names the promoted commit. Older rejections do not count:
people have promoted another commit since.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final, Literal

from kalypso_actions.gitops.own_files import README_ID, cluster_type_folders, is_own, own_content
from kalypso_actions.gitops.proposed_commit import digest_of
from kalypso_actions.model.documents import FileEntry
from kalypso_actions.model.history import FileVersion, HistoryCommit
from kalypso_actions.model.layout import PROMOTED_COMMIT_FILE, RECORD_FILES
from kalypso_actions.model.object_ids import blob_id
from kalypso_actions.model.tree import BaseTree

Content = tuple[str, FileVersion | None]

UPSTREAM: Final = re.compile(
    r"Kalypso Scheduler commit|Merge pull request #\d+ from [^/\s]+/deployment/"
    r"|Update manifests in \S+ from deployment/"
)
"""The first words of the message when a pull request of the upstream operator is merged."""


@dataclass(frozen=True, slots=True)
class Rejection:
    """The rejection of one content.

    `number` is our pull request with the content; `commit` is a commit whose `sources.json` has the
    sources of the content.
    """

    number: int
    how: Literal["closed", "undone"]
    commit: str


@dataclass(frozen=True, slots=True)
class MergeHistory:
    """Our merges into a branch, and the changes of others since.

    `removed` is the content that a merge of the present era brought and a commit of others removed.
    `merged` is the newest pull request of the era for each content that a merge brought.
    `before_era` is the newest pull request that was merged before the era, 0 for none.
    `is_as_merged`: our files on the branch are exactly as our last merge left them (before our
    first merge: there are none).
    """

    removed: Mapping[Content, Rejection]
    merged: Mapping[Content, int]
    before_era: int
    is_as_merged: bool


@dataclass(frozen=True, slots=True)
class _Step:
    """A commit, and our pull request that it merges (None: a commit of others)."""

    commit: HistoryCommit
    number: int | None


def without_merges(base: BaseTree, cluster_types: Collection[str]) -> MergeHistory:
    """Return the history of a branch without a merge of ours."""
    return MergeHistory({}, {}, 0, not own_content(base.entries, base.path, cluster_types))


def read_merge_history(
    line: Iterable[HistoryCommit],
    base: BaseTree,
    cluster_types: Collection[str],
    promoted_commit: str | None,
    number_of: Callable[[str], int | None],
) -> MergeHistory:
    """Read the commits of a branch from its head, whose tree is `base`, back to the era's start.

    `number_of` returns the number of our pull request that a commit merges. `line` are the commits,
    newest first; the function takes as few as possible.
    """
    rest = iter(line)
    search = _Search(base, promoted_commit)
    for commit in rest:
        if search.passes(commit, number_of(commit.id)):
            break
    if search.last is None:
        return without_merges(base, cluster_types)
    folders = _folders(search.steps, base, cluster_types)
    tracked = _TrackedCommits(search.tracking_file, rest)
    tracked.add(step.commit for step in search.steps[max(search.era - 1, 0) :])
    era = _Era(base.path, folders, tracked)
    era.replay(search.start, list(reversed(search.steps[: search.era])))
    now, then = (
        own_content(entries, base.path, folders) for entries in (base.entries, search.last)
    )
    return MergeHistory(era.removed, era.merged, search.before_era, now == then)


def after_force_push(
    history: MergeHistory,
    merged: Mapping[str, FileEntry],
    base: BaseTree,
    cluster_types: Collection[str],
    rejection: Rejection | None,
) -> MergeHistory:
    """Return the history of a branch that people forced back behind our latest merge.

    `merged` are the files of that merge, `rejection` names it (None: it is not of the present era).
    Its content that the branch `base` no longer has is removed, as by a revert. A rewritten branch
    with the same content has lost nothing, and one without a tracking file begins anew.
    """
    if base.promoted_commit is None:
        return history
    folders = cluster_type_folders({**base.entries, **merged}, base.path, cluster_types)
    then, now = (own_content(entries, base.path, folders) for entries in (merged, base.entries))
    gone = [
        (path, then.get(path))
        for path in then.keys() | now.keys()
        if then.get(path) != now.get(path)
    ]
    removed = dict.fromkeys(gone, rejection) if rejection else {}
    return replace(history, removed={**history.removed, **removed}, is_as_merged=not gone)


class _Search:
    """Searches backwards for our first merge in the present era."""

    def __init__(self, base: BaseTree, promoted_commit: str | None) -> None:
        self.tracking_file = base.prefix + PROMOTED_COMMIT_FILE
        self._promoted_commit = promoted_commit
        self._content = {
            path: FileVersion(entry.mode, entry.object_id) for path, entry in base.entries.items()
        }
        self._number = 0
        self.steps: list[_Step] = []  # newest first
        self.era = 0
        """The number of steps in the era; `start` is the content after the oldest step."""
        self.start: Mapping[str, FileVersion] = {}
        self.last: Mapping[str, FileVersion] | None = None
        """The content after our last merge."""
        self.before_era = 0

    def passes(self, commit: HistoryCommit, number: int | None) -> bool:
        """Add the next older commit; return True if no older commit can belong to the era."""
        if number is None and self._number and digest_of(commit.message):
            number = self._number  # a merge by rebase may make several commits
        self.steps.append(_Step(commit, number))
        change = commit.changes.get(self.tracking_file)
        if number is None:
            # Others promoted the commit, or went back to an older one.
            ends = (
                change is not None
                and (self.era or self.before_era) > 0
                and not any(_names(version, self._promoted_commit) for version in change)
            )
        else:
            self._number = number
            is_named = _names(self._content.get(self.tracking_file), self._promoted_commit)
            self._merge(number, is_named=is_named)
            # A merge that does not change the tracking file may follow somebody's revert.
            ends = change is not None and not is_named
        _undo(self._content, commit)
        return ends

    def _merge(self, number: int, *, is_named: bool) -> None:
        if self.last is None:
            self.last = dict(self._content)
        if is_named:
            self.era, self.start, self.before_era = len(self.steps), dict(self._content), 0
        else:
            self.before_era = self.before_era or number


@dataclass(slots=True)
class _TrackedCommits:
    """The versions that the tracking file had; older ones are read on demand."""

    tracking_file: str
    older: Iterator[HistoryCommit]
    versions: set[FileVersion | None] = field(default_factory=lambda: {None})

    def add(self, commits: Iterable[HistoryCommit]) -> None:
        for commit in commits:
            self.versions |= set(commit.changes.get(self.tracking_file, ()))

    def has(self, version: FileVersion | None) -> bool:
        while version not in self.versions:
            commit = next(self.older, None)
            if commit is None:
                return False
            self.add([commit])
        return True

    def is_promotion(self, commit: HistoryCommit) -> bool:
        """Whether a commit of others is a promotion, such as one of the upstream operator."""
        if UPSTREAM.match(commit.message) and not digest_of(commit.message):
            return True
        change = commit.changes.get(self.tracking_file)
        return change is not None and not self.has(change.after)


@dataclass(slots=True)
class _Era:
    """Replays an era from its first merge on."""

    folder: str
    cluster_types: Collection[str]
    tracked: _TrackedCommits
    removed: dict[Content, Rejection] = field(default_factory=dict)
    merged: dict[Content, int] = field(default_factory=dict)
    _after_merges: dict[str, dict[FileVersion | None, int]] = field(default_factory=dict)
    """By path, the versions after our merges, each with the newest pull request that brought it."""
    _changed: dict[str, int] = field(default_factory=dict)
    """By path, the step that changed it last."""

    def replay(self, start: Mapping[str, FileVersion], steps: Sequence[_Step]) -> None:
        """Replay the steps; `start` is the content after the first one, which is our merge."""
        merge: _Step | None = None
        merged_at = 0
        for place, step in enumerate(steps):
            if place == 0:
                own = own_content(start, self.folder, self.cluster_types)
                self._after_merges = {
                    path: {version: step.number or 0} for path, version in own.items()
                }
                self.merged = dict.fromkeys(own.items(), step.number or 0)
            paths = list(self._own(step.commit))
            for path in paths:
                if merge is not None and self._changed.get(path, 0) <= merged_at:
                    # Our last merge kept the version before this commit, even if others wrote it.
                    versions = self._after_merges.setdefault(path, {})
                    versions.setdefault(step.commit.changes[path].before, merge.number or 0)
            if step.number is not None:
                merge, merged_at = step, place
                self._merge(step.commit, paths, step.number)
            elif merge is not None:
                self._note_removals(step.commit, paths, merge.commit.id)
            self._changed |= dict.fromkeys(paths, place)
            self.tracked.add([step.commit])

    def _merge(self, commit: HistoryCommit, paths: Iterable[str], number: int) -> None:
        for path in paths:
            after = commit.changes[path].after
            self._after_merges.setdefault(path, {})[after] = number
            self.merged[path, after] = number
            self.removed.pop((path, after), None)

    def _note_removals(self, commit: HistoryCommit, paths: Iterable[str], merge: str) -> None:
        """Note the content that a commit of others removes; `merge` is our last merge before it."""
        promotes = self.tracked.is_promotion(commit)
        for path in paths:
            before, after = commit.changes[path]
            # The revert of a revert restores content, and removes nothing.
            restored = self.removed.pop((path, after), None)
            versions = self._after_merges.get(path, {})
            if before in versions and not (restored or promotes):
                self.removed[path, before] = Rejection(versions[before], "undone", merge)

    def _own(self, commit: HistoryCommit) -> Iterator[str]:
        prefix = f"{self.folder}/" if self.folder else ""
        for path in commit.changes:
            place = path.removeprefix(prefix)
            inside = path.startswith(prefix) and place not in RECORD_FILES
            if inside and is_own(place.split("/"), self.cluster_types):
                yield path


def _names(version: FileVersion | None, commit: str | None) -> bool:
    """Whether a tracking file names a commit; other tools write a newline at its end."""
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
    """Return the folders of cluster types in any of the commits."""
    readmes = {
        path: version
        for step in steps
        for path, change in step.commit.changes.items()
        for version in change
        if version is not None and version.object_id == README_ID
    }
    return cluster_type_folders({**base.entries, **readmes}, base.path, cluster_types)
