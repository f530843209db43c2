"""Kalypso's cluster types as managed clusters."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final

import yaml

from kalypso_actions.errors import Problem
from kalypso_actions.model.kinds import ClusterType
from kalypso_placement.admission import admit
from kalypso_placement.hub import Hub
from kalypso_placement.objects import Cluster, ClusterSet, EarlierDecision, Score
from kalypso_placement.schemas import RESOURCES, TAINTS, TEXTS, Schema

CLAIM_PREFIX: Final = "claim.kalypso.io/"
TAINTS_ANNOTATION: Final = "kalypso.io/taints"
SETS_ANNOTATION: Final = "kalypso.io/cluster-sets"
ALLOCATABLE_ANNOTATION: Final = "kalypso.io/allocatable"
CAPACITY_ANNOTATION: Final = "kalypso.io/capacity"
ALL: Final = "global"
"""The set of all cluster types; OCM's hub has a set of all clusters with this name."""

_SCHEMAS: Final[Mapping[str, Schema]] = {
    TAINTS_ANNOTATION: TAINTS,
    SETS_ANNOTATION: TEXTS,
    ALLOCATABLE_ANNOTATION: RESOURCES,
    CAPACITY_ANNOTATION: RESOURCES,
}


class SafeTexts(yaml.SafeLoader):
    """Reads times as strings, as Kubernetes does."""


SafeTexts.yaml_implicit_resolvers = {
    first: [(tag, form) for tag, form in resolvers if tag != "tag:yaml.org,2002:timestamp"]
    for first, resolvers in yaml.SafeLoader.yaml_implicit_resolvers.items()
}


def cluster_of(cluster_type: ClusterType) -> tuple[Cluster, tuple[str, ...], list[Problem]]:
    """Return a cluster type as a managed cluster, its sets, and the problems of its annotations."""
    problems: list[Problem] = []
    parts = {name: _annotation(cluster_type, name, problems) for name in _SCHEMAS}
    claims = {
        "reconciler": cluster_type.reconciler,
        "namespaceService": cluster_type.namespace_service,
        **{
            name.removeprefix(CLAIM_PREFIX): text
            for name, text in sorted(cluster_type.annotations.items())
            if name.startswith(CLAIM_PREFIX)
        },
    }
    allocatable = parts[ALLOCATABLE_ANNOTATION] or parts[CAPACITY_ANNOTATION] or {}
    capacity = parts[CAPACITY_ANNOTATION] or allocatable
    body: dict[str, Any] = {
        "metadata": {
            "name": cluster_type.name,
            "labels": dict(cluster_type.labels),
            "annotations": dict(cluster_type.annotations),
        },
        "spec": {"hubAcceptsClient": True, "taints": parts[TAINTS_ANNOTATION] or []},
        "status": {
            "clusterClaims": [{"name": n, "value": text} for n, text in claims.items() if text],
            "allocatable": allocatable,
            "capacity": capacity,
        },
    }
    sets = parts[SETS_ANNOTATION] or []
    return Cluster.of(body), tuple(dict.fromkeys([*sets, ALL])), problems


def hub_of(
    cluster_types: Iterable[ClusterType],
    namespaces: Iterable[str],
    decisions: Iterable[EarlierDecision] = (),
    scores: Iterable[Score] = (),
) -> tuple[Hub, list[Problem]]:
    """Return the hub of an environment: every set is bound to every namespace."""
    clusters: list[Cluster] = []
    members: dict[str, list[Cluster]] = {ALL: []}
    problems: list[Problem] = []
    for cluster_type in sorted(cluster_types, key=lambda item: item.name):
        cluster, sets, faults = cluster_of(cluster_type)
        clusters.append(cluster)
        problems += faults
        for name in sets:
            members.setdefault(name, []).append(cluster)
    hub = Hub.of(
        clusters,
        (ClusterSet(name, by_label=False, selector=None) for name in members),
        dict.fromkeys(namespaces, tuple(members)),
        decisions,
        scores,
        members,
    )
    return hub, problems


def _annotation(cluster_type: ClusterType, name: str, problems: list[Problem]) -> Any:
    """Return the admitted value of an annotation; None if it is absent or invalid."""
    text = cluster_type.annotations.get(name, "").strip()
    if not text:
        return None
    owner = f"ClusterType {cluster_type.name!r}: the annotation {name}"
    try:
        value = yaml.load(text, SafeTexts)  # noqa: S506 - a subclass of the safe loader
    except yaml.YAMLError as error:
        message = f"{owner} is not YAML: {str(error).splitlines()[0]}"
        problems.append(Problem(message, cluster_type.where, "", "annotation-invalid"))
        return None
    wrapped = Schema("object", properties={"value": _SCHEMAS[name]})
    admitted = admit({"metadata": {"name": "annotation"}, "value": value}, wrapped)
    for refusal in admitted.refusals:
        message = f"{owner}: {refusal.message.replace('value', '', 1).lstrip('.')}"
        problems.append(Problem(message, cluster_type.where, "", "annotation-invalid"))
    return None if admitted.refusals else admitted.body["value"]
