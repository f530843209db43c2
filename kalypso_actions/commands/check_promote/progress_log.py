"""The log of check-promote while it waits: the changes since the last observation."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Final

from kalypso_actions.commands.check_promote.watch import Observation
from kalypso_actions.compliance import Cluster

MOST_CLUSTERS: Final = 20
"""The number of clusters that one entry names."""

SILENCE: Final = timedelta(minutes=5)
"""The log repeats the numbers after this time, so that the run does not seem to hang."""


class ProgressLog:
    """Logs the numbers and the clusters that changed; the first entry has only numbers."""

    def __init__(self, log: Callable[[str], None]) -> None:
        self._log = log
        self._numbers = ""
        self._states: Mapping[tuple[str, str], str] = {}
        self._logged_at: datetime | None = None

    def log(self, observation: Observation, now: datetime) -> tuple[Cluster, ...]:
        """Log an observation that differs from the last one; return the clusters that changed.

        The first observation has none.
        """
        states = {
            (cluster.id, cluster.cluster_type): cluster.state for cluster in observation.clusters
        }
        changed = [
            cluster
            for cluster in observation.clusters
            if self._states
            and self._states.get((cluster.id, cluster.cluster_type)) != cluster.state
        ]
        numbers = observation.progress()
        is_silent = self._logged_at is None or now - self._logged_at >= SILENCE
        if changed or numbers != self._numbers or is_silent:
            self._log(numbers)
            self._log_clusters(changed)
            self._logged_at = now
        self._numbers, self._states = numbers, states
        return tuple(changed)

    def _log_clusters(self, changed: Sequence[Cluster]) -> None:
        for cluster in changed[:MOST_CLUSTERS]:
            before = self._states.get((cluster.id, cluster.cluster_type), "new")
            reason = f": {cluster.reason}" if cluster.reason else ""
            self._log(f"  {cluster.name}: {before} → {cluster.state}{reason}")
        if len(changed) > MOST_CLUSTERS:
            self._log(f"  … and {len(changed) - MOST_CLUSTERS} more")
