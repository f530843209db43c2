"""The steps by which a Placement selects or drops a cluster type: filters, scores, number limit."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from kalypso_actions.scheduling.interface import DecisionStep, compile_selector
from kalypso_placement.cel import CelExpressions
from kalypso_placement.cluster_types import ALL
from kalypso_placement.filters import PREDICATE, end_of_toleration, untolerated_taint
from kalypso_placement.hub import Hub
from kalypso_placement.instants import format_instant
from kalypso_placement.objects import Cluster, ClusterSelector
from kalypso_placement.policies import Unit
from kalypso_placement.reconciliation import SchedulingResult


@dataclass(frozen=True, slots=True)
class UnitDecision:
    """The decisions for a unit; if the Placement failed, the earlier decisions for the unit."""

    unit: Unit
    candidates: tuple[Cluster, ...]
    scheduled: SchedulingResult
    decisions: tuple[Cluster, ...]


class Explanation:
    """Explains the decision of one unit on a hub at a given time."""

    def __init__(self, scored: UnitDecision, hub: Hub, cel: CelExpressions, now: int) -> None:
        self._scored = scored
        self._placement = scored.unit.own_placement
        self._hub = hub
        self._cel = cel
        self._now = now
        self._chosen = {cluster.name for cluster in scored.decisions}
        self._candidates = {cluster.name for cluster in scored.candidates}
        self._passed = [(stage, set(names)) for stage, names in scored.scheduled.filtered]
        self._totals = dict(scored.scheduled.totals)
        self._ranks = {name: rank for rank, name in enumerate(self._totals, 1)}

    def steps(self, name: str) -> Iterator[DecisionStep]:
        """Yield the steps of one cluster type, up to the one that drops it."""
        scored, scheduled = self._scored, self._scored.scheduled
        owner = f"Placement {scored.unit.placement.name}"
        chosen = name in self._chosen
        if name in self._hub.incumbents(self._placement):
            yield DecisionStep(f"{owner}: so far", "selected")
        if scheduled.status.failed:
            detail = f"{scheduled.status.message}; the last decision stays"
            yield DecisionStep(owner, detail, passed=chosen)
            return
        if name not in self._candidates:
            yield DecisionStep(f"{owner}: cluster sets", self._sets(name), passed=False)
            return
        cluster = self._hub.clusters[name]
        for stage, names in self._passed:
            plugin = stage.rpartition(",")[2]
            reason = self._unmatched if plugin == PREDICATE else self._untolerated
            passed = name in names
            yield DecisionStep(f"{owner}: {plugin}", "" if passed else reason(cluster), passed)
            if not passed:
                return
        for result in scheduled.prioritized:
            detail = f"{result.scores.get(name, 0)} × {result.weight}"
            yield DecisionStep(f"{owner}: {result.name}", detail)
        yield DecisionStep(f"{owner}: cut", self._rank(name), passed=chosen)

    def _sets(self, name: str) -> str:
        cluster = self._hub.clusters[name]
        own = [item for item in self._hub.sets if cluster in self._hub.members(item)]
        sets = ", ".join(sorted(item for item in own if item != ALL)) or "no set"
        return f"is in {sets}, not in {' or '.join(self._placement.cluster_sets)}"

    def _unmatched(self, cluster: Cluster) -> str:
        """Return the failing terms of each predicate."""
        predicates = self._placement.predicates
        reasons = [" and ".join(self._failing_terms(item, cluster)) for item in predicates]
        if len(reasons) == 1:
            return reasons[0]
        return "; ".join(f"predicate {at}: {reason}" for at, reason in enumerate(reasons, 1))

    def _failing_terms(self, predicate: ClusterSelector, cluster: Cluster) -> Iterator[str]:
        parts = (
            ("label", predicate.labels, cluster.labels),
            ("claim", predicate.claims, cluster.claims),
        )
        for kind, selector, values in parts:
            compiled, _ = compile_selector(selector, kind)
            for match in compiled.explain(values) if compiled else ():
                if not match.matched:
                    value = "absent" if match.value is None else match.value or "empty"
                    yield f"{kind} {match.requirement} (it is {value})"
        for expression in predicate.expressions:
            if reason := self._cel.why_not(expression, cluster):
                yield f"CEL {expression} ({reason})"

    def _untolerated(self, cluster: Cluster) -> str:
        tolerations = self._placement.tolerations
        is_incumbent = cluster.name in self._hub.incumbents(self._placement)
        taint = untolerated_taint(cluster, tolerations, is_incumbent, self._now)
        if taint is None:
            return ""
        text = f"the taint {taint.key}={taint.value}:{taint.effect}"
        end = end_of_toleration(taint, tolerations)
        if end is None:
            return f"{text} is not tolerated"
        return f"{text} is not tolerated since {format_instant(end)}"

    def _rank(self, name: str) -> str:
        wanted = self._placement.number_of_clusters
        limit = "all" if wanted is None else str(wanted)
        total, rank = self._totals[name], self._ranks[name]
        return f"total {total}, place {rank} of {len(self._ranks)}, {limit} wanted"
