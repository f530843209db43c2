"""The state of a Flux configuration at a moment, from the history of its branch.

The history is not stored: pushes are events of the store, and git has the rest.
"""

from __future__ import annotations

import fnmatch
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from itertools import pairwise
from typing import Final, Literal

from kalypso_actions.model.urls import repository_key
from kalypso_sandbox.azure.clusters import Configuration, Failure
from kalypso_sandbox.store import Repository, Store

Phase = Literal["waiting", "applying", "depending", "ready", "failing"]
"""Respectively: not synced yet; applying; kustomizations wait for others; ready; broken."""

STOPPED_BEHAVIOURS: Final = frozenset({"stall", "suspended", "disconnected"})


@dataclass(frozen=True, slots=True)
class Head:
    """A commit, and the time when it became a branch's head."""

    commit: str
    pushed_at: datetime


class RepositoryHistory:
    """The history of a store's repositories. It caches facts that never change."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._broken: dict[tuple[int, str, str, str], tuple[str, int] | None] = {}

    def find(self, name: str) -> Repository | None:
        """Return a repository by `owner/name` or the end of a URL; any host matches."""
        return self._store.repository("/".join(repository_key(name).split("/")[-2:]))

    def heads(self, name: str, branch: str) -> list[Head]:
        """Return the heads of a branch, oldest first.

        A head without a push event, as in a repository created with files, counts from its commit
        date. A deleted branch adds no head: clusters keep the last one.
        """
        repository = self.find(name)
        if repository is None:
            return []
        names = {
            full_name.lower() for full_name in (repository.full_name, *repository.former_names)
        }
        heads = [
            Head(event.commit, event.created_at)
            for event in self._store.events
            if event.name == "push"
            and event.ref == f"refs/heads/{branch}"
            and event.repository.lower() in names
            and event.commit
        ]
        git = self._store.git(repository)
        commit = git.head(branch)
        if commit is not None and commit not in (head.commit for head in heads[-1:]):
            moments = [git.commit(commit).committer.date, *(head.pushed_at for head in heads)]
            heads.append(Head(commit, max(moments)))
        return heads

    def is_broken(self, name: str, failure: Failure, commit: str) -> bool:
        """Return whether a commit has a file that matches; an unknown commit has no files."""
        return self.broken_at(name, failure, commit) is not None

    def broken_at(self, name: str, failure: Failure, commit: str) -> tuple[str, int] | None:
        """Return the first file of a commit that matches, and its line; None without one."""
        repository = self.find(name)
        if repository is None:
            return None
        key = repository.id, commit, failure.path, failure.text
        if key not in self._broken:
            self._broken[key] = self._first_match(repository, commit, failure)
        return self._broken[key]

    def files(self, name: str, commit: str) -> Mapping[str, bytes]:
        """Return the files of a commit; none of an unknown repository or commit."""
        repository = self.find(name)
        try:
            return self._store.git(repository).files(commit) if repository else {}
        except LookupError:
            return {}

    def has_path(self, name: str, commit: str, path: str) -> bool:
        """Return whether a commit has a folder, or a file, at a path ("" for the root)."""
        repository = self.find(name)
        return repository is not None and (
            not path or self._store.git(repository).tree_id(commit, path) is not None
        )

    def _first_match(
        self, repository: Repository, commit: str, failure: Failure
    ) -> tuple[str, int] | None:
        files = self.files(repository.full_name, commit)
        wanted = failure.text.encode()
        matches = (
            (path, content.count(b"\n", 0, content.index(wanted)) + 1)
            for path, content in files.items()
            if fnmatch.fnmatchcase(path, failure.path) and wanted in content
        )
        return next(matches, None)


@dataclass(frozen=True, slots=True)
class SyncState:
    """The commit of the source ("" for none), and the phase of the Kustomizations with its start.

    `applied` is the commit that the Kustomizations work on: an earlier commit until they begin with
    that of the source. `reported_at` is the time of the cluster's last report to Azure.
    `nested_since` is the time when nested Kustomizations began to fail with an earlier commit.
    """

    commit: str
    phase: Phase
    synced_at: datetime | None
    changed_at: datetime | None
    reported_at: datetime | None
    applied: str = ""
    nested_since: datetime | None = None


def sync_state(
    configuration: Configuration,
    heads: Sequence[Head],
    is_broken: Callable[[str], bool],
    now: datetime,
) -> SyncState:
    """Return the state at a moment. `heads` are those of its branch, oldest first."""
    if configuration.behaviour not in STOPPED_BEHAVIOURS:
        return _reported(_following(configuration, heads, is_broken, now), configuration, now)
    since = configuration.since
    nothing = SyncState("", "waiting", None, None, None)
    before = configuration.model_copy(update={"behaviour": "follow", "since": None})
    stopped = nothing if since is None else _following(before, heads, is_broken, min(now, since))
    if configuration.behaviour != "disconnected":
        return _reported(stopped, configuration, now)
    if since is None or stopped.phase == "waiting":
        return stopped
    return _reported(stopped, configuration, min(now, since))


def while_following(configuration: Configuration, now: datetime) -> tuple[Configuration, datetime]:
    """Return a stopped configuration as it was before it stopped, and the moment of that."""
    if configuration.behaviour not in STOPPED_BEHAVIOURS:
        return configuration, now
    began = datetime.fromtimestamp(0, now.tzinfo)
    stopped_at = min(now, configuration.since or began)
    return configuration.model_copy(update={"behaviour": "follow", "since": None}), stopped_at


def synced_commits(
    configuration: Configuration, heads: Sequence[Head], now: datetime
) -> list[tuple[str, datetime]]:
    """Return the commits that the source has had until now, with the times of their syncs."""
    return [(commit, at) for commit, at in _syncs(configuration, heads) if at <= now]


def reconciliations(
    configuration: Configuration, heads: Sequence[Head], now: datetime
) -> list[tuple[str, datetime]]:
    """Return the commits that were applied until now, with the times when that began."""
    synced = synced_commits(configuration, heads, now)
    return [(commit, at) for commit, at in _reconciles(configuration, synced) if at <= now]


@dataclass(frozen=True, slots=True)
class Transition:
    """A moment at which a cluster tells the phase of a commit's Kustomizations."""

    commit: str
    phase: Phase
    at: datetime


def transitions(
    configuration: Configuration,
    heads: Sequence[Head],
    is_broken: Callable[[str], bool],
    after: datetime | None,
    now: datetime,
) -> Iterator[Transition]:
    """Yield what a cluster has told after one moment until another: every reconciliation.

    A reconciliation of a commit first tells that Kustomizations wait for others (`depending`), if
    any do. The end of its health checks is `ready` or `failing`; each interval repeats it.
    """
    configuration, now = while_following(configuration, now)
    begun = [
        *reconciliations(configuration, heads, now),
        ("", now + timedelta(microseconds=1)),
    ]
    interval = timedelta(
        seconds=configuration.period
        if configuration.behaviour == "flap"
        else configuration.sync_interval
    )
    for (commit, begun_at), (_, end) in pairwise(begun):
        waits = configuration.ordered and len(configuration.paths) > 1
        if waits and begun_at <= now and (after is None or begun_at > after):
            yield Transition(commit, "depending", begun_at)
        at = settled_at = begun_at + timedelta(seconds=configuration.settle)
        if after is not None and at <= after:
            at += ((after - at) // interval + 1) * interval
        broken = configuration.behaviour == "fail" and at <= now and is_broken(commit)
        while at <= now and (at == settled_at or at < end):
            phase, _ = phase_at(configuration, begun_at, at, broken=broken)
            yield Transition(commit, phase, at)
            at += interval


def _following(
    configuration: Configuration,
    heads: Sequence[Head],
    is_broken: Callable[[str], bool],
    now: datetime,
) -> SyncState:
    """Return the state at `now` for a configuration that follows its branch."""
    if configuration.source_kind != "GitRepository":
        return SyncState("", "ready", configuration.since, configuration.since, None)
    synced = synced_commits(configuration, heads, now)
    if not synced:
        return SyncState("", "waiting", None, None, None)
    commit, synced_at = synced[-1]
    begun = reconciliations(configuration, heads, now)
    if not begun:
        return SyncState(commit, "applying", synced_at, synced_at, None)
    applied, begun_at = begun[-1]
    broken = configuration.behaviour == "fail" and is_broken(applied)
    phase, changed_at = phase_at(configuration, begun_at, now, broken=broken)
    state = SyncState(commit, phase, synced_at, changed_at, None, applied)
    nested_until = changed_at + timedelta(seconds=configuration.nested_delay)
    if phase == "ready" and now < nested_until and configuration.behaviour == "fail":
        for before, before_at in begun[-2:-1]:
            if is_broken(before):
                _, nested_since = phase_at(configuration, before_at, begun_at, broken=True)
                return replace(state, phase="failing", nested_since=nested_since)
    return state


def _syncs(configuration: Configuration, heads: Sequence[Head]) -> list[tuple[str, datetime]]:
    """Return every commit with the time of its sync, not before the start of the behaviour."""
    since = configuration.since
    ahead = configuration.behaviour == "ahead"
    if ahead and configuration.commit:
        begun = [since] if since else [head.pushed_at for head in heads[:1]]
        return [(configuration.commit, moment) for moment in begun]
    delay = timedelta(seconds=0 if ahead else configuration.delay)
    return [(head.commit, max(head.pushed_at + delay, since or head.pushed_at)) for head in heads]


def _reconciles(
    configuration: Configuration, syncs: Sequence[tuple[str, datetime]]
) -> list[tuple[str, datetime]]:
    """Return the commits that the Kustomizations apply, each with the time when they begin.

    A commit waits until a running health check ends (fluxcd/kustomize-controller#1518). A newer
    commit that arrives during the wait replaces it.
    """
    begun: list[tuple[str, datetime]] = []
    busy_until = None
    for position, (commit, synced_at) in enumerate(syncs):
        begins_at = synced_at + timedelta(seconds=configuration.reconcile_delay)
        if busy_until is not None:
            begins_at = max(begins_at, busy_until)
        if all(later_at > begins_at for _, later_at in syncs[position + 1 :][:1]):
            begun.append((commit, begins_at))
            busy_until = begins_at + timedelta(seconds=configuration.settle)
    return begun


def phase_at(
    configuration: Configuration, begun_at: datetime, now: datetime, *, broken: bool
) -> tuple[Phase, datetime]:
    """Return the phase and its start; Kustomizations apply for half of `settle`, then wait."""
    settle = timedelta(seconds=configuration.settle)
    settled_at = begun_at + settle
    if now < begun_at + settle / 2:
        return "applying", begun_at
    if now < settled_at:
        return "depending", begun_at + settle / 2
    if configuration.behaviour == "flap":
        period = timedelta(seconds=configuration.period)
        turns = (now - settled_at) // period
        return ("failing" if turns % 2 else "ready"), settled_at + turns * period
    return ("failing" if broken else "ready"), settled_at


def _reported(sync_state: SyncState, configuration: Configuration, now: datetime) -> SyncState:
    """Add the time of the last report; clusters report every change, and also regularly."""
    report = now.timestamp() // configuration.reports_every * configuration.reports_every
    moments = [
        datetime.fromtimestamp(report, now.tzinfo),
        sync_state.synced_at,
        sync_state.changed_at,
    ]
    return replace(sync_state, reported_at=max(moment for moment in moments if moment))
