"""All clusters of an environment → one verdict, for now."""

from __future__ import annotations

import fnmatch
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import groupby
from typing import Literal

from kalypso_actions.compliance.clusters import (
    STATES,
    Cluster,
    Target,
    cluster_id,
    clusters_of,
)
from kalypso_actions.compliance.paths import FollowedPaths, followed_paths
from kalypso_actions.model.counts import abbreviated, counted
from kalypso_actions.model.flux import FluxConfiguration

Outcome = Literal["compliant", "waiting", "failed", "none-targeted"]


@dataclass(frozen=True, slots=True)
class Requirements:
    """What is asked of the clusters; names and meaning as the inputs of check-promote.

    `min_compliant` is in percent, overall and in each cluster type. `ignore_clusters` are globs of
    resource ids.
    """

    min_compliant: int = 100
    grace: timedelta = timedelta(minutes=2)
    stale_after: timedelta | None = None
    missing: Literal["fail", "warn"] = "fail"
    require_targets: bool = True
    ignore_clusters: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ForeignPaths:
    """Paths that a cluster follows outside of the environment's tree; `id` is the cluster's."""

    id: str
    paths: tuple[str, ...]

    @property
    def name(self) -> str:
        """The last part of its resource id."""
        return self.id.rstrip("/").rpartition("/")[2]


@dataclass(frozen=True, slots=True)
class Assessment:
    """How it stands. `missing` are cluster types with assignments and without a cluster.

    `waiting` means that nothing is decided yet; `reason` says in one line what decides, or what is
    waited for. The paths that are `not_ours` decide nothing.
    """

    outcome: Outcome
    clusters: tuple[Cluster, ...]
    missing: tuple[str, ...]
    reason: str
    not_ours: tuple[ForeignPaths, ...] = ()


def assess(
    rows: Iterable[FluxConfiguration],
    target: Target,
    assigned: Collection[str],
    requirements: Requirements,
    *,
    started: datetime,
    now: datetime,
) -> Assessment:
    """The verdict of one look at the clusters.

    `assigned` are the cluster types with assignments whose clusters report. `started` is when the
    waiting began. A cluster with several configurations for a cluster type is as good as the worst.
    A configuration without any path of the target's tree does not count.
    """
    followed = [
        (row, followed_paths(row, target.tree))
        for row in rows
        if not _is_ignored(row, requirements)
    ]
    clusters = _worst_of_each(
        cluster
        for row, paths in followed
        for cluster in clusters_of(
            row,
            paths,
            target,
            grace=requirements.grace,
            stale_after=requirements.stale_after,
            started=started,
            now=now,
        )
    )
    not_ours = _foreign_paths(followed)
    seen = {cluster.cluster_type for cluster in clusters}
    missing = tuple(sorted(set(assigned) - seen))
    in_grace = now - started <= requirements.grace
    if clusters:
        outcome, reason = _outcome(clusters, missing, requirements)
    else:
        outcome, reason = _without_clusters(requirements, not_ours, in_grace=in_grace)
    return Assessment(outcome, clusters, missing, reason, not_ours)


def _is_ignored(row: FluxConfiguration, requirements: Requirements) -> bool:
    name = cluster_id(row).lower()
    return any(
        fnmatch.fnmatchcase(name, pattern.lower()) for pattern in requirements.ignore_clusters
    )


def _foreign_paths(
    followed: Iterable[tuple[FluxConfiguration, FollowedPaths]],
) -> tuple[ForeignPaths, ...]:
    """Each cluster once with all its paths that are not ours, sorted by its id."""
    found: dict[str, set[str]] = {}
    for row, paths in followed:
        if paths.not_ours:
            found.setdefault(cluster_id(row), set()).update(paths.not_ours)
    return tuple(ForeignPaths(name, tuple(sorted(found[name]))) for name in sorted(found))


def _worst_of_each(clusters: Iterable[Cluster]) -> tuple[Cluster, ...]:
    """One cluster for each id and cluster type, sorted by them."""

    def key(cluster: Cluster) -> tuple[str, str]:
        return cluster.cluster_type, cluster.id.lower()

    worst_last = sorted(clusters, key=lambda one: (key(one), STATES.index(one.state)))
    return tuple(list(group)[-1] for _, group in groupby(worst_last, key))


def _outcome(
    clusters: Sequence[Cluster],
    missing: Sequence[str],
    requirements: Requirements,
) -> tuple[Outcome, str]:
    """What is decided, and why."""
    groups = _groups(clusters)
    if any(_fails(group, requirements) for group in groups):
        return "failed", _failure(clusters)
    without = missing if requirements.missing == "fail" else ()
    if without or not all(_complies(group, requirements) for group in groups):
        return "waiting", _open(clusters, without)
    complying = sum(one.state == "compliant" for one in clusters)
    return "compliant", counted(complying, "cluster complies", "clusters comply")


def _without_clusters(
    requirements: Requirements, not_ours: Sequence[ForeignPaths], *, in_grace: bool
) -> tuple[Outcome, str]:
    """Zero rows are no success by default: a missing Reader role looks the same."""
    if in_grace:
        return "waiting", "no cluster reports this repository and branch yet"
    nobody = "no Flux configuration points at this repository and branch"
    if not_ours:
        others = abbreviated([f"{one.name} ({abbreviated(one.paths)})" for one in not_ours])
        nobody = f"no Flux configuration follows this environment's tree; other paths: {others}"
    return ("none-targeted" if requirements.require_targets else "compliant"), nobody


def _groups(clusters: Sequence[Cluster]) -> list[Sequence[Cluster]]:
    """All of them, and those of each cluster type."""
    by_type = groupby(clusters, lambda one: one.cluster_type)
    return [clusters, *(tuple(group) for _, group in by_type)]


def _fails(group: Sequence[Cluster], requirements: Requirements) -> bool:
    failed = sum(cluster.state == "failed" for cluster in group)
    return failed > len(group) - _needed(group, requirements)


def _complies(group: Sequence[Cluster], requirements: Requirements) -> bool:
    compliant = sum(cluster.state == "compliant" for cluster in group)
    return compliant >= _needed(group, requirements)


def _needed(group: Sequence[Cluster], requirements: Requirements) -> int:
    """How many of a group must comply: the percentage, rounded up."""
    return -(-len(group) * requirements.min_compliant // 100)


def _failure(clusters: Sequence[Cluster]) -> str:
    failed = [cluster for cluster in clusters if cluster.state == "failed"]
    first = failed[0]
    others = f" and {len(failed) - 1} more" if len(failed) > 1 else ""
    return f"{first.name}{others}: {first.reason}"


def _open(clusters: Sequence[Cluster], missing: Sequence[str]) -> str:
    """Who is waited for, by state, and which cluster types have no cluster."""
    states = [state for state in STATES if state != "compliant"]
    parts = []
    for state in states:
        names = [cluster.name for cluster in clusters if cluster.state == state]
        if names:
            parts.append(f"{state}: {abbreviated(names)}")
    if missing:
        parts.append(f"missing: {', '.join(missing)}")
    return "; ".join(parts)
