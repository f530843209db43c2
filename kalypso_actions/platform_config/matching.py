"""Find the labelled objects that apply to an assignment.

An object (a ConfigMap, a schema, a key of Azure App Configuration) applies to an assignment if the
cluster type or the target has each of its labels. There are many assignments and few labels, so
each distinct label gets a bit. `LabelMasks` computes once the mask of the labels that an object
requires, and the masks of the labels that a cluster type and a target provide.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Generic, TypeVar

from kalypso_actions.model import kinds

Item = TypeVar("Item")

_NOT_MATCHED = frozenset(
    {kinds.PLATFORM_CONFIG_LABEL, kinds.FLUX_NAME_LABEL, kinds.FLUX_NAMESPACE_LABEL}
)

NAMES = frozenset({"cluster-type", "deployment-target", "workload"})
"""Labels that match only names, never a label with the same key."""

Label = tuple[str, str]


def matched_labels(labels: Mapping[str, str]) -> tuple[Label, ...]:
    """Return the labels of an object that decide where it applies."""
    return tuple(sorted(item for item in labels.items() if item[0] not in _NOT_MATCHED))


class LabelMasks:
    """The distinct labels that a fleet's configuration requires, with a bit each."""

    def __init__(self) -> None:
        self._bits: dict[Label, int] = {}
        self._empty: dict[str, int] = {}
        self._of_cluster_types: dict[str, int] = {}
        self._of_targets: dict[str, int] = {}

    def required(self, labels: Iterable[Label]) -> int:
        """Return the mask of the labels that an object requires."""
        mask = 0
        for label in labels:
            bit = self._bits.setdefault(label, 1 << len(self._bits))
            mask |= bit
            if label[1] == "" and label[0] not in NAMES:
                self._empty[label[0]] = bit
        return mask

    def provided(self, assignment: kinds.Assignment) -> int:
        """Return the mask of an assignment's labels; call `required` for all objects first."""
        return self.of_cluster_type(assignment.cluster_type) | self.of_target(assignment.target)

    def of_cluster_type(self, cluster_type: kinds.ClusterType) -> int:
        """Return the mask of a cluster type's labels and name."""
        mask = self._of_cluster_types.get(cluster_type.name)
        if mask is None:
            names = {"cluster-type": cluster_type.name}
            mask = self._of_cluster_types[cluster_type.name] = self._mask(
                cluster_type.labels, names
            )
        return mask

    def of_target(self, target: kinds.DeploymentTarget) -> int:
        """Return the mask of a target's labels and names."""
        mask = self._of_targets.get(target.name)
        if mask is None:
            names = {"deployment-target": target.name, "workload": target.workload}
            mask = self._of_targets[target.name] = self._mask(target.labels, names)
        return mask

    def _mask(self, labels: Mapping[str, str], names: Mapping[str, str]) -> int:
        """Return the mask of labels and names; an absent label counts as an empty one."""
        mask = 0
        for label in (*names.items(), *(item for item in labels.items() if item[0] not in NAMES)):
            mask |= self._bits.get(label, 0)
        for key, bit in self._empty.items():
            if not labels.get(key):
                mask |= bit
        return mask


class Applicable(Generic[Item]):
    """Labelled objects, found by the labels that an assignment provides.

    A fleet has thousands of objects, and only a few apply to an assignment. Each object is stored
    under one of its labels, so a lookup visits only the objects under the labels provided.
    """

    def __init__(self) -> None:
        self._objects: list[tuple[int, Item]] = []
        self._labels = 0
        self._by_label: dict[int, list[int]] = {}
        self._masks: dict[int, dict[int, None]] = {}

    def __iter__(self) -> Iterator[Item]:
        return (item for _, item in self._objects)

    def add(self, required: int, item: Item) -> None:
        """Add an object that requires the labels of a mask."""
        label = required.bit_length()
        self._labels |= 1 << label >> 1
        self._by_label.setdefault(label, []).append(len(self._objects))
        self._masks.setdefault(label, {})[required] = None
        self._objects.append((required, item))

    def with_masks(self) -> Iterator[tuple[int, Item]]:
        """Yield all objects with the masks of the labels that they require."""
        return iter(self._objects)

    def masks_to(self, provided: int) -> list[int]:
        """Return the masks of the objects that apply, each once."""
        masks = [*self._masks.get(0, ())]
        for label in self._labels_of(provided):
            masks += [mask for mask in self._masks[label] if mask & provided == mask]
        return masks

    def to(self, provided: int) -> list[Item]:
        """Return the objects that need no other labels than `provided`, in their order."""
        positions = [*self._by_label.get(0, ())]
        for label in self._labels_of(provided):
            positions += self._by_label[label]
        objects = (self._objects[position] for position in sorted(positions))
        return [item for required, item in objects if required & provided == required]

    def _labels_of(self, provided: int) -> Iterator[int]:
        """Yield the numbers (from 1) of the provided labels under which objects are stored."""
        remaining = provided & self._labels
        while remaining:
            label = remaining.bit_length()
            yield label
            remaining ^= 1 << (label - 1)
