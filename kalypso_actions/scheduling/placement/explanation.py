"""Why a Placement selects a cluster type, or not: filters, scores and the cut, as steps."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from kalypso_actions.scheduling.interface import DecisionStep
from kalypso_actions.scheduling.placement.filters import untolerated_taint
from kalypso_actions.scheduling.placement.hub import Hub
from kalypso_actions.scheduling.placement.objects import Cluster
from kalypso_actions.scheduling.placement.policies import Unit
from kalypso_actions.scheduling.placement.reconciliation import Scheduled


@dataclass(frozen=True, slots=True)
class Scored:
    """What was decided for a unit; `decisions` may be the last ones, if the Placement failed."""

    unit: Unit
    candidates: tuple[Cluster, ...]
    found: Scheduled
    decisions: tuple[Cluster, ...]


def steps(scored: Scored, name: str, hub: Hub, now: int) -> tuple[DecisionStep, ...]:
    """Return the steps of one cluster type, up to the one that drops it."""
    return tuple(_steps(scored, name, hub, now))


def _steps(scored: Scored, name: str, hub: Hub, now: int) -> Iterator[DecisionStep]:
    placement, found = scored.unit.placement, scored.found
    owner = f"Placement {placement.name}"
    chosen = name in {cluster.name for cluster in scored.decisions}
    if found.status.failed:
        detail = f"{found.status.message}; the last decision stays"
        yield DecisionStep(owner, detail, passed=chosen)
        return
    if name not in {cluster.name for cluster in scored.candidates}:
        sets = ", ".join(placement.cluster_sets)
        yield DecisionStep(f"{owner}: cluster sets", f"is in none of {sets}", passed=False)
        return
    for stage, names in found.filtered:
        plugin = stage.rpartition(",")[2]
        passed = name in names
        detail = "" if passed else _reason(scored, name, plugin, hub, now)
        yield DecisionStep(f"{owner}: {plugin}", detail, passed=passed)
        if not passed:
            return
    for result in found.prioritized:
        detail = f"{result.scores.get(name, 0)} × {result.weight}"
        yield DecisionStep(f"{owner}: {result.name}", detail)
    ranks = {cluster: rank for rank, (cluster, _) in enumerate(found.totals, 1)}
    total = dict(found.totals)[name]
    wanted = placement.number_of_clusters
    limit = "all" if wanted is None else str(wanted)
    detail = f"total {total}, place {ranks[name]} of {len(ranks)}, {limit} wanted"
    yield DecisionStep(f"{owner}: cut", detail, passed=chosen)


def _reason(scored: Scored, name: str, plugin: str, hub: Hub, now: int) -> str:
    placement = scored.unit.asked
    if plugin == "Predicate":
        count = len(placement.predicates)
        return (
            "does not match the predicate" if count == 1 else f"matches none of {count} predicates"
        )
    is_incumbent = name in hub.incumbents(placement)
    taint = untolerated_taint(hub.clusters[name], placement.tolerations, is_incumbent, now)
    return f"the taint {taint.key}={taint.value}:{taint.effect} is not tolerated" if taint else ""
