"""Clusters that no longer exist, although their reports still do."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from datetime import datetime

from kalypso_actions.commands.shared.context import CommandContext
from kalypso_actions.compliance import LOOKUP_INTERVAL, ClusterReports, DeletionLookup
from kalypso_actions.compliance.deleted_clusters import MOST, is_of_deleted_cluster
from kalypso_actions.model.cluster_reports import ClusterReport


class DeletedClusters:
    """Asks the source of reports whether clusters exist; not every source can answer."""

    def __init__(self, context: CommandContext, reports: ClusterReports) -> None:
        self._now = context.runtime.now
        self._lookup = reports if isinstance(reports, DeletionLookup) else None
        self._deleted: dict[str, datetime] = {}
        self._asked_at: dict[str, datetime] = {}

    @property
    def known(self) -> Collection[str]:
        """The clusters about which the source was asked recently."""
        now = self._now()
        return {cluster for cluster, at in self._asked_at.items() if now - at < LOOKUP_INTERVAL}

    def ask(self, clusters: Collection[str]) -> bool:
        """Ask whether clusters exist; return whether any was deleted."""
        if not clusters or self._lookup is None:
            return False
        deleted = self._lookup.deleted(clusters)
        now = self._now()
        self._asked_at |= dict.fromkeys(clusters, now)
        for cluster in clusters:
            self._deleted.pop(cluster, None)
        self._deleted |= dict.fromkeys(deleted, now)
        return bool(deleted)

    def ask_again(self, reports: Iterable[ClusterReport]) -> None:
        """Ask again about deleted clusters: one that exists again may not report yet."""
        known = self.known
        due = [cluster for cluster in self.among(reports) if cluster not in known]
        self.ask(sorted(due, key=self._asked_at.__getitem__)[:MOST])

    def without(self, reports: Iterable[ClusterReport]) -> list[ClusterReport]:
        """Leave out the reports of clusters that are known to be deleted."""
        return [report for report in reports if not is_of_deleted_cluster(report, self._deleted)]

    def among(self, reports: Iterable[ClusterReport]) -> tuple[str, ...]:
        """Return the clusters of these reports that are known to be deleted."""
        lingering = (report for report in reports if is_of_deleted_cluster(report, self._deleted))
        return tuple({report.cluster for report in lingering})
