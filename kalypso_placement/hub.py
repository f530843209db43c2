"""A hub: clusters, sets, bindings, earlier decisions and scores, indexed for many placements."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from kalypso_actions.model.kubernetes_names import LABEL_LIMIT
from kalypso_actions.scheduling.selectors import compile_selector
from kalypso_placement.objects import (
    SET_LABEL,
    Cluster,
    ClusterSet,
    Decisions,
    Placement,
    Score,
)


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
    decisions: Sequence[Decisions]
    scores: Mapping[tuple[str, str], Score]
    _members: dict[str, tuple[Cluster, ...]] = field(default_factory=dict)
    _counts: Counter[str] | None = None

    @classmethod
    def of(
        cls,
        clusters: Iterable[Cluster],
        sets: Iterable[ClusterSet],
        bindings: Mapping[str, Sequence[str]],
        decisions: Iterable[Decisions] = (),
        scores: Iterable[Score] = (),
    ) -> Hub:
        """Index the objects."""
        return cls(
            {cluster.name: cluster for cluster in sorted(clusters, key=lambda c: c.name)},
            {item.name: item for item in sets},
            bindings,
            tuple(decisions),
            {(score.cluster, score.name): score for score in scores},
        )

    def bound_sets(self, namespace: str) -> list[str]:
        """Return the sets that exist and are bound to a namespace, sorted."""
        return sorted({name for name in self.bindings.get(namespace, ()) if name in self.sets})

    def set_members(self, members: Mapping[str, Sequence[Cluster]]) -> None:
        """Set the clusters of sets that have neither a label nor a selector."""
        self._members = {name: tuple(clusters) for name, clusters in members.items()}

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

    def is_own(self, decision: Decisions, placement: Placement) -> bool:
        """Whether a PlacementDecision belongs to a placement."""
        return decision.placement == placement.name and decision.namespace == placement.namespace

    def incumbents(self, placement: Placement) -> set[str]:
        """Return the clusters selected so far; none if the name is not a valid label value."""
        if len(placement.name) > LABEL_LIMIT:
            return set()
        own = (d for d in self.decisions if self.is_own(d, placement))
        return {cluster for decision in own for cluster in decision.clusters}

    def counts_of_others(self, placement: Placement) -> tuple[Mapping[str, int], int]:
        """Return how often other placements selected each cluster, and the largest count."""
        if self._counts is None:
            self._counts = Counter(c for decision in self.decisions for c in decision.clusters)
        own = Counter(c for d in self.decisions if self.is_own(d, placement) for c in d.clusters)
        counts = self._counts - own if own else self._counts
        return counts, max(counts.values(), default=0)
