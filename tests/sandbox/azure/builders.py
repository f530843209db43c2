"""Clusters, branches and a clock for tests of the simulated Azure."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from kalypso_sandbox.azure import Azure, Cluster, Configuration
from kalypso_sandbox.azure.sync import Head
from kalypso_sandbox.git.objects import Person
from kalypso_sandbox.git.repositories import RefUpdate
from kalypso_sandbox.github.access import access_of_event
from kalypso_sandbox.github.pushes import handle_push
from kalypso_sandbox.store import Identity, Store
from tests.git_repositories import programs

START = datetime(2026, 7, 1, 12, 0, tzinfo=UTC)

SOMEBODY = Identity(kind="user", login="somebody", permissions={"contents": "write"})

FLUX_CONFIGURATIONS = (
    "kubernetesconfigurationresources\n"
    "| where type =~ 'microsoft.kubernetesconfiguration/fluxconfigurations'\n"
)


def at(seconds: float) -> datetime:
    """Return the time, in seconds after the start."""
    return START + timedelta(seconds=seconds)


def sha(digit: str) -> str:
    """Return a commit's id."""
    return digit * 40


def configuration(**fields: Any) -> Configuration:
    """Return a configuration that follows the branch dev of acme/fleet."""
    given: dict[str, Any] = {"repository": "acme/fleet", "branch": "dev", "paths": ["./drone"]}
    return Configuration(**{**given, **fields})


def cluster(name: str = "drone-1", **fields: Any) -> Cluster:
    """Return a cluster with one configuration; fields belong to either."""
    own = {key: fields.pop(key) for key in list(fields) if key in Cluster.model_fields}
    return Cluster(name=name, configurations=[configuration(**fields)], **own)


def pushes(*moments: tuple[float, str]) -> list[Head]:
    """Return a branch's history: seconds after the start, and the commit."""
    return [Head(sha(digit), at(seconds)) for seconds, digit in moments]


class Clock:
    """Shows the start, or `seconds` after it."""

    def __init__(self) -> None:
        self.seconds = 0.0

    def __call__(self) -> datetime:
        return at(self.seconds)


def store(folder: Path, clock: Clock) -> Store:
    """Open an empty store, or the one that was saved in the folder."""
    return Store.open(folder, clock, programs())


def azure(folder: Path, clock: Clock, *clusters: Cluster) -> Azure:
    """Return an Azure with these clusters and an empty repository acme/fleet."""
    made = Azure(store(folder, clock), threading.RLock())
    made.store.add_repository("acme", "fleet")
    for added in clusters:
        made.put(added)
    return made


def four_clusters(folder: Path, clock: Clock, other_subscription: str = "other") -> Azure:
    """Return clusters a to d, the last in another subscription, and a commit to follow."""
    ours = (cluster(name) for name in ("a", "b", "c"))
    made = azure(folder, clock, *ours, cluster("d", subscription=other_subscription))
    push(made.store, {"drone/a": "1"})
    return made


def push(
    made: Store,
    files: Mapping[str, str | None],
    branch: str = "dev",
    repository: str = "acme/fleet",
) -> str:
    """Commit to a branch as a push does; return the commit's id."""
    fleet = made.repositories[repository]
    git = made.git(fleet)
    before = git.head(branch)
    author = Person("n", "n@example.com", made.now)
    commit = git.commit_files(branch, files, "change", author)
    update = RefUpdate(f"refs/heads/{branch}", before, commit)
    handle_push(access_of_event(made, fleet, SOMEBODY), update)
    return commit
