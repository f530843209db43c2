"""Clusters that may no longer exist: Azure Resource Graph keeps their reports for hours.

Deleted resources linger there, up to 30 hours (ansible-collections/azure#1994).
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Final

from kalypso_actions.compliance.clusters import Cluster, cluster_name
from kalypso_actions.errors import Location, Problem
from kalypso_actions.model.cluster_reports import ClusterReport
from kalypso_actions.model.counts import abbreviated, counted

SILENCE: Final = timedelta(minutes=20)
"""A cluster that has reported within this time exists."""

MOST: Final = 20
"""The most clusters to ask about at once, without failed ones: those could end the waiting by a
verdict, so a run asks about all of them.
"""

MOST_NAMES: Final = 10
"""The number of clusters that a warning names."""

NEVER: Final = datetime.min.replace(tzinfo=UTC)


def doubtful_clusters(
    clusters: Iterable[Cluster],
    reports: Iterable[ClusterReport],
    known: Collection[str],
    *,
    started: datetime,
    now: datetime,
) -> tuple[str, ...]:
    """Return the ids of clusters that hold up the verdict and may be deleted, failed ones first.

    They have not reported since the waiting began at `started`, or not within `SILENCE`, and are
    not among the `known`. Clusters that reported longer ago come before others.
    """
    reported_at: dict[str, datetime] = {}
    for report in reports:
        moment = report.reported_at or NEVER
        reported_at[report.cluster] = max(moment, reported_at.get(report.cluster, NEVER))
    since = max(started, now - SILENCE)
    failed: dict[str, None] = {}
    others: dict[str, None] = {}
    for cluster in sorted(clusters, key=lambda cluster: reported_at[cluster.id]):
        if cluster.id in known or reported_at[cluster.id] >= since:
            continue
        if cluster.state == "failed":
            failed[cluster.id] = None
        elif cluster.state not in {"compliant", "ahead"}:
            others[cluster.id] = None
    return (*failed, *[cluster for cluster in others if cluster not in failed][:MOST])


def is_of_deleted_cluster(report: ClusterReport, deleted: Mapping[str, datetime]) -> bool:
    """Return whether a report is of a deleted cluster.

    `deleted` has the times at which clusters were found to be deleted. A later report is of a
    cluster that was created again under the same id.
    """
    found_at = deleted.get(report.cluster)
    return found_at is not None and (report.reported_at or NEVER) <= found_at


def deleted_clusters_warning(clusters: Sequence[str], where: Location) -> Problem:
    """Return the warning about clusters whose reports do not count."""
    names = abbreviated(sorted(map(cluster_name, clusters)), MOST_NAMES)
    return Problem(
        f"the reports of {counted(len(clusters), 'deleted cluster')} do not count: {names}",
        where,
        "there is nothing to do: their source of reports forgets them in some hours",
    )
