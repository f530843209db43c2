"""The clusters of one GitOps branch → its verdict; `promotion.run_verdict` has that of the run."""

from __future__ import annotations

import fnmatch
import itertools
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import groupby
from typing import Literal

from kalypso_actions.compliance.clusters import (
    STATES,
    Cluster,
    DesiredState,
    Timing,
    cluster_name,
    clusters_of,
)
from kalypso_actions.compliance.followed_paths import EnvironmentTree, FollowedPaths, followed_paths
from kalypso_actions.errors import Location, Problem
from kalypso_actions.model.cluster_reports import ClusterReport
from kalypso_actions.model.counts import MAX_LISTED, abbreviated, counted
from kalypso_actions.model.verdicts import Verdict


@dataclass(frozen=True, slots=True)
class Requirements:
    """The requirements on the clusters, named as the inputs of check-promote.

    `min_compliant` is in percent, overall and in each cluster type. `ignore_clusters` are globs of
    cluster ids.
    """

    min_compliant: int = 100
    grace: timedelta = timedelta(minutes=2)
    settle: timedelta = timedelta(minutes=1)
    stale_after: timedelta | None = None
    missing: Literal["fail", "warn"] = "fail"
    unreachable: Literal["fail", "ignore"] = "fail"
    require_targets: bool = True
    ignore_clusters: tuple[str, ...] = ()

    def ignores(self, report: ClusterReport) -> bool:
        """Return whether the requirements ignore the cluster of a report."""
        cluster = report.cluster.lower()
        return any(
            fnmatch.fnmatchcase(cluster, pattern.lower()) for pattern in self.ignore_clusters
        )

    def counts(self, cluster: Cluster) -> bool:
        """Return whether the state of a cluster counts."""
        return self.unreachable == "fail" or cluster.state != "unreachable"


@dataclass(frozen=True, slots=True)
class ForeignPaths:
    """Paths that a cluster follows outside the environment's tree; `id` is the cluster's id."""

    id: str
    paths: tuple[str, ...]

    @property
    def name(self) -> str:
        """The last part of the cluster's id."""
        return cluster_name(self.id)


@dataclass(frozen=True, slots=True)
class Assessment:
    """The verdict on the clusters of a branch; `waiting` as long as it is open.

    `missing` are the cluster types with assignments and without a cluster. `reason` explains
    the verdict in one line, or names what is still missing. The paths that are `not_ours` and the
    `uncounted` clusters do not count.
    """

    verdict: Verdict
    clusters: tuple[Cluster, ...] = ()
    missing: tuple[str, ...] = ()
    reason: str = ""
    not_ours: tuple[ForeignPaths, ...] = ()
    uncounted: tuple[Cluster, ...] = ()

    def warnings(self, tree: EnvironmentTree, where: Location, advice: str) -> list[Problem]:
        """Return a warning for clusters of unknown state that the verdict ignores.

        `advice` says what to check if no cluster reports.
        """
        problems = []
        not_reporting = sorted(tree.assigned & tree.not_reporting)
        if not_reporting:
            names = abbreviated(not_reporting, MAX_LISTED)
            message = f"the state of the clusters of {names} is not known: by "
            message += "an annotation of their ClusterTypes, they do not report"
            problems.append(Problem(message, where, "check them by other means"))
        if self.verdict == "compliant" and self.missing:
            message = f"no cluster reports for {abbreviated(self.missing, MAX_LISTED)}"
            problems.append(Problem(message if self.clusters else self.reason, where, advice))
        if self.verdict == "compliant" and self.uncounted:
            names = abbreviated([cluster.name for cluster in self.uncounted])
            message = f"the state of unreachable clusters is not known: {names}"
            problems.append(Problem(message, where, "look at them once they are connected again"))
        return problems


def assess(
    reports: Iterable[ClusterReport] | None,
    desired: DesiredState,
    requirements: Requirements,
    *,
    started: datetime,
    now: datetime,
) -> Assessment:
    """Judge the clusters of a branch by their reports, which are None if the source was not asked.

    The waiting began at `started`. A cluster with several configurations for a cluster type has the
    state of the worst one. A configuration without any path of the environment's tree does not
    count.
    """
    if not desired.tree.assigned:
        return Assessment("nothing-scheduled")
    if not desired.tree.reporting:
        return Assessment("compliant", reason="its clusters do not report")
    if reports is None:
        return Assessment("waiting", reason="its clusters have not been asked for yet")
    followed = [
        (report, followed_paths(report, desired.tree))
        for report in reports
        if not requirements.ignores(report)
    ]
    timing = Timing(started, now, requirements.grace, requirements.settle, requirements.stale_after)
    clusters = _worst_of_each(
        cluster
        for report, paths in followed
        for cluster in clusters_of(report, paths, desired, timing)
    )
    not_ours = _foreign_paths(followed)
    counted_clusters = tuple(filter(requirements.counts, clusters))
    uncounted = tuple(itertools.filterfalse(requirements.counts, clusters))
    missing = _without(clusters, desired.tree)
    in_grace = now - started <= requirements.grace
    if counted_clusters:
        unreached = set(_without(counted_clusters, desired.tree)).difference(missing)
        awaited = tuple(cluster for cluster in uncounted if cluster.cluster_type in unreached)
        verdict, reason = _verdict(counted_clusters, awaited, missing, requirements)
    elif uncounted:
        verdict = "waiting" if requirements.require_targets else "compliant"
        reason = _awaited(uncounted, ())
    else:
        verdict, reason = _without_clusters(requirements, not_ours, in_grace=in_grace)
    return Assessment(verdict, clusters, missing, reason, not_ours, uncounted)


def _without(clusters: Iterable[Cluster], tree: EnvironmentTree) -> tuple[str, ...]:
    """Return the cluster types whose clusters should report, but none does."""
    return tuple(sorted(tree.reporting - {cluster.cluster_type for cluster in clusters}))


def _foreign_paths(
    followed: Iterable[tuple[ClusterReport, FollowedPaths]],
) -> tuple[ForeignPaths, ...]:
    """Return each cluster once with all its paths outside the tree, sorted by id."""
    foreign: dict[str, set[str]] = {}
    for report, paths in followed:
        if paths.not_ours:
            foreign.setdefault(report.cluster, set()).update(paths.not_ours)
    return tuple(ForeignPaths(name, tuple(sorted(foreign[name]))) for name in sorted(foreign))


def _worst_of_each(clusters: Iterable[Cluster]) -> tuple[Cluster, ...]:
    """Return one cluster for each cluster type and id, sorted by both."""

    def key(cluster: Cluster) -> tuple[str, str]:
        return cluster.cluster_type, cluster.id.lower()

    worst_last = sorted(clusters, key=lambda cluster: (key(cluster), STATES.index(cluster.state)))
    return tuple(list(group)[-1] for _, group in groupby(worst_last, key))


def _verdict(
    clusters: Sequence[Cluster],
    unreached: Sequence[Cluster],
    missing: Sequence[str],
    requirements: Requirements,
) -> tuple[Verdict, str]:
    """Return the verdict, and the reason.

    The `unreached` clusters do not count; their cluster types have no clusters that count.
    """
    groups = _groups(clusters)
    if any(_fails(group, requirements) for group in groups):
        return "failed", _failure(clusters)
    if requirements.missing == "warn":
        unreached, missing = (), ()
    if unreached or missing or not all(_complies(group, requirements) for group in groups):
        return "waiting", _awaited((*clusters, *unreached), missing)
    complying = sum(cluster.state == "compliant" for cluster in clusters)
    return "compliant", counted(complying, "cluster complies", "clusters comply")


def _without_clusters(
    requirements: Requirements, not_ours: Sequence[ForeignPaths], *, in_grace: bool
) -> tuple[Verdict, str]:
    """Return the verdict if no cluster reports, which a missing permission can also cause."""
    if in_grace:
        return "waiting", "no cluster reports this repository and branch yet"
    reason = "no cluster follows this repository and branch"
    if not_ours:
        others = abbreviated(
            [f"{foreign.name} ({abbreviated(foreign.paths)})" for foreign in not_ours]
        )
        reason = f"no cluster follows this environment's tree; other paths: {others}"
    return ("none-targeted" if requirements.require_targets else "compliant"), reason


def _groups(clusters: Sequence[Cluster]) -> list[Sequence[Cluster]]:
    """Return all clusters, and those of each cluster type."""
    by_type = groupby(clusters, lambda cluster: cluster.cluster_type)
    return [clusters, *(tuple(group) for _, group in by_type)]


def _fails(group: Sequence[Cluster], requirements: Requirements) -> bool:
    failed = sum(cluster.state == "failed" for cluster in group)
    return failed > len(group) - _needed(group, requirements)


def _complies(group: Sequence[Cluster], requirements: Requirements) -> bool:
    compliant = sum(cluster.state == "compliant" for cluster in group)
    return compliant >= _needed(group, requirements)


def _needed(group: Sequence[Cluster], requirements: Requirements) -> int:
    """Return how many clusters of a group must comply: the percentage, rounded up."""
    return -(-len(group) * requirements.min_compliant // 100)


def _failure(clusters: Sequence[Cluster]) -> str:
    failed = [cluster for cluster in clusters if cluster.state == "failed"]
    first = failed[0]
    others = f" and {len(failed) - 1} more" if len(failed) > 1 else ""
    return f"{first.name}{others}: {first.reason}"


def _awaited(clusters: Sequence[Cluster], missing: Sequence[str]) -> str:
    """Name the clusters that do not comply, by state, and the cluster types without a cluster."""
    states = [state for state in STATES if state != "compliant"]
    parts = []
    for state in states:
        names = [cluster.name for cluster in clusters if cluster.state == state]
        if names:
            parts.append(f"{state}: {abbreviated(names)}")
    if missing:
        parts.append(f"missing: {abbreviated(missing, MAX_LISTED)}")
    return "; ".join(parts)
