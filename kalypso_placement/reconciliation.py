"""Reconcile a Placement: candidates, filters, scores, the choice, groups, status.

OCM's scheduling controller and plugin scheduler have the same steps in the same order.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from kalypso_actions.model.kubernetes_names import LABEL_LIMIT
from kalypso_placement import prioritizers
from kalypso_placement.filters import (
    PREDICATE,
    TAINT_TOLERATION,
    Expressions,
    earliest,
    filter_by_predicates,
    filter_by_taints,
    toleration_of,
)
from kalypso_placement.groups import Group, divide
from kalypso_placement.hub import Hub, SetError
from kalypso_placement.objects import Cluster, Placement
from kalypso_placement.prioritizers import PrioritizerResult, Question
from kalypso_placement.statuses import SUCCESS, Status

Names = tuple[str, ...]
Choice = Callable[[Placement, Sequence[Cluster]], Sequence[Cluster]]
"""A function that chooses among clusters, which are sorted by preference."""


class NegativeNumberError(Exception):
    """numberOfClusters is negative: OCM panics."""


@dataclass(frozen=True, slots=True)
class Condition:
    """A condition of the placement's status."""

    status: bool
    reason: str
    message: str


@dataclass(slots=True)
class Scheduled:
    """The scheduler's results; after a failure, only the results before the failure."""

    filtered: list[tuple[str, Names]] = field(default_factory=list)
    prioritized: list[PrioritizerResult] = field(default_factory=list)
    totals: list[tuple[str, int]] = field(default_factory=list)
    decisions: list[Cluster] = field(default_factory=list)
    unscheduled: int = 0
    requeue: int | None = None
    status: Status = SUCCESS


@dataclass(frozen=True, slots=True)
class Reconciliation:
    """The whole result; if there is a `set_error`, nothing was scheduled and nothing changes."""

    bound_sets: Names
    eligible_sets: Names
    available: Names = ()
    scheduled: Scheduled = field(default_factory=Scheduled)
    groups: tuple[Group, ...] = ()
    group_status: Status = SUCCESS
    conditions: dict[str, Condition] | None = None
    sync_error: str | None = None
    set_error: str | None = None


def first(placement: Placement, ordered: Sequence[Cluster]) -> Sequence[Cluster]:
    """Choose the first clusters, as OCM does."""
    return ordered[: placement.number_of_clusters]


def reconcile(
    placement: Placement, hub: Hub, expressions: Expressions, now: int, choose: Choice = first
) -> Reconciliation:
    """Decide as OCM does. Raises NegativeNumberError if OCM panics."""
    bound = hub.bound_sets(placement.namespace)
    wanted = placement.cluster_sets
    eligible = [name for name in bound if not wanted or name in wanted]
    try:
        clusters = hub.candidates(eligible)
    except SetError as error:
        return Reconciliation(
            tuple(bound), tuple(eligible), sync_error=str(error), set_error=str(error)
        )
    scheduled = schedule(placement, hub, clusters, expressions, now, choose)
    groups, group_status = divide(placement, scheduled.decisions)
    status = group_status if group_status.failed else scheduled.status
    sync_error = None if status.code == "Success" else status.message
    conditions: dict[str, Condition] | None = {
        "PlacementMisconfigured": _misconfigured(status),
        "PlacementSatisfied": _satisfied(placement, bound, eligible, clusters, scheduled, status),
    }
    if len(placement.name) > LABEL_LIMIT:
        conditions = None
        sync_error = f"the name of the placement has more than {LABEL_LIMIT} characters"
    return Reconciliation(
        tuple(bound),
        tuple(eligible),
        tuple(cluster.name for cluster in clusters),
        scheduled,
        tuple(groups),
        group_status,
        conditions,
        sync_error,
    )


def schedule(
    placement: Placement,
    hub: Hub,
    clusters: Sequence[Cluster],
    expressions: Expressions,
    now: int,
    choose: Choice,
) -> Scheduled:
    """Filter, score and choose."""
    result = Scheduled()
    incumbents = hub.incumbents(placement)
    kept, result.status = filter_by_predicates(placement.predicates, clusters, expressions)
    if result.status.failed:
        return result
    result.filtered.append((PREDICATE, tuple(c.name for c in kept)))
    kept, result.status = filter_by_taints(placement.tolerations, kept, incumbents, now)
    if result.status.failed:
        return result
    names = tuple(c.name for c in kept)
    result.filtered.append((f"{PREDICATE},{TAINT_TOLERATION}", names))
    running, result.status = prioritizers.effective_prioritizers(placement)
    if result.status.failed:
        return result
    question = Question(placement, kept, hub, incumbents, now)
    for prioritizer in running:
        scores, status = prioritizers.score(prioritizer, question)
        if status.failed:
            result.status = status
            return result
        if status.code == "Warning":
            result.status = status
        weight = prioritizer.weight
        result.prioritized.append(PrioritizerResult(prioritizer.name, weight, scores))
    _choose(placement, kept, result, choose)
    for name in incumbents:
        if name in hub.clusters:
            toleration = toleration_of(hub.clusters[name], placement.tolerations, True, now)
            end = toleration.until if toleration.tolerated else None
            result.requeue = earliest(result.requeue, end)
    return result


def _choose(
    placement: Placement, kept: Sequence[Cluster], result: Scheduled, choose: Choice
) -> None:
    totals = dict.fromkeys((cluster.name for cluster in kept), 0)
    for item in result.prioritized:
        for name, value in item.scores.items():
            totals[name] += value * item.weight
    ordered = sorted(kept, key=lambda cluster: (-totals[cluster.name], cluster.name))
    result.totals = [(cluster.name, totals[cluster.name]) for cluster in ordered]
    if placement.number_of_clusters is not None and placement.number_of_clusters < 0:
        raise NegativeNumberError
    result.decisions = list(choose(placement, ordered))
    if placement.number_of_clusters is not None:
        result.unscheduled = placement.number_of_clusters - len(result.decisions)


def _misconfigured(status: Status) -> Condition:
    if status.code == "Misconfigured":
        return Condition(True, "Misconfigured", f"{status.plugin}:{status.message}")
    return Condition(False, "Succeedconfigured", "Placement configurations check pass")


def _satisfied(
    placement: Placement,
    bound: Sequence[str],
    eligible: Sequence[str],
    clusters: Sequence[Cluster],
    scheduled: Scheduled,
    status: Status,
) -> Condition:
    reason, message = "AllDecisionsScheduled", "All cluster decisions scheduled"
    if not bound:
        reason = "NoManagedClusterSetBindings"
        message = "No valid ManagedClusterSetBindings found in placement namespace"
    elif not eligible:
        reason, names = "NoIntersection", ",".join(placement.cluster_sets)
        message = f"None of ManagedClusterSets [{names}] is bound to placement namespace"
    elif not clusters:
        reason, names = "AllManagedClusterSetsEmpty", ",".join(eligible)
        message = f"All ManagedClusterSets [{names}] have no member ManagedCluster"
    elif status.code == "Error":
        reason, message = "NotAllDecisionsScheduled", status.message
    elif not scheduled.decisions:
        reason = "NoManagedClusterMatched"
        message = "No ManagedCluster matches any of the cluster predicate"
    elif scheduled.unscheduled:
        reason = "NotAllDecisionsScheduled"
        message = f"{scheduled.unscheduled} cluster decisions unscheduled"
    return Condition(reason == "AllDecisionsScheduled", reason, message)
