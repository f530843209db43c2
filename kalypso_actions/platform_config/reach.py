"""Find the labelled objects that apply to any possible pair of cluster type and target."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from kalypso_actions.model.kinds import ClusterType, DeploymentTarget
from kalypso_actions.platform_config.matching import NAMES, Label


class Reach:
    """The labels of cluster types and targets, by the rules of `LabelMasks`."""

    def __init__(
        self, cluster_types: Iterable[ClusterType], targets: Iterable[DeploymentTarget]
    ) -> None:
        self._cluster_types = _Side(
            _provided(item.labels, {"cluster-type": item.name}) for item in cluster_types
        )
        self._targets = _Side(
            _provided(item.labels, {"deployment-target": item.name, "workload": item.workload})
            for item in targets
        )

    def includes(self, labels: Sequence[Label]) -> bool:
        """Return whether a cluster type and a target have all these labels together."""
        needs = self._cluster_types.lacking(labels)
        return any(not need or self._targets.has(need) for need in needs) or self._targets.has(
            labels
        )

    def labels(self) -> Iterator[Mapping[str, str]]:
        """Return the labels of each cluster type and target, with their names."""
        yield from self._cluster_types.objects
        yield from self._targets.objects


class _Side:
    """Labelled objects, and the numbers of the objects that have a label."""

    def __init__(self, objects: Iterable[Mapping[str, str]]) -> None:
        self.objects = list(objects)
        self._having: dict[Label, set[int]] = {}
        for number, labels in enumerate(self.objects):
            for label in labels.items():
                self._having.setdefault(label, set()).add(number)

    def has(self, labels: Iterable[Label]) -> bool:
        """Return whether one object has all these labels."""
        return bool(set.intersection(*(self._with(label) for label in labels)))

    def lacking(self, labels: Sequence[Label]) -> set[tuple[Label, ...]]:
        """Return the labels that each object lacks, each combination once."""
        having = [(label, self._with(label)) for label in labels]
        some = set[int]().union(*(numbers for _, numbers in having))
        lacking = {
            tuple(label for label, numbers in having if number not in numbers) for number in some
        }
        return lacking if len(some) == len(self.objects) else {*lacking, tuple(labels)}

    def _with(self, label: Label) -> set[int]:
        key, value = label
        if value or key in NAMES:
            return self._having.get(label, set())
        return {number for number, item in enumerate(self.objects) if not item.get(key)}


def _provided(labels: Mapping[str, str], names: Mapping[str, str]) -> dict[str, str]:
    return {**{key: value for key, value in labels.items() if key not in NAMES}, **names}
