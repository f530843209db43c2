"""Builders of cluster reports, by default of a healthy cluster."""

from __future__ import annotations

import dataclasses
from datetime import UTC, datetime, timedelta
from typing import Any

from kalypso_actions.compliance import Cluster, DesiredState, EnvironmentTree, Requirements
from kalypso_actions.compliance.cluster_states import clusters_of
from kalypso_actions.model.cluster_reports import (
    ClusterReport,
    Condition,
    ReportedObject,
    ReportedPath,
)

NOW = datetime(2026, 5, 1, 12, tzinfo=UTC)
MERGED = "a" * 40
FIXED = "b" * 40
OLD = "0" * 40
TREE = EnvironmentTree("", frozenset({"drone", "lamp", "large", "post"}))


def minutes(count: float) -> timedelta:
    return timedelta(minutes=count)


def cluster_id(name: str) -> str:
    return (
        f"/subscriptions/s/resourceGroups/g/providers/Microsoft.Kubernetes/connectedClusters/{name}"
    )


def reported_paths(*paths: str) -> tuple[ReportedPath, ...]:
    """Return paths whose Kustomizations have the names of their last folders."""
    return tuple(ReportedPath(path, path.rpartition("/")[2] or "root") for path in paths)


def healthy_report(name: str = "drone-1", path: str = "./drone", **more: Any) -> ClusterReport:
    healthy = ClusterReport(
        cluster=cluster_id(name),
        configuration="fleet",
        paths=reported_paths(path),
        revision=f"dev@sha1:{MERGED}",
        state="Compliant",
        source_updated_at=NOW - minutes(60),
        reported_at=NOW - minutes(1),
        provisioning_state="Succeeded",
    )
    return dataclasses.replace(healthy, **more)


def failing(
    reason: str,
    message: str = "",
    *,
    minutes_ago: float = 30,
    name: str = "app",
    status: str = "False",
) -> ReportedObject:
    """Return an object that has not been ready for so long."""
    condition = Condition("Ready", status, reason, message, NOW - minutes(minutes_ago))
    return ReportedObject("Kustomization", name, "Non-Compliant", (condition,))


def failing_report(name: str = "drone-1", path: str = "./drone", **more: Any) -> ClusterReport:
    objects = more.pop("objects", (failing("HealthCheckFailed", "pod web-1 crashes"),))
    return healthy_report(name, path, state="Non-Compliant", objects=objects, **more)


DESIRED = DesiredState(frozenset({MERGED}), TREE, frozenset({FIXED}))


def clusters(report: ClusterReport, **more: Any) -> list[Cluster]:
    """Return the clusters of a report, which should have the merged commit."""
    moments = {"started": NOW - minutes(30), "now": NOW}
    moments = {name: more.pop(name, moment) for name, moment in moments.items()}
    return list(clusters_of(report, DESIRED, Requirements(**more), **moments))
