"""OCM's objects as values, with the fields that the scheduler reads.

They are made from admitted documents, whose values have the types of the schemas.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from kalypso_actions.errors import HERE, Location
from kalypso_actions.model.kinds import LabelExpression, LabelSelector
from kalypso_placement.instants import YEAR_ONE, parse_instant
from kalypso_placement.quantities import Quantity, parse_quantity

PLACEMENT_LABEL = "cluster.open-cluster-management.io/placement"
SET_LABEL = "cluster.open-cluster-management.io/clusterset"
NOWHERE = Location(HERE)
DISABLE_ANNOTATION = "cluster.open-cluster-management.io/experimental-scheduling-disable"

Body = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Taint:
    """A taint of a cluster; `time_added` is in nanoseconds since 1970."""

    key: str
    value: str
    effect: str
    time_added: int = YEAR_ONE

    @classmethod
    def of(cls, body: Body) -> Taint:
        """Read an admitted taint."""
        added = parse_instant(body.get("timeAdded") or "")
        return cls(
            body.get("key", ""),
            body.get("value", ""),
            body.get("effect", ""),
            YEAR_ONE if added is None else added,
        )


@dataclass(frozen=True, eq=False, slots=True)
class Cluster:
    """A managed cluster; `body` is the admitted object, which CEL sees."""

    name: str
    labels: Mapping[str, str]
    claims: Mapping[str, str]
    taints: tuple[Taint, ...]
    allocatable: Mapping[str, Quantity]
    capacity: Mapping[str, Quantity]
    terminating: bool
    body: Body

    @classmethod
    def of(cls, body: Body) -> Cluster:
        """Read an admitted ManagedCluster; of two claims with the same name, the last counts."""
        metadata, spec, status = (body.get(part) or {} for part in ("metadata", "spec", "status"))
        claims = status.get("clusterClaims") or ()
        return cls(
            name=metadata.get("name", ""),
            labels=metadata.get("labels") or {},
            claims={claim.get("name", ""): claim.get("value", "") for claim in claims},
            taints=tuple(Taint.of(taint) for taint in spec.get("taints") or ()),
            allocatable=_quantities(status.get("allocatable")),
            capacity=_quantities(status.get("capacity")),
            terminating=bool(metadata.get("deletionTimestamp")),
            body=body,
        )


def _quantities(resources: Body | None) -> dict[str, Quantity]:
    parsed = {name: parse_quantity(str(value)) for name, value in (resources or {}).items()}
    return {name: quantity for name, quantity in parsed.items() if quantity is not None}


@dataclass(frozen=True, slots=True)
class ClusterSet:
    """A set of clusters, chosen by label or by `selector`; None selects nothing."""

    name: str
    by_label: bool
    selector: LabelSelector | None

    @classmethod
    def of(cls, body: Body) -> ClusterSet:
        """Read an admitted ManagedClusterSet."""
        chosen = body["spec"]["clusterSelector"]
        selector = chosen.get("labelSelector")
        return cls(
            body["metadata"].get("name", ""),
            chosen.get("selectorType") != "LabelSelector",
            None if selector is None else label_selector(selector),
        )


@dataclass(frozen=True, slots=True)
class EarlierDecision:
    """A PlacementDecision: the clusters that it lists, and the placement that its label names."""

    namespace: str
    placement: str | None
    clusters: tuple[str, ...]

    @classmethod
    def of(cls, body: Body) -> EarlierDecision:
        """Read an admitted PlacementDecision."""
        metadata = body["metadata"]
        decisions = (body.get("status") or {}).get("decisions") or ()
        return cls(
            metadata.get("namespace", ""),
            (metadata.get("labels") or {}).get(PLACEMENT_LABEL),
            tuple(decision.get("clusterName", "") for decision in decisions),
        )

    def is_of(self, placement: Placement) -> bool:
        """Whether the decision belongs to a placement."""
        return (self.placement, self.namespace) == (placement.name, placement.namespace)


@dataclass(frozen=True, slots=True)
class Score:
    """An AddOnPlacementScore: the scores of one cluster, in order, and their end of validity."""

    name: str
    cluster: str
    scores: tuple[tuple[str, int], ...]
    valid_until: int | None

    @classmethod
    def of(cls, body: Body) -> Score:
        """Read an admitted AddOnPlacementScore."""
        metadata, status = body["metadata"], body.get("status") or {}
        return cls(
            metadata.get("name", ""),
            metadata.get("namespace", ""),
            tuple((s.get("name", ""), s.get("value", 0)) for s in status.get("scores") or ()),
            parse_instant(status.get("validUntil") or ""),
        )


@dataclass(frozen=True, slots=True)
class ClusterSelector:
    """The selectors of a predicate or group; all of them must match."""

    labels: LabelSelector
    claims: LabelSelector
    expressions: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Toleration:
    """A toleration; without `seconds` it holds forever."""

    key: str
    operator: str
    value: str
    effect: str
    seconds: int | None


@dataclass(frozen=True, slots=True)
class Prioritizer:
    """An entry of the prioritizer policy; `add_on` is the resource and the score."""

    type: str
    built_in: str
    add_on: tuple[str, str] | None
    weight: int

    @property
    def name(self) -> str:
        """The name in results."""
        if self.type == "BuiltIn" or self.add_on is None:
            return self.built_in
        return f"AddOn/{self.add_on[0]}/{self.add_on[1]}"


@dataclass(frozen=True, slots=True)
class SpreadConstraint:
    """A term of the spread policy."""

    key: str
    key_type: Literal["Label", "Claim"]
    max_skew: int
    required: bool


@dataclass(frozen=True, slots=True)
class Placement:
    """A Placement; `prioritizers` has None for an entry without scoreCoordinate.

    `groups` are the names of decision groups with their selectors; a cluster belongs to the first
    group that matches.
    """

    name: str
    namespace: str
    disabled: bool = False
    cluster_sets: tuple[str, ...] = ()
    number_of_clusters: int | None = None
    predicates: tuple[ClusterSelector, ...] = ()
    tolerations: tuple[Toleration, ...] = ()
    mode: str = "Additive"
    prioritizers: tuple[Prioritizer | None, ...] = ()
    clusters_per_group: int | str = 0
    groups: tuple[tuple[str, ClusterSelector], ...] = ()
    spread: tuple[SpreadConstraint, ...] = ()
    where: Location = NOWHERE

    @classmethod
    def of(cls, body: Body, where: Location = NOWHERE) -> Placement:
        """Read an admitted Placement."""
        metadata, spec = body["metadata"], body.get("spec") or {}
        annotations = metadata.get("annotations") or {}
        policy = spec.get("prioritizerPolicy") or {}
        strategy = (spec.get("decisionStrategy") or {}).get("groupStrategy") or {}
        spread = (spec.get("spreadPolicy") or {}).get("spreadConstraints") or ()
        predicates = (p.get("requiredClusterSelector") or {} for p in spec.get("predicates") or ())
        groups = strategy.get("decisionGroups") or ()
        return cls(
            name=metadata.get("name", ""),
            namespace=metadata.get("namespace", ""),
            disabled=bool(metadata.get("deletionTimestamp"))
            or annotations.get(DISABLE_ANNOTATION) == "true",
            cluster_sets=tuple(spec.get("clusterSets") or ()),
            number_of_clusters=spec.get("numberOfClusters"),
            predicates=tuple(_cluster_selector(predicate, where) for predicate in predicates),
            tolerations=tuple(_toleration(t) for t in spec.get("tolerations") or ()),
            mode=policy.get("mode", ""),
            prioritizers=tuple(_prioritizer(p) for p in policy.get("configurations") or ()),
            clusters_per_group=strategy.get("clustersPerDecisionGroup", 0),
            groups=tuple(
                (
                    group.get("groupName", ""),
                    _cluster_selector(group.get("groupClusterSelector") or {}, where),
                )
                for group in groups
            ),
            spread=tuple(_spread(term) for term in spread),
            where=where,
        )


def label_selector(body: Body, where: Location = NOWHERE) -> LabelSelector:
    """Read an admitted LabelSelector."""
    expressions = body.get("matchExpressions") or ()
    return LabelSelector(
        body.get("matchLabels") or {},
        tuple(
            LabelExpression(e.get("key", ""), e.get("operator", ""), tuple(e.get("values") or ()))
            for e in expressions
        ),
        where,
    )


def _cluster_selector(body: Body, where: Location) -> ClusterSelector:
    return ClusterSelector(
        label_selector(body.get("labelSelector") or {}, where),
        label_selector(body.get("claimSelector") or {}, where),
        tuple((body.get("celSelector") or {}).get("celExpressions") or ()),
    )


def _toleration(body: Body) -> Toleration:
    return Toleration(
        body.get("key", ""),
        body.get("operator", ""),
        body.get("value", ""),
        body.get("effect", ""),
        body.get("tolerationSeconds"),
    )


def _prioritizer(body: Body) -> Prioritizer | None:
    coordinate = body.get("scoreCoordinate")
    if coordinate is None:
        return None
    source = coordinate.get("addOn")
    add_on = source and (source.get("resourceName", ""), source.get("scoreName", ""))
    return Prioritizer(
        coordinate.get("type", ""), coordinate.get("builtIn", ""), add_on, body.get("weight", 0)
    )


def _spread(body: Body) -> SpreadConstraint:
    return SpreadConstraint(
        body.get("topologyKey", ""),
        body.get("topologyKeyType", "Label"),
        body.get("maxSkew", 1),
        body.get("whenUnsatisfiable") == "DoNotSchedule",
    )
