"""A hub: the objects of OCM, read from YAML documents and indexed for many placements."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

import yaml

from kalypso_actions.errors import Problem
from kalypso_actions.model.documents import Document, Path
from kalypso_actions.model.kinds import ClusterType
from kalypso_actions.model.kubernetes_names import LABEL_LIMIT
from kalypso_actions.scheduling.interface import compile_selector
from kalypso_placement.admission import admit
from kalypso_placement.objects import (
    SET_LABEL,
    Cluster,
    ClusterSet,
    EarlierDecision,
    Placement,
    Score,
)
from kalypso_placement.schemas import GROUP, RESOURCES, SCHEMAS, TAINTS, TEXTS, Schema

_VERSIONS: Final = {kind: version for version, kind in SCHEMAS}

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


class SetError(Exception):
    """A set has an invalid selector; the message explains it to people."""


@dataclass(slots=True)
class Hub:
    """The objects that decide a placement.

    `bindings` are the names of sets by namespace. Of several objects with the same name, the last
    counts.
    """

    clusters: Mapping[str, Cluster]
    sets: Mapping[str, ClusterSet]
    bindings: Mapping[str, Sequence[str]]
    decisions: Sequence[EarlierDecision]
    scores: Mapping[tuple[str, str], Score]
    _members: dict[str, tuple[Cluster, ...]] = field(default_factory=dict)
    _counts: Counter[str] | None = None

    @classmethod
    def of(
        cls,
        clusters: Iterable[Cluster],
        sets: Iterable[ClusterSet],
        bindings: Mapping[str, Sequence[str]],
        decisions: Iterable[EarlierDecision] = (),
        scores: Iterable[Score] = (),
        members: Mapping[str, Sequence[Cluster]] | None = None,
    ) -> Hub:
        """Index the objects; `members` are the clusters of sets without a label or selector."""
        return cls(
            {cluster.name: cluster for cluster in sorted(clusters, key=lambda c: c.name)},
            {item.name: item for item in sets},
            bindings,
            tuple(decisions),
            {(score.cluster, score.name): score for score in scores},
            {name: tuple(clusters) for name, clusters in (members or {}).items()},
        )

    def bound_sets(self, namespace: str) -> list[str]:
        """Return the sets that exist and are bound to a namespace, sorted."""
        return sorted({name for name in self.bindings.get(namespace, ()) if name in self.sets})

    def members(self, name: str) -> tuple[Cluster, ...]:
        """Return the clusters of a set by name, without terminating ones. Raises SetError."""
        if name not in self._members:
            self._members[name] = tuple(self._select(self.sets[name]))
        return self._members[name]

    def _select(self, chosen: ClusterSet) -> Iterable[Cluster]:
        candidates = [cluster for cluster in self.clusters.values() if not cluster.terminating]
        if chosen.by_label:
            return [c for c in candidates if c.labels.get(SET_LABEL) == chosen.name]
        if chosen.selector is None:
            return []
        owner = f"ManagedClusterSet {chosen.name!r}"
        selector, problems = compile_selector(chosen.selector, owner)
        if selector is None:
            raise SetError(problems[0].message)
        return [cluster for cluster in candidates if selector.matches(cluster.labels)]

    def candidates(self, names: Sequence[str]) -> list[Cluster]:
        """Return the clusters of all these sets, each once, sorted by name. Raises SetError."""
        if len(names) == 1:
            return list(self.members(names[0]))
        united = {cluster.name: cluster for name in names for cluster in self.members(name)}
        return [united[name] for name in sorted(united)]

    def incumbents(self, placement: Placement) -> set[str]:
        """Return the clusters selected so far; none if the name is not a valid label value."""
        if len(placement.name) > LABEL_LIMIT:
            return set()
        own = (d for d in self.decisions if d.is_of(placement))
        return {cluster for decision in own for cluster in decision.clusters}

    def counts_of_others(self, placement: Placement) -> tuple[Mapping[str, int], int]:
        """Return how often other placements selected each cluster, and the largest count."""
        if self._counts is None:
            self._counts = Counter(c for decision in self.decisions for c in decision.clusters)
        own = Counter(c for d in self.decisions if d.is_of(placement) for c in d.clusters)
        counts = self._counts - own if own else self._counts
        return counts, max(counts.values(), default=0)


@dataclass(frozen=True, slots=True)
class OcmObject:
    """A document, or an item of a List; `path` is its place in the document."""

    body: Mapping[str, Any]
    document: Document
    path: Path = ()
    kind: str = ""
    version: str = ""

    @property
    def metadata(self) -> Mapping[str, Any]:
        """The metadata; empty if they are not a mapping."""
        metadata = self.body.get("metadata")
        return metadata if isinstance(metadata, Mapping) else {}

    @property
    def title(self) -> str:
        """Kind, namespace and name, for messages."""
        names = [str(self.metadata[k]) for k in ("namespace", "name") if self.metadata.get(k)]
        return f"{self.kind} {'/'.join(names)}"


@dataclass(slots=True)
class HubObjects:
    """The objects of a hub; `unreadable` is the first one that OCM's own types cannot hold.

    `refused` are the names of objects that are left out, each with a problem.
    """

    placements: list[Placement] = field(default_factory=list)
    clusters: list[Cluster] = field(default_factory=list)
    sets: list[ClusterSet] = field(default_factory=list)
    bindings: dict[str, list[str]] = field(default_factory=dict)
    decisions: list[EarlierDecision] = field(default_factory=list)
    scores: list[Score] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)
    refused: set[str] = field(default_factory=set)
    unreadable: str | None = None

    def hub(self) -> Hub:
        """Return a hub with these objects."""
        return Hub.of(self.clusters, self.sets, self.bindings, self.decisions, self.scores)

    def add(self, documents: Iterable[Document]) -> None:
        """Read the documents of OCM's group; ignore others."""
        for item in ocm_objects(documents):
            self._add(item)

    def _add(self, item: OcmObject) -> None:
        if (item.version, item.kind) not in SCHEMAS:
            message = f"{item.title}: {GROUP}/{item.version} has no {item.kind}"
            advice = f"write {_VERSIONS[item.kind]}"
            place = item.document.at(*item.path, "apiVersion")
            self.problems.append(Problem(message, place, advice, "placement-refused"))
            self.refused.add(str(item.metadata.get("name", "")))
            return
        admitted = admit(item.body, SCHEMAS[item.version, item.kind])
        for refusal in admitted.refusals:
            place = item.document.at(*item.path, *refusal.path)
            message = f"{item.title}: {refusal.message}"
            self.problems.append(Problem(message, place, "", refusal.code))
        if admitted.unreadable is not None:
            self.unreadable = self.unreadable or f"{item.title}: {admitted.unreadable.message}"
            self.refused.add(str(item.metadata.get("name", "")))
            return
        body = admitted.body
        match item.kind:
            case "Placement":
                self.placements.append(Placement.of(body, item.document.at(*item.path)))
            case "ManagedCluster":
                self.clusters.append(Cluster.of(body))
            case "ManagedClusterSet":
                self.sets.append(ClusterSet.of(body))
            case "ManagedClusterSetBinding":
                names = self.bindings.setdefault(item.metadata.get("namespace", ""), [])
                names.append(item.metadata.get("name", ""))
            case "PlacementDecision":
                self.decisions.append(EarlierDecision.of(body))
            case "AddOnPlacementScore":
                self.scores.append(Score.of(body))


def ocm_objects(documents: Iterable[Document]) -> Iterator[OcmObject]:
    """Yield the objects of OCM's group, including those inside Lists."""
    for document in documents:
        yield from _objects(OcmObject(document.body, document))


def _objects(item: OcmObject) -> Iterator[OcmObject]:
    kind, api_version = item.body.get("kind"), item.body.get("apiVersion")
    items = item.body.get("items")
    group, _, version = str(api_version).partition("/")
    if isinstance(kind, str) and kind.endswith("List") and isinstance(items, list):
        for index, body in enumerate(items):
            if isinstance(body, dict):
                owner = {"kind": kind.removesuffix("List"), "apiVersion": api_version}
                path = (*item.path, "items", index)
                yield from _objects(OcmObject({**owner, **body}, item.document, path))
    elif group == GROUP and isinstance(kind, str) and kind in _VERSIONS:
        yield OcmObject(item.body, item.document, item.path, kind, version)


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
