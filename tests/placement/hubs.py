"""Hubs of Open Cluster Management for tests, written as documents."""

from __future__ import annotations

from typing import Any

from kalypso_actions.errors import Location
from kalypso_actions.model.documents import Document
from kalypso_placement.cel import CelExpressions
from kalypso_placement.command import PlacementDocument, answer_fields
from kalypso_placement.hub import HubObjects
from kalypso_placement.instants import parse_instant
from kalypso_placement.reconciliation import Choice, first, reconcile

GROUP = "cluster.open-cluster-management.io"
NOW = "2026-03-01T12:00:00Z"
Body = dict[str, Any]


def cluster(name: str, labels: Body | None = None, **parts: Any) -> Body:
    """Return a cluster: `claims` are by name, `cpu` and `memory` are allocatable and capacity."""
    resources = {key: parts[key] for key in ("cpu", "memory") if key in parts}
    claims = [{"name": key, "value": value} for key, value in parts.get("claims", {}).items()]
    status = {"clusterClaims": claims, "allocatable": resources, "capacity": resources}
    metadata: Body = {"name": name, "labels": labels or {}}
    if "deleted" in parts:
        metadata["deletionTimestamp"] = parts["deleted"]
    return _object(
        "v1", "ManagedCluster", metadata, spec={"taints": parts.get("taints", [])}, status=status
    )


def all_bound() -> list[Body]:
    """Return the set of all clusters, bound to the namespace `apps`."""
    selector = {"selectorType": "LabelSelector", "labelSelector": {}}
    return [
        _object(
            "v1beta2", "ManagedClusterSet", {"name": "global"}, spec={"clusterSelector": selector}
        ),
        _object(
            "v1beta2",
            "ManagedClusterSetBinding",
            {"name": "global", "namespace": "apps"},
            spec={"clusterSet": "global"},
        ),
    ]


def decided(placement: str, *clusters: str, namespace: str = "apps") -> Body:
    """Return the decision of a placement so far."""
    metadata = {
        "name": f"{placement}-decision-1",
        "namespace": namespace,
        "labels": {f"{GROUP}/placement": placement},
    }
    decisions = [{"clusterName": name, "reason": ""} for name in clusters]
    return _object("v1beta1", "PlacementDecision", metadata, status={"decisions": decisions})


def score(resource: str, of: str, until: str | None = None, **scores: int) -> Body:
    """Return the scores that an add-on publishes for a cluster."""
    status: Body = {"scores": [{"name": key, "value": value} for key, value in scores.items()]}
    if until:
        status["validUntil"] = until
    metadata = {"name": resource, "namespace": of}
    return _object("v1alpha1", "AddOnPlacementScore", metadata, status=status)


def placement(**spec: Any) -> Body:
    """Return a Placement called `app` in the namespace `apps`."""
    metadata = {"name": "app", "namespace": "apps"}
    return _object("v1beta1", "Placement", metadata, spec=spec)


def read(*bodies: Body) -> HubObjects:
    """Read objects as from a folder."""
    objects = HubObjects()
    objects.add(Document(body, Location("hub", "hub.yaml", 1), {}) for body in bodies)
    return objects


def decide(wanted: Body, *bodies: Body, now: str = NOW, choose: Choice = first) -> Body:
    """Return the answer for a Placement on a hub where all clusters are bound."""
    objects = read(wanted, *all_bound(), *bodies)
    hub, instant = objects.hub(), parse_instant(now)
    assert instant is not None
    result = reconcile(objects.placements[0], hub, CelExpressions(hub), instant, choose)
    document = PlacementDocument.model_validate(answer_fields(result))
    return document.model_dump(by_alias=True, mode="json")


def selecting(**matched: Any) -> Body:
    """Return a predicate: `labels`, `claims` (expressions), `cel`."""
    selector: Body = {}
    if "labels" in matched:
        selector["labelSelector"] = {"matchLabels": matched["labels"]}
    if "claims" in matched:
        selector["claimSelector"] = {"matchExpressions": matched["claims"]}
    if "cel" in matched:
        selector["celSelector"] = {"celExpressions": [matched["cel"]]}
    return {"requiredClusterSelector": selector}


def prioritizing(*weights: tuple[str, int], mode: str = "Exact") -> Body:
    """Return a prioritizer policy; `cost/eur` is a score of an add-on."""
    configurations = []
    for name, weight in weights:
        resource, slash, score_name = name.partition("/")
        coordinate: Body = {"type": "BuiltIn", "builtIn": name}
        if slash:
            add_on = {"resourceName": resource, "scoreName": score_name}
            coordinate = {"type": "AddOn", "addOn": add_on}
        configurations.append({"scoreCoordinate": coordinate, "weight": weight})
    return {"mode": mode, "configurations": configurations}


def _object(version: str, kind: str, metadata: Body, **parts: Any) -> Body:
    return {"apiVersion": f"{GROUP}/{version}", "kind": kind, "metadata": metadata, **parts}
