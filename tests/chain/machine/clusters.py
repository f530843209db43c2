"""The commits that the simulated clusters really run, read without Resource Graph."""

from __future__ import annotations

from functools import partial

from kalypso_sandbox.azure.clusters import clusters
from kalypso_sandbox.azure.sync import RepositoryHistory, sync_state
from tests.chain.driver import Chain

OWN_PATH = "./large"


class Clusters:
    """The clusters of a story."""

    def __init__(self, chain: Chain) -> None:
        self._store = chain.acme.sandbox.store
        self._lock = chain.acme.sandbox.lock
        self._repositories = RepositoryHistory(self._store)

    def run(self, branch: str) -> str:
        """Return the commit that every cluster of a GitOps branch runs and complies with, or ""."""
        with self._lock:
            followed = [
                configuration
                for cluster in clusters(self._store)
                if not cluster.deleted_at
                for configuration in cluster.configurations
                if configuration.branch == branch and OWN_PATH in configuration.paths
            ]
            states = [
                sync_state(
                    configuration,
                    self._repositories.heads(configuration.repository, branch),
                    partial(
                        self._repositories.is_broken,
                        configuration.repository,
                        configuration.failure,
                    ),
                    self._store.now,
                )
                for configuration in followed
            ]
        commits = {state.applied if state.phase == "ready" else "" for state in states}
        return commits.pop() if len(commits) == 1 else ""
