"""Execute `spreadPolicy`, which OCM declares but never executes.

Clusters are chosen in order of preference. A cluster waits while its topology would have over
`maxSkew` more clusters than the topology with the fewest. A term with `ScheduleAnyway` is only a
preference; earlier terms take precedence.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from kalypso_placement.objects import Cluster, Placement, SpreadConstraint


def spread_evenly(placement: Placement, ordered: Sequence[Cluster]) -> Sequence[Cluster]:
    """Choose up to `numberOfClusters`, best first; without a number, as many as the terms allow.

    A required term excludes clusters without its key.
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
