"""Filter clusters: first by predicates, then by taints.

OCM's plugins `Predicate` and `TaintToleration`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final, Protocol

from kalypso_actions.errors import KalypsoError
from kalypso_actions.scheduling.selectors import Selector, compile_selector
from kalypso_placement.instants import add_seconds
from kalypso_placement.objects import (
    Cluster,
    ClusterSelector,
    Taint,
    Toleration,
)
from kalypso_placement.statuses import SUCCESS, Status

PREDICATE: Final = "Predicate"
TAINT_TOLERATION: Final = "TaintToleration"

Matcher = Callable[[Cluster], bool]


class ExpressionError(Exception):
    """A CEL expression does not compile; the message is the compiler's."""


class UnsupportedExpressionError(KalypsoError):
    """A CEL expression cannot be evaluated as OCM does."""


class Expressions(Protocol):
    """An evaluator of CEL expressions."""

    def matcher(self, expressions: Sequence[str]) -> Matcher:
        """Return a matcher for all of the expressions. Raises ExpressionError."""


def predicate_matchers(
    predicates: Sequence[ClusterSelector], expressions: Expressions
) -> list[Matcher] | Status:
    """Return a matcher for each predicate, or why the placement is misconfigured."""
    matchers: list[Matcher] = []
    for predicate in predicates:
        matcher = selector_matcher(predicate, expressions)
        if isinstance(matcher, Status):
            return matcher
        matchers.append(matcher)
    return matchers


def selector_matcher(
    selector: ClusterSelector, expressions: Expressions | None = None
) -> Matcher | Status:
    """Return a matcher for a selector, or why the selector is invalid."""
    labels, faults = compile_selector(selector.labels, "labelSelector")
    claims, claim_faults = compile_selector(selector.claims, "claimSelector")
    if labels is None or claims is None:
        return Status("Misconfigured", PREDICATE, (*faults, *claim_faults)[0].message)
    if not selector.expressions or expressions is None:
        return _matcher(labels, claims)
    try:
        return _matcher(labels, claims, expressions.matcher(selector.expressions))
    except ExpressionError as error:
        return Status("Misconfigured", PREDICATE, f"compilation failed: {error}")


def _matcher(labels: Selector, claims: Selector, compiled: Matcher | None = None) -> Matcher:
    def matches(cluster: Cluster) -> bool:
        return (
            labels.matches(cluster.labels)
            and claims.matches(cluster.claims)
            and (compiled is None or compiled(cluster))
        )

    return matches


def filter_by_predicates(
    predicates: Sequence[ClusterSelector], clusters: Sequence[Cluster], expressions: Expressions
) -> tuple[Sequence[Cluster], Status]:
    """Return the clusters that match any predicate; without clusters, check nothing."""
    if not predicates or not clusters:
        return clusters, SUCCESS
    matchers = predicate_matchers(predicates, expressions)
    if isinstance(matchers, Status):
        return (), matchers
    if len(matchers) == 1:
        return list(filter(matchers[0], clusters)), SUCCESS
    return [c for c in clusters if any(matches(c) for matches in matchers)], SUCCESS


@dataclass(frozen=True, slots=True)
class Tolerated:
    """Whether a cluster or taint is tolerated, and until when; None is forever."""

    tolerated: bool
    until: int | None = None


_YES: Final = Tolerated(tolerated=True)
_NO: Final = Tolerated(tolerated=False)


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
        or toleration_of(cluster, tolerations, cluster.name in incumbents, now).tolerated
    ]
    return kept, SUCCESS


def toleration_of(
    cluster: Cluster, tolerations: Sequence[Toleration], is_incumbent: bool, now: int
) -> Tolerated:
    """Return whether all taints of a cluster are tolerated, and until when."""
    until: int | None = None
    for taint in cluster.taints:
        answer = _taint_tolerated(taint, tolerations, is_incumbent, now)
        if not answer.tolerated:
            return _NO
        until = earliest(until, answer.until)
    return Tolerated(tolerated=True, until=until)


def untolerated_taint(
    cluster: Cluster, tolerations: Sequence[Toleration], is_incumbent: bool, now: int
) -> Taint | None:
    """Return the first taint that is not tolerated."""
    for taint in cluster.taints:
        if not _taint_tolerated(taint, tolerations, is_incumbent, now).tolerated:
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


def _taint_tolerated(
    taint: Taint, tolerations: Sequence[Toleration], is_incumbent: bool, now: int
) -> Tolerated:
    if taint.effect == "PreferNoSelect" or (taint.effect == "NoSelectIfNew" and is_incumbent):
        return _YES
    for toleration in tolerations:
        if not _matches(toleration, taint):
            continue
        if toleration.seconds is None:
            return _YES
        end = add_seconds(taint.time_added, toleration.seconds)
        if now < end:
            return Tolerated(tolerated=True, until=end)
    return _NO


def _matches(toleration: Toleration, taint: Taint) -> bool:
    if toleration.effect and toleration.effect != taint.effect:
        return False
    if toleration.key and toleration.key != taint.key:
        return False
    if toleration.operator in {"", "Equal"}:
        return toleration.value == taint.value
    return toleration.operator == "Exists"


def earliest(first: int | None, second: int | None) -> int | None:
    """Return the smaller of two times; None is never."""
    times = [time for time in (first, second) if time is not None]
    return min(times, default=None)
