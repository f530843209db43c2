"""Filter clusters: first by predicates, then by taints.

OCM's plugins `Predicate` and `TaintToleration`.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final, Literal

from kalypso_actions.scheduling.interface import compile_selector
from kalypso_placement.cel import CelExpressions, ExpressionError, Matcher
from kalypso_placement.instants import add_seconds
from kalypso_placement.objects import Cluster, ClusterSelector, Taint, Toleration

PREDICATE: Final = "Predicate"
TAINT_TOLERATION: Final = "TaintToleration"


@dataclass(frozen=True, slots=True)
class Status:
    """The outcome of a stage: a code, the plugin that reports it, and a message for people."""

    code: Literal["Success", "Warning", "Error", "Misconfigured"] = "Success"
    plugin: str = ""
    message: str = ""

    @property
    def failed(self) -> bool:
        """Whether scheduling ends here."""
        return self.code in {"Error", "Misconfigured"}


SUCCESS: Final = Status()


def filter_by_predicates(
    predicates: Sequence[ClusterSelector], clusters: Sequence[Cluster], expressions: CelExpressions
) -> tuple[Sequence[Cluster], Status]:
    """Return the clusters that match any predicate; without clusters, check nothing."""
    if not predicates or not clusters:
        return clusters, SUCCESS
    matchers: list[Matcher] = []
    for predicate in predicates:
        matcher = selector_matcher(predicate, expressions)
        if isinstance(matcher, Status):
            return (), matcher
        matchers.append(matcher)
    if len(matchers) == 1:
        return list(filter(matchers[0], clusters)), SUCCESS
    return [c for c in clusters if any(matches(c) for matches in matchers)], SUCCESS


def selector_matcher(
    selector: ClusterSelector, expressions: CelExpressions | None = None
) -> Matcher | Status:
    """Return a matcher for a selector, or why the selector is invalid."""
    labels, faults = compile_selector(selector.labels, "labelSelector")
    claims, claim_faults = compile_selector(selector.claims, "claimSelector")
    if labels is None or claims is None:
        return Status("Misconfigured", PREDICATE, (*faults, *claim_faults)[0].message)
    compiled: Matcher | None = None
    if selector.expressions and expressions is not None:
        try:
            compiled = expressions.matcher(selector.expressions)
        except ExpressionError as error:
            return Status("Misconfigured", PREDICATE, f"compilation failed: {error}")

    def matches(cluster: Cluster) -> bool:
        return (
            labels.matches(cluster.labels)
            and claims.matches(cluster.claims)
            and (compiled is None or compiled(cluster))
        )

    return matches


def filter_by_taints(
    tolerations: Sequence[Toleration],
    clusters: Sequence[Cluster],
    incumbents: set[str],
    now: int,
) -> tuple[Sequence[Cluster], Status]:
    """Return the clusters whose taints are all tolerated; without clusters, check nothing."""
    if not clusters:
        return clusters, SUCCESS
    for toleration in tolerations:
        if not toleration.key and toleration.operator != "Exists":
            message = "a toleration with an empty key needs the operator Exists"
            return (), Status("Misconfigured", TAINT_TOLERATION, message)
        if toleration.operator == "Exists" and toleration.value:
            message = "a toleration with the operator Exists has no value"
            return (), Status("Misconfigured", TAINT_TOLERATION, message)
    kept = [
        cluster
        for cluster in clusters
        if not cluster.taints
        or tolerated_until(cluster, tolerations, cluster.name in incumbents, now) is not None
    ]
    return kept, SUCCESS


def tolerated_until(
    cluster: Cluster, tolerations: Sequence[Toleration], is_incumbent: bool, now: int
) -> float | None:
    """Return until when all taints of a cluster are tolerated, as an instant or infinity.

    Return None if a taint is not tolerated.
    """
    until = math.inf
    for taint in cluster.taints:
        end = _tolerated_until(taint, tolerations, is_incumbent, now)
        if end is None:
            return None
        until = min(until, end)
    return until


def untolerated_taint(
    cluster: Cluster, tolerations: Sequence[Toleration], is_incumbent: bool, now: int
) -> Taint | None:
    """Return the first taint that is not tolerated."""
    for taint in cluster.taints:
        if _tolerated_until(taint, tolerations, is_incumbent, now) is None:
            return taint
    return None


def end_of_toleration(taint: Taint, tolerations: Sequence[Toleration]) -> int | None:
    """Return the latest end of the matching tolerations with `seconds`; None if none matches."""
    ends = (
        add_seconds(taint.time_added, item.seconds)
        for item in tolerations
        if item.seconds is not None and _matches(item, taint)
    )
    return max(ends, default=None)


def _tolerated_until(
    taint: Taint, tolerations: Sequence[Toleration], is_incumbent: bool, now: int
) -> float | None:
    if taint.effect == "PreferNoSelect" or (taint.effect == "NoSelectIfNew" and is_incumbent):
        return math.inf
    for toleration in tolerations:
        if not _matches(toleration, taint):
            continue
        if toleration.seconds is None:
            return math.inf
        end = add_seconds(taint.time_added, toleration.seconds)
        if now < end:
            return end
    return None


def _matches(toleration: Toleration, taint: Taint) -> bool:
    if toleration.effect and toleration.effect != taint.effect:
        return False
    if toleration.key and toleration.key != taint.key:
        return False
    if toleration.operator in {"", "Equal"}:
        return toleration.value == taint.value
    return toleration.operator == "Exists"


def earliest(instants: Iterable[float | None]) -> int | None:
    """Return the first of some times; None if there is none before the end of time."""
    finite = (instant for instant in instants if instant is not None and instant < math.inf)
    first = min(finite, default=None)
    return None if first is None else int(first)
