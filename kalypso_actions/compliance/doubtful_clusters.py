"""Clusters whose reports may mislead: deleted ones, and those that follow another URL.

Azure Resource Graph keeps the reports of deleted clusters for up to 30 hours
(ansible-collections/azure#1994). The input `stale-after` is judged by `cluster_states`.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Final

from kalypso_actions.compliance.cluster_states import Cluster, EnvironmentTree
from kalypso_actions.errors import KalypsoError, Location, Problem
from kalypso_actions.model.cluster_reports import BranchFollower, ClusterReport, cluster_name
from kalypso_actions.model.counts import abbreviated, counted
from kalypso_actions.model.urls import repository_key

RECENT_REPORT: Final = timedelta(minutes=20)
"""A cluster that has reported within this time exists."""

MOST: Final = 20
"""The most clusters to ask about at once, without failed ones: those could end the waiting by a
verdict, so a run asks about all of them.
"""

MOST_NAMES: Final = 10
"""The number of clusters that a warning names."""

MOST_REPOSITORIES: Final = 50
"""The most repositories to look up in a run: an installation has 5,000 requests an hour for all
runs.
"""

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

    They have not reported since the waiting began at `started`, or not within `RECENT_REPORT`, and
    are not among the `known`. Clusters that reported longer ago come before others.
    """
    reported_at: dict[str, datetime] = {}
    for report in reports:
        moment = report.reported_at or NEVER
        reported_at[report.cluster] = max(moment, reported_at.get(report.cluster, NEVER))
    since = max(started, now - RECENT_REPORT)
    failed: dict[str, None] = {}
    others: dict[str, None] = {}
    # A cluster that a cluster type lists may have no report, and a name in place of an id.
    reported = [cluster for cluster in clusters if cluster.id in reported_at]
    for cluster in sorted(reported, key=lambda cluster: reported_at[cluster.id]):
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


def followers_by_other_urls(
    followers: Iterable[BranchFollower],
    repository_url: str,
    tree: EnvironmentTree,
    cluster_types: Collection[str],
) -> tuple[BranchFollower, ...]:
    """Return the followers with a path of these cluster types at URLs other than this one.

    Those whose paths hold the whole tree come last; all are sorted by cluster.
    """
    key = repository_key(repository_url)
    of_types = []
    whole = []
    for follower in sorted(followers, key=lambda follower: follower.cluster.lower()):
        if not cluster_types or key_of(follower) in {"", key}:
            continue
        types = {tree.cluster_type_of(path.path) for path in follower.paths}
        if types.intersection(cluster_types):
            of_types.append(follower)
        elif "" in types or not types:
            whole.append(follower)
    return (*of_types, *whole)


def key_of(follower: BranchFollower) -> str:
    """Return the key of the repository that a cluster follows; "" for an invalid URL."""
    return repository_key(follower.repository_url)


def check_lookups(names: Collection[str], branch: str, where: Location) -> None:
    """Raise KalypsoError for too many repositories: a run would miss a former name."""
    if len(names) > MOST_REPOSITORIES:
        raise KalypsoError(
            f"the clusters on the branch {branch!r} follow {len(names)} other repositories by "
            f"paths of this tree: at most {MOST_REPOSITORIES} can be looked up",
            where,
            "let the source report fewer clusters, by azure-scopes or argocd-selector",
        )


def other_urls_warning(
    followers: Sequence[BranchFollower], repository_url: str, branch: str, where: Location
) -> Problem:
    """Return the warning about such followers; their URLs may hold passwords, their keys do not."""
    names = [f"{cluster_name(follower.cluster)} ({key_of(follower)})" for follower in followers]
    verb = counted(len(followers), "cluster follows", "clusters follow")
    return Problem(
        f"{verb} the branch {branch!r} of another repository by a path that holds a cluster type "
        f"without a cluster: {abbreviated(names, MOST_NAMES)}",
        where,
        f"if they belong here, let their Flux configurations follow {repository_url}",
    )
