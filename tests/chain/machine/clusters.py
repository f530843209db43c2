"""What the simulated clusters really run: told by themselves, and not by Resource Graph."""

from __future__ import annotations

from functools import partial

from kalypso_actions.sandbox.azure.clusters import clusters
from kalypso_actions.sandbox.azure.history import Repositories
from kalypso_actions.sandbox.azure.sync import standing
from tests.chain.driver import Chain

OWN_PATH = "./large"


class Clusters:
    """The clusters of a story."""

    def __init__(self, chain: Chain) -> None:
        self._world = chain.acme.sandbox.world
        self._lock = chain.acme.sandbox.lock
        self._repositories = Repositories(self._world)

    def run(self, branch: str) -> str:
        """Return the commit that every cluster of a GitOps branch runs and complies with, or ""."""
        with self._lock:
            followed = [
                configuration
                for cluster in clusters(self._world)
                for configuration in cluster.configurations
                if configuration.branch == branch and OWN_PATH in configuration.paths
            ]
            stands = [
                standing(
                    one,
                    self._repositories.heads(one.repository, branch),
                    partial(self._repositories.is_broken, one.repository, one.failure),
                    self._world.now,
                )
                for one in followed
            ]
        commits = {one.commit if one.phase == "ready" else "" for one in stands}
        return commits.pop() if len(commits) == 1 else ""
