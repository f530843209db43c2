"""Reconcile a Placement: candidates, filters, scores, the choice, groups, status.

OCM's scheduling controller and plugin scheduler have the same steps in the same order.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, Literal

from kalypso_actions.model.kubernetes_names import LABEL_LIMIT
from kalypso_placement.cel import CelExpressions
from kalypso_placement.filters import (
    PREDICATE,
    SUCCESS,
    TAINT_TOLERATION,
    Status,
    earliest,
    filter_by_predicates,
    filter_by_taints,
    selector_matcher,
    tolerated_until,
)
from kalypso_placement.hub import Hub, SetError
from kalypso_placement.objects import PLACEMENT_LABEL, Cluster, Placement, SpreadConstraint
from kalypso_placement.prioritizers import (
    PrioritizerResult,
    ScoreInput,
    effective_prioritizers,
    score_of,
)

MAX_DECISIONS: Final = 100
GROUP_NAME_LABEL: Final = "cluster.open-cluster-management.io/decision-group-name"
GROUP_INDEX_LABEL: Final = "cluster.open-cluster-management.io/decision-group-index"

_NUMBER: Final = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?%\Z", re.ASCII)

Names = tuple[str, ...]
Choice = Callable[[Placement, Sequence[Cluster]], Sequence[Cluster]]
"""A function that chooses among clusters, which are sorted by preference."""


class NegativeNumberError(Exception):
    """numberOfClusters is negative: OCM panics."""


@dataclass(frozen=True, slots=True)
class Condition:
    """A condition of the placement's status."""

    status: Literal["True", "False"]
    reason: str
    message: str


@dataclass(slots=True)
class SchedulingResult:
    """The scheduler's results; after a failure, only the results before the failure."""

    filtered: list[tuple[str, Names]] = field(default_factory=list)
    prioritized: list[PrioritizerResult] = field(default_factory=list)
    totals: list[tuple[str, int]] = field(default_factory=list)
    decisions: list[Cluster] = field(default_factory=list)
    unscheduled: int = 0
    requeue: int | None = None
    status: Status = SUCCESS


@dataclass(frozen=True, slots=True)
class PlacementDecision:
    """An object that lists at most 100 of the selected clusters."""

    name: str
    labels: dict[str, str]
    clusters: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class DecisionGroup:
    """The names of selected clusters, and the objects that list them."""

    index: int
    name: str
    clusters: tuple[str, ...]
    decisions: tuple[PlacementDecision, ...]


@dataclass(frozen=True, slots=True)
class Reconciliation:
    """The whole result; if there is a `set_error`, nothing was scheduled and nothing changes."""

    bound_sets: Sequence[str]
    eligible_sets: Sequence[str]
    available: Sequence[str] = ()
    scheduled: SchedulingResult = field(default_factory=SchedulingResult)
    groups: Sequence[DecisionGroup] = ()
    group_status: Status = SUCCESS
    conditions: dict[str, Condition] | None = None
    sync_error: str | None = None
    set_error: str | None = None


def first(placement: Placement, ordered: Sequence[Cluster]) -> Sequence[Cluster]:
    """Choose the first clusters, as OCM does."""
    return ordered[: placement.number_of_clusters]


def reconcile(
    placement: Placement, hub: Hub, expressions: CelExpressions, now: int, choose: Choice = first
) -> Reconciliation:
    """Decide as OCM does. Raises NegativeNumberError if OCM panics."""
    bound = hub.bound_sets(placement.namespace)
    wanted = placement.cluster_sets
    eligible = [name for name in bound if not wanted or name in wanted]
    try:
        clusters = hub.candidates(eligible)
    except SetError as error:
        return Reconciliation(bound, eligible, sync_error=str(error), set_error=str(error))
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
        bound,
        eligible,
        [cluster.name for cluster in clusters],
        scheduled,
        groups,
        group_status,
        conditions,
        sync_error,
    )


def schedule(
    placement: Placement,
    hub: Hub,
    clusters: Sequence[Cluster],
    expressions: CelExpressions,
    now: int,
    choose: Choice,
) -> SchedulingResult:
    """Filter, score and choose."""
    result = SchedulingResult()
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
    running, result.status = effective_prioritizers(placement)
    if result.status.failed:
        return result
    question = ScoreInput(placement, kept, hub, incumbents, now)
    for prioritizer in running:
        scores, status = score_of(prioritizer, question)
        if status.failed:
            result.status = status
            return result
        if status.code == "Warning":
            result.status = status
        weight = prioritizer.weight
        result.prioritized.append(PrioritizerResult(prioritizer.name, weight, scores))
    _choose(placement, kept, result, choose)
    present = (hub.clusters[name] for name in incumbents if name in hub.clusters)
    result.requeue = earliest(tolerated_until(c, placement.tolerations, True, now) for c in present)
    return result


def _choose(
    placement: Placement, kept: Sequence[Cluster], result: SchedulingResult, choose: Choice
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


def requeue_instant(
    placement: Placement, hub: Hub, result: SchedulingResult, now: int
) -> int | None:
    """Return the next time at which a decision may change although the fleet does not.

    It is the end of a toleration or of a score's validity. OCM examines the decisions from before
    the run. Kalypso examines the new decisions, and the scores that they used.
    """
    ends = [tolerated_until(c, placement.tolerations, True, now) for c in result.decisions]
    resources = {p.add_on[0] for p in effective_prioritizers(placement)[0] if p.add_on}
    for name, _ in result.totals:
        scores = (hub.scores.get((name, resource)) for resource in resources)
        ends += [s.valid_until for s in scores if s and s.valid_until is not None]
    return earliest(end for end in ends if end is not None and end >= now)


def _misconfigured(status: Status) -> Condition:
    if status.code == "Misconfigured":
        return Condition("True", "Misconfigured", f"{status.plugin}:{status.message}")
    return Condition("False", "Succeedconfigured", "Placement configurations check pass")


def _satisfied(
    placement: Placement,
    bound: Sequence[str],
    eligible: Sequence[str],
    clusters: Sequence[Cluster],
    scheduled: SchedulingResult,
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
    return Condition("True" if reason == "AllDecisionsScheduled" else "False", reason, message)


def spread_evenly(placement: Placement, ordered: Sequence[Cluster]) -> Sequence[Cluster]:
    """Execute `spreadPolicy`, which OCM declares but never executes.

    Choose up to `numberOfClusters`, best first; without a number, as many as the terms allow. A
    cluster waits while its topology would have over `maxSkew` more clusters than the topology with
    the fewest. A term with `ScheduleAnyway` is only a preference; earlier terms take precedence. A
    required term excludes clusters without its key.
    """
    terms, wanted = placement.spread, placement.number_of_clusters
    remaining = list(ordered)
    chosen: list[Cluster] = []
    domains = [{domain(term, cluster) for cluster in ordered} - {None} for term in terms]
    counts = [dict.fromkeys(names, 0) for names in domains]
    while remaining and (wanted is None or len(chosen) < wanted):
        best = _next(terms, counts, remaining)
        if best is None:
            break
        remaining.remove(best)
        chosen.append(best)
        for term, count in zip(terms, counts, strict=True):
            name = domain(term, best)
            if name is not None:
                count[name] += 1
    return chosen


def domain(term: SpreadConstraint, cluster: Cluster) -> str | None:
    """Return the topology of a cluster; None if the cluster lacks the label or claim."""
    return (cluster.labels if term.key_type == "Label" else cluster.claims).get(term.key)


def _next(
    terms: Sequence[SpreadConstraint],
    counts: Sequence[Mapping[str | None, int]],
    remaining: Sequence[Cluster],
) -> Cluster | None:
    best: Cluster | None = None
    least: tuple[int, ...] = ()
    for cluster in remaining:
        excess = _excess(terms, counts, cluster)
        if excess is not None and (best is None or excess < least):
            best, least = cluster, excess
        if best is not None and not any(least):
            break
    return best


def _excess(
    terms: Sequence[SpreadConstraint],
    counts: Sequence[Mapping[str | None, int]],
    cluster: Cluster,
) -> tuple[int, ...] | None:
    """Return the excess over each term; None if a required term would be exceeded."""
    excess = []
    for term, count in zip(terms, counts, strict=True):
        name = domain(term, cluster)
        over = max(count.values(), default=0) + 1
        if name is not None:
            over = max(0, count[name] + 1 - min(count.values()) - term.max_skew)
        if over and term.required:
            return None
        excess.append(over)
    return tuple(excess)


def divide(placement: Placement, selected: Sequence[Cluster]) -> tuple[list[DecisionGroup], Status]:
    """Divide the selected clusters; after an error, return only the groups before it."""
    named_clusters, status = _named_groups(placement, selected)
    groups: list[DecisionGroup] = []
    number = 1
    for index, (name, clusters) in enumerate(named_clusters):
        decisions = tuple(_decisions(placement.name, index, name, clusters, number))
        number += len(decisions)
        groups.append(DecisionGroup(index, name, clusters, decisions))
    return groups, status


def _named_groups(
    placement: Placement, selected: Sequence[Cluster]
) -> tuple[list[tuple[str, tuple[str, ...]]], Status]:
    groups: list[tuple[str, tuple[str, ...]]] = []
    size = group_size(placement.clusters_per_group, len(selected))
    if size is None:
        message = f"{placement.clusters_per_group} is neither a number nor a percentage"
        return groups, Status("Misconfigured", "", message)
    remaining = list(selected)
    for name, selector in placement.groups:
        matches = selector_matcher(selector)
        if isinstance(matches, Status):
            return groups, Status("Misconfigured", "", matches.message)
        matched = [cluster for cluster in remaining if matches(cluster)]
        remaining = [cluster for cluster in remaining if not matches(cluster)]
        groups += _split(name, matched, size)
    groups += _split("", remaining, size)
    return groups or [("", ())], SUCCESS


def group_size(size: int | str, total: int) -> int | None:
    """Return the maximum number of clusters of a group; None for text that is not a percentage.

    Round a percentage up in floating point, as OCM does: 7% of 100 is 8.
    """
    if isinstance(size, str):
        if not _NUMBER.match(size):
            return None
        size = math.ceil(float(size[:-1]) / 100 * total)
    return total if size <= 0 or size > total else size


def _split(
    name: str, clusters: Sequence[Cluster], size: int
) -> Iterator[tuple[str, tuple[str, ...]]]:
    names = sorted(cluster.name for cluster in clusters)
    for start in range(0, len(names), size or 1):
        yield name, tuple(names[start : start + size])


def _decisions(
    placement: str, index: int, group: str, clusters: tuple[str, ...], number: int
) -> Iterator[PlacementDecision]:
    labels = {PLACEMENT_LABEL: placement, GROUP_NAME_LABEL: group, GROUP_INDEX_LABEL: str(index)}
    for offset, start in enumerate(range(0, len(clusters) or 1, MAX_DECISIONS)):
        part = clusters[start : start + MAX_DECISIONS]
        yield PlacementDecision(f"{placement}-decision-{number + offset}", labels, part)
