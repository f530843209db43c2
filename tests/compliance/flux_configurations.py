"""Builders of Flux configurations: what a test does not name is that of a healthy cluster."""

from __future__ import annotations

import dataclasses
from datetime import UTC, datetime, timedelta
from typing import Any

from kalypso_actions.compliance import Cluster, Target, Tree
from kalypso_actions.compliance.clusters import clusters_of
from kalypso_actions.compliance.paths import followed_paths
from kalypso_actions.model.flux import (
    FluxCondition,
    FluxConfiguration,
    FluxKustomization,
    FluxObject,
)

NOW = datetime(2026, 5, 1, 12, tzinfo=UTC)
MERGED = "a" * 40
FIXED = "b" * 40
OLD = "0" * 40
TREE = Tree("", frozenset({"drone", "lamp", "large", "post"}))


def minutes(count: float) -> timedelta:
    return timedelta(minutes=count)


def cluster_id(name: str) -> str:
    return (
        f"/subscriptions/s/resourceGroups/g/providers/Microsoft.Kubernetes/connectedClusters/{name}"
    )


def kustomizations(*paths: str) -> tuple[FluxKustomization, ...]:
    """Named by the last folders of their paths."""
    return tuple(FluxKustomization(path.rpartition("/")[2] or "root", path) for path in paths)


def row(name: str = "drone-1", path: str = "./drone", **more: Any) -> FluxConfiguration:
    healthy = FluxConfiguration(
        id=cluster_id(name)
        + "/providers/Microsoft.KubernetesConfiguration/fluxConfigurations/fleet",
        repository_url="https://github.com/acme/fleet-gitops",
        branch="dev",
        compliance_state="Compliant",
        provisioning_state="Succeeded",
        suspended=False,
        synced_revision=f"dev@sha1:{MERGED}",
        source_updated_at=NOW - minutes(60),
        status_updated_at=NOW - minutes(1),
        error_message="",
        kustomizations=kustomizations(path),
        objects=(),
    )
    return dataclasses.replace(healthy, **more)


def failing(
    reason: str,
    message: str = "",
    *,
    minutes_ago: float = 30,
    name: str = "app",
    status: str = "False",
) -> FluxObject:
    """An object that has not been ready for so long."""
    condition = FluxCondition("Ready", status, reason, message, NOW - minutes(minutes_ago))
    return FluxObject("Kustomization", name, "Non-Compliant", (condition,))


def broken_row(name: str = "drone-1", path: str = "./drone", **more: Any) -> FluxConfiguration:
    objects = more.pop("objects", (failing("HealthCheckFailed", "pod web-1 crashes"),))
    return row(name, path, compliance_state="Non-Compliant", objects=objects, **more)


TARGET = Target(frozenset({MERGED}), TREE, frozenset({FIXED}))


def seen(flux: FluxConfiguration, **more: Any) -> list[Cluster]:
    """The clusters of a configuration that should have the merged commit."""
    options: dict[str, Any] = {
        "grace": minutes(2),
        "stale_after": None,
        "started": NOW - minutes(30),
        "now": NOW,
    }
    return list(clusters_of(flux, followed_paths(flux, TREE), TARGET, **(options | more)))
