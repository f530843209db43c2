"""Which labelled things apply to which pair of cluster type and target.

A thing (a ConfigMap, a schema, a key of Azure App Configuration) carries terms, `label = value`.
It applies where each term holds for the cluster type or for the target. As pairs are many and
terms few, each distinct term gets a bit: a side's bits are found once, a pair's are their union.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from kalypso_actions.model import kinds

_NOT_TERMS = frozenset(
    {kinds.PLATFORM_CONFIG_LABEL, kinds.FLUX_NAME_LABEL, kinds.FLUX_NAMESPACE_LABEL}
)

_SPECIAL = frozenset({"cluster-type", "deployment-target", "workload"})
"""Terms of these speak of a name, never of a label of the same key."""

Term = tuple[str, str]


def terms_of(labels: Mapping[str, str]) -> tuple[Term, ...]:
    """The labels that decide where something applies."""
    return tuple(sorted(item for item in labels.items() if item[0] not in _NOT_TERMS))


class Terms:
    """The distinct terms of a fleet's configuration, a bit each."""

    def __init__(self) -> None:
        self._bits: dict[Term, int] = {}
        self._empty: dict[str, int] = {}
        self._held_by_cluster_type: dict[str, int] = {}
        self._held_by_target: dict[str, int] = {}

    def mask(self, terms: Iterable[Term]) -> int:
        """The bits that must all be held for something with these terms to apply."""
        mask = 0
        for term in terms:
            bit = self._bits.setdefault(term, 1 << len(self._bits))
            mask |= bit
            if term[1] == "" and term[0] not in _SPECIAL:
                self._empty[term[0]] = bit
        return mask

    def held(self, assignment: kinds.Assignment) -> int:
        """The bits of every term that holds for the assignment, once all masks are made."""
        cluster_type, target = assignment.cluster_type, assignment.target
        of_cluster_type = self._held_by_cluster_type.get(cluster_type.name)
        if of_cluster_type is None:
            of_cluster_type = self._held_by_cluster_type[cluster_type.name] = self._union(
                cluster_type.labels, {"cluster-type": cluster_type.name}
            )
        of_target = self._held_by_target.get(target.name)
        if of_target is None:
            of_target = self._held_by_target[target.name] = self._union(
                target.labels, {"deployment-target": target.name, "workload": target.workload}
            )
        return of_cluster_type | of_target

    def _union(self, labels: Mapping[str, str], own: Mapping[str, str]) -> int:
        """The bits that labels and special terms hold; an absent label reads as the empty text."""
        pairs = [*own.items(), *(pair for pair in labels.items() if pair[0] not in _SPECIAL)]
        held = 0
        for pair in pairs:
            held |= self._bits.get(pair, 0)
        for key, bit in self._empty.items():
            if not labels.get(key):
                held |= bit
        return held
