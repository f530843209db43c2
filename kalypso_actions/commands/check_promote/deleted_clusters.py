"""Clusters that no longer exist, though their reports linger."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from datetime import datetime, timedelta
from typing import Final

from kalypso_actions.commands.runtime.context import CommandContext
from kalypso_actions.compliance import ClusterLookup, ClusterReports
from kalypso_actions.model.cluster_reports import ClusterReport

INTERVAL: Final = timedelta(minutes=5)
"""The time between two questions about a cluster that exists."""


class DeletedClusters:
    """Asks the source of reports whether clusters exist; sources need not be able to tell."""

    def __init__(self, context: CommandContext, reports: ClusterReports) -> None:
        self._now = context.runtime.now
        self._lookup = reports if isinstance(reports, ClusterLookup) else None
        self._deleted: set[str] = set()
        self._asked_at: dict[str, datetime] = {}

    @property
    def known(self) -> Collection[str]:
        """The clusters about which there is nothing to ask now."""
        now = self._now()
        asked = {cluster for cluster, at in self._asked_at.items() if now - at < INTERVAL}
        return asked | self._deleted

    def look(self, clusters: Collection[str]) -> bool:
        """Ask whether clusters exist; return whether any does not."""
        if not clusters or self._lookup is None:
            return False
        deleted = self._lookup.deleted(clusters)
        self._asked_at |= dict.fromkeys(clusters, self._now())
        self._deleted.update(deleted)
        return bool(deleted)

    def without(self, reports: Iterable[ClusterReport]) -> list[ClusterReport]:
        """Return the reports of the clusters that exist, as far as that is known."""
        return [report for report in reports if report.cluster not in self._deleted]

    def among(self, reports: Iterable[ClusterReport]) -> tuple[str, ...]:
        """Return the clusters with such reports that do not exist."""
        return tuple({report.cluster for report in reports} & self._deleted)
