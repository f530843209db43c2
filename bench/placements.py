"""The time of 500 Placements on 1,000 cluster types, without and with CEL, and the memory."""

from __future__ import annotations

import time
import tracemalloc
from datetime import UTC, datetime
from typing import Any, Final

from kalypso_actions.errors import HERE, Location
from kalypso_actions.model.documents import Document
from kalypso_actions.model.kinds import (
    ClusterType,
    DeploymentTarget,
    Fleet,
    LabelSelector,
    SchedulingPolicy,
)
from kalypso_actions.model.placements import PlacementState
from kalypso_actions.scheduling import Schedule
from kalypso_actions.scheduling.registry import find_scheduler

CLUSTER_TYPES: Final = 1000
PLACEMENTS: Final = 500
SECONDS: Final = 5.0
SECONDS_WITH_CEL: Final = 20.0
MEGABYTES: Final = 100

_WHERE: Final = Location(HERE)
_ALL: Final = LabelSelector({}, (), _WHERE)


def measure() -> list[str]:
    """Print processor times and the memory's peak; return the missed targets."""
    missed = []
    print(f"\n{PLACEMENTS} Placements on {CLUSTER_TYPES} cluster types")
    for with_cel, limit in ((False, SECONDS), (True, SECONDS_WITH_CEL)):
        given = make_fleet(CLUSTER_TYPES, PLACEMENTS, with_cel=with_cel)
        start = time.process_time()
        decide(given)
        seconds = time.process_time() - start
        what = "with one CEL expression each" if with_cel else "by labels, claims and taints"
        print(f"  {what:30} {seconds:6.1f} s (at most {limit:.0f})")
        if seconds > limit:
            missed.append(f"Placements {what}: {seconds:.1f} s")
    few, all_of_them = _peak(PLACEMENTS // 10), _peak(PLACEMENTS)
    print(f"  memory of a tenth, and of all  {few:6.1f} MB, {all_of_them:.1f} MB")
    if all_of_them > 2 * few + MEGABYTES:
        missed.append(f"Placements: {all_of_them:.0f} MB")
    return missed


def decide(given: Fleet) -> Schedule:
    """Schedule a fleet by its Placements."""
    return find_scheduler("placement").schedule(given)


def _peak(placements: int) -> float:
    """Return the memory that the decisions need, without the fleet and its documents."""
    given = make_fleet(CLUSTER_TYPES, placements, with_cel=False)
    tracemalloc.start()
    decide(given)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    return peak / 1e6


def make_fleet(cluster_types: int, placements: int, *, with_cel: bool) -> Fleet:
    """Return a fleet in which each policy names a Placement of its own."""
    return Fleet(
        environment="dev",
        cluster_types=tuple(_cluster_type(number) for number in range(cluster_types)),
        targets=(DeploymentTarget("app", "dev", "app", "team", {}, {}, (), "app", _WHERE),),
        policies=tuple(_policy(number) for number in range(placements)),
        placement=PlacementState(
            tuple(_placement(number, with_cel=with_cel) for number in range(placements)),
            now=datetime(2026, 3, 1, 12, tzinfo=UTC),
        ),
    )


def _cluster_type(number: int) -> ClusterType:
    annotations = {"claim.kalypso.io/cloud": f"cloud{number % 5}"}
    if number % 3 == 0:
        annotations["kalypso.io/taints"] = "[{key: edge, effect: NoSelect}]"
    labels = {"tier": f"tier{number % 7}", "region": f"region{number % 20}"}
    name = f"type-{number:04}"
    return ClusterType(name, labels, annotations, "flux", "namespace", "config", _WHERE)


def _policy(number: int) -> SchedulingPolicy:
    annotations = {"kalypso.io/placement": f"placement-{number}"}
    return SchedulingPolicy(f"policy-{number:03}", "", _ALL, _ALL, _WHERE, annotations=annotations)


def _placement(number: int, *, with_cel: bool) -> Document:
    labels = {"matchLabels": {"tier": f"tier{number % 7}"}}
    clouds = [f"cloud{number % 5}", f"cloud{(number + 1) % 5}"]
    claims = {"matchExpressions": [{"key": "cloud", "operator": "In", "values": clouds}]}
    selector: dict[str, Any] = {"labelSelector": labels, "claimSelector": claims}
    if with_cel:
        region = f'managedCluster.metadata.labels.region == "region{number % 20}"'
        expression = f'{region} || managedCluster.metadata.name == "type-{number:04}"'
        selector = {"celSelector": {"celExpressions": [expression]}}
    spec = {
        "numberOfClusters": 10,
        "predicates": [{"requiredClusterSelector": selector}],
        "tolerations": [{"key": "edge", "operator": "Exists"}],
    }
    body = {
        "apiVersion": "cluster.open-cluster-management.io/v1beta1",
        "kind": "Placement",
        "metadata": {"name": f"placement-{number}"},
        "spec": spec,
    }
    return Document(body, _WHERE, {})
