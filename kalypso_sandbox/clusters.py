"""What the simulated clusters run, and what people do to them: break, stop, add and delete them.

    sandbox.clusters.fail("berlin", 'CACHE_MEGABYTES: "512"')
    for state in sandbox.clusters.states():
        print(state.name, state.phase, state.fault)

They report as their configurations say: to Resource Graph, by commit statuses, or by Argo CD.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from datetime import datetime
from functools import cache, partial
from typing import Any, Final, Literal

from kalypso_sandbox.azure import clusters
from kalypso_sandbox.azure.cloud import Azure
from kalypso_sandbox.azure.clusters import Cluster, Configuration, Failure
from kalypso_sandbox.azure.sync import Head, Phase, RepositoryHistory, sync_state

Fault = Literal["", "fails", "stalls", "offline", "flaps", "ahead", "suspended"]
Source = Literal["Azure Resource Graph", "commit statuses", "Argo CD"]

FAULTS: Final[dict[str, Fault]] = {
    "follow": "",
    "fail": "fails",
    "stall": "stalls",
    "disconnected": "offline",
    "flap": "flaps",
    "ahead": "ahead",
    "suspended": "suspended",
}
"""The behaviour of a configuration -> the fault that people see."""

MESSAGE: Final = "Deployment/app does not become ready: the configuration has {}"


@dataclass(frozen=True, slots=True)
class ClusterState:
    """A configuration of a cluster at a moment.

    name, kind     of the cluster; `kind` is `aks`, `arc` or `other`
    configuration  its name, for a cluster with several
    repository, branch, paths
                   what it follows; the branch is that of an environment, a path is `./type`
    source         where it reports
    commit         the commit that it has fetched; "" for none
    applied        the commit that it applies
    phase          see `sync.Phase`; `since` is when it began (None: never)
    message        why it fails, if it does
    fault          what people made of it ("": nothing), since `fault_since`; one that `fails` does
                   so with commits that contain `fails_at`, as this or the fetched one does in the
                   file and line `fails_in` (None: it does not)
    """

    name: str
    kind: str
    configuration: str
    repository: str
    branch: str
    paths: Sequence[str]
    source: Source
    commit: str
    applied: str
    phase: Phase
    since: datetime | None
    message: str
    fault: Fault
    fault_since: datetime | None
    fails_at: str
    fails_in: tuple[str, int] | None


class Clusters:
    """The clusters of a sandbox. Every method holds the lock; changes save the store.

    Methods with a name raise UnknownNameError. Those that change a configuration change all of the
    cluster.
    """

    def __init__(self, azure: Azure) -> None:
        self._azure = azure
        self._store = azure.store
        self._lock: AbstractContextManager[Any] = azure.lock
        self._repositories = RepositoryHistory(azure.store)

    def states(self) -> list[ClusterState]:
        """Return what every cluster runs now, sorted by environment and name."""
        with self._lock:
            heads = cache(self._repositories.heads)
            states = [
                self._state(cluster, configuration, heads)
                for cluster in clusters.clusters(self._store)
                if not cluster.deleted_at
                for configuration in cluster.configurations
            ]
        return sorted(states, key=lambda state: (state.branch, state.name, state.configuration))

    def _state(
        self,
        cluster: Cluster,
        configuration: Configuration,
        heads: Callable[[str, str], list[Head]],
    ) -> ClusterState:
        repository = configuration.repository
        is_broken = partial(self._repositories.is_broken, repository, configuration.failure)
        history = heads(repository, configuration.branch)
        state = sync_state(configuration, history, is_broken, self._store.now)
        fault = FAULTS[configuration.behaviour]
        failure, begins = configuration.failure, state.changed_at
        commit = state.applied or state.commit
        fails = fault == "fails"
        if state.phase == "failing" and begins and failure.since:
            begins = max(begins, failure.since)
        return ClusterState(
            name=cluster.name,
            kind=cluster.kind,
            configuration=configuration.name,
            repository=repository,
            branch=configuration.branch,
            paths=tuple(configuration.paths),
            source=_source(configuration),
            commit=state.commit,
            applied=state.applied,
            phase=state.phase,
            since=begins,
            message=failure.message if state.phase == "failing" else "",
            fault=fault,
            fault_since=configuration.since if fault else None,
            fails_at=failure.text if fails else "",
            fails_in=self._repositories.broken_at(repository, failure, commit) if fails else None,
        )

    def fail(self, name: str, text: str, *, path: str = "", message: str = "") -> None:
        """Let a cluster fail with every commit that has `text` in a file; "" fits every file.

        `path` is a glob of the file; by default, the files that the cluster applies count.
        """
        words = message or MESSAGE.format(text or "a fault")

        def changes(old: Configuration) -> dict[str, Any]:
            folder = old.paths[0].removeprefix("./").strip("/") if old.paths else ""
            failure = Failure(path=path or (f"{folder}/*" if folder else "*"), text=text)
            failure.message, failure.since = words, self._store.now
            # The fault begins with the commit that the cluster runs, not with a new sync.
            return {"behaviour": "fail", "failure": failure.model_dump(), "since": old.since}

        self._change(name, changes)

    def stall(self, name: str) -> None:
        """Let a cluster keep its commit, and continue to report."""
        self._change(name, lambda _: {"behaviour": "stall"})

    def take_offline(self, name: str) -> None:
        """Cut a cluster off: it neither follows nor reports."""
        self._change(name, lambda _: {"behaviour": "disconnected"}, connectivity="Offline")

    def mend(self, name: str) -> None:
        """Let a cluster follow its branch, and comply."""
        self._change(name, lambda _: {"behaviour": "follow"}, connectivity="Connected")

    def delete(self, name: str) -> None:
        """Delete a cluster."""
        with self._lock:
            self._azure.delete(name)
            self._store.save()

    def add(self, name: str, like: str) -> None:
        """Add a cluster that follows what the cluster `like` follows, without its faults.

        Raises ValueError if the name is empty or in use.
        """
        with self._lock:
            if not name or name in self._store.clusters:
                raise ValueError(f"there is already a cluster {name!r}" if name else "name it")
            model = clusters.get(self._store, like)
            well = {"behaviour": "follow", "since": None}
            follows = [each.model_copy(update=well) for each in model.configurations]
            update = {"name": name, "configurations": follows, "connectivity": "Connected"}
            clusters.put(self._store, model.model_copy(update=update))
            self._store.save()

    def _change(
        self, name: str, changes: Callable[[Configuration], dict[str, Any]], **of_cluster: Any
    ) -> None:
        with self._lock:
            cluster = clusters.get(self._store, name)
            clusters.put(self._store, cluster.model_copy(update=of_cluster))
            for configuration in cluster.configurations:
                clusters.change(self._store, name, changes(configuration), configuration.name)
            self._store.save()


def _source(configuration: Configuration) -> Source:
    if configuration.notifications:
        return "commit statuses"
    return "Argo CD" if configuration.application else "Azure Resource Graph"
