"""A cluster as CEL sees it: OCM's Go types, serialized as Go does."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from kalypso_placement.instants import SECOND, format_instant, parse_instant
from kalypso_placement.objects import Cluster
from kalypso_placement.quantities import Quantity


def cluster_value(cluster: Cluster) -> dict[str, Any]:
    """Return the object without kind and apiVersion, and without empty optional fields.

    `status.conditions` is null without conditions; `spec.hubAcceptsClient` and `status.version` are
    always present.
    """
    body = cluster.body
    metadata, spec, status = (body.get(part) or {} for part in ("metadata", "spec", "status"))
    version = status.get("version") or {}
    spec_value: dict[str, Any] = {"hubAcceptsClient": bool(spec.get("hubAcceptsClient"))}
    for name in ("leaseDurationSeconds", "managedClusterClientConfigs"):
        if spec.get(name):
            spec_value[name] = spec[name]
    if spec.get("taints"):
        spec_value["taints"] = [_taint(taint) for taint in spec["taints"]]
    status_value: dict[str, Any] = {
        "conditions": [_condition(c) for c in status.get("conditions") or ()] or None,
        "version": _non_empty(version),
    }
    for name, resources in (("capacity", cluster.capacity), ("allocatable", cluster.allocatable)):
        if resources:
            status_value[name] = _texts(resources)
    if status.get("clusterClaims"):
        status_value["clusterClaims"] = [_non_empty(claim) for claim in status["clusterClaims"]]
    return {"metadata": _metadata(metadata), "spec": spec_value, "status": status_value}


def _metadata(metadata: Mapping[str, Any]) -> dict[str, Any]:
    return {
        key: _time(value) if key in {"creationTimestamp", "deletionTimestamp"} else value
        for key, value in metadata.items()
        if value not in (None, "", {}, [])
    }


def _taint(taint: Mapping[str, Any]) -> dict[str, Any]:
    value = {"key": taint.get("key", ""), "effect": taint.get("effect", "")}
    if taint.get("value"):
        value["value"] = taint["value"]
    return {**value, "timeAdded": _time(taint.get("timeAdded"))}


def _condition(condition: Mapping[str, Any]) -> dict[str, Any]:
    names = ("type", "status", "reason", "message")
    value = {name: condition.get(name, "") for name in names}
    if condition.get("observedGeneration"):
        value["observedGeneration"] = condition["observedGeneration"]
    return {**value, "lastTransitionTime": _time(condition.get("lastTransitionTime"))}


def _time(text: object) -> str | None:
    instant = parse_instant(text) if isinstance(text, str) else None
    return None if instant is None else format_instant(instant // SECOND * SECOND)


def _non_empty(body: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in body.items() if value not in (None, "")}


def _texts(resources: Mapping[str, Quantity]) -> dict[str, str]:
    return {name: quantity.canonical for name, quantity in resources.items()}
