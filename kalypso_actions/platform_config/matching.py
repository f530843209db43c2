"""Find the labelled objects that apply to an assignment, and digest them.

An object (a ConfigMap, a schema, a key of Azure App Configuration) applies to an assignment if the
cluster type or the target has each of its labels. There are many assignments and few labels, so
each distinct label gets a bit. `LabelMasks` computes once the mask of the labels that an object
requires, and the masks of the labels that a cluster type and a target provide.
"""

from __future__ import annotations

import hashlib
import json
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Generic, TypeVar

from kalypso_actions.model import kinds
from kalypso_actions.model.kinds import ClusterType, DeploymentTarget

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


def labels_of(item: kinds.ClusterType | kinds.DeploymentTarget) -> dict[str, str]:
    """Return the labels of a cluster type or a target, with its names in place of such labels."""
    if isinstance(item, kinds.ClusterType):
        names = {"cluster-type": item.name}
    else:
        names = {"deployment-target": item.name, "workload": item.workload}
    return {**{key: value for key, value in item.labels.items() if key not in NAMES}, **names}


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
            mask = self._of_cluster_types[cluster_type.name] = self._mask(labels_of(cluster_type))
        return mask

    def of_target(self, target: kinds.DeploymentTarget) -> int:
        """Return the mask of a target's labels and names."""
        mask = self._of_targets.get(target.name)
        if mask is None:
            mask = self._of_targets[target.name] = self._mask(labels_of(target))
        return mask

    def _mask(self, labels: Mapping[str, str]) -> int:
        """Return the mask of labels; an absent label counts as an empty one."""
        mask = 0
        for label in labels.items():
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


class ConfigDigests:
    """Digests of the objects that apply to a cluster type, to a target, and only to both together.

    A fleet has a thousand times as many assignments as cluster types and targets, and few objects
    require labels of both.
    """

    def __init__(self, masks: LabelMasks, objects: Iterable[tuple[int, object]]) -> None:
        """`objects` are JSON values in their order, with the masks of the labels they require."""
        self._masks = masks
        self._digests = _digests_by_labels(objects)
        self._all: Applicable[None] = Applicable()
        self._by_label: defaultdict[int, list[int]] = defaultdict(list)
        for mask in self._digests:
            self._all.add(mask, None)
            if mask.bit_count() > 1:
                for label in _bits_of(mask):
                    self._by_label[label].append(mask)
        self._shared_labels = sum(self._by_label)

    def of_cluster_type(self, cluster_type: ClusterType) -> bytes:
        """Return the digest of the objects that apply to a cluster type, and of their order."""
        return self._together(self._all.masks_to(self._masks.of_cluster_type(cluster_type)))

    def of_target(self, target: DeploymentTarget) -> bytes:
        """Return the digest of the objects that apply to a target, and of their order."""
        return self._together(self._all.masks_to(self._masks.of_target(target)))

    def of_both(self, cluster_type: ClusterType) -> Callable[[DeploymentTarget], bytes]:
        """Return a function that digests the objects for a target on this cluster type alone.

        These are objects that require labels of both.
        """
        provided = self._masks.of_cluster_type(cluster_type)
        masks = {
            mask
            for label in _bits_of(provided & self._shared_labels)
            for mask in self._by_label[label]
            if mask & provided != mask
        }
        lacking = sorted((self._digests[mask], mask & ~provided) for mask in masks)
        labels = 0
        for _, rest in lacking:
            labels |= rest

        def of(target: DeploymentTarget) -> bytes:
            of_target = self._masks.of_target(target)
            if not of_target & labels:
                return b""
            return b"".join([digest for digest, rest in lacking if rest & of_target == rest])

        return of

    def _together(self, masks: Iterable[int]) -> bytes:
        digests = sorted(self._digests[mask] for mask in masks)
        return hashlib.sha256(b"".join(digests)).digest()


def _bits_of(mask: int) -> Iterator[int]:
    """Yield the bit of each label in a mask."""
    while mask:
        lowest = mask & -mask
        yield lowest
        mask ^= lowest


def _digests_by_labels(objects: Iterable[tuple[int, object]]) -> Mapping[int, bytes]:
    """Return a digest of the objects for each combination of labels."""
    groups: dict[int, list[object]] = defaultdict(list)
    for required, item in objects:
        groups[required].append(item)
    return {
        mask: hashlib.sha256(json.dumps(group).encode()).digest() for mask, group in groups.items()
    }


class Reach:
    """The labels of cluster types and targets, by the rules of `LabelMasks`."""

    def __init__(
        self, cluster_types: Iterable[ClusterType], targets: Iterable[DeploymentTarget]
    ) -> None:
        self._cluster_types = _Side(map(labels_of, cluster_types))
        self._targets = _Side(map(labels_of, targets))

    def includes(self, labels: Sequence[Label]) -> bool:
        """Return whether a cluster type and a target have all these labels together."""
        needs = self._cluster_types.lacking(labels)
        return any(not need or self._targets.has(need) for need in needs) or self._targets.has(
            labels
        )

    def beside(self, labels: Sequence[Label]) -> Mapping[str, set[str]]:
        """Return the values that labels of a cluster type and a target with `labels` may have.

        Some may still not occur together: see `includes`.
        """
        values: defaultdict[str, set[str]] = defaultdict(set)
        for side, other in (
            (self._cluster_types, self._targets),
            (self._targets, self._cluster_types),
        ):
            own = tuple(label for label in labels if not other.has([label]))
            for key, of_side in side.values(own).items():
                values[key] |= of_side
        return values

    def labels(self) -> Iterator[Mapping[str, str]]:
        """Return the labels of each cluster type and target, with their names."""
        yield from self._cluster_types.objects
        yield from self._targets.objects


class _Side:
    """Labelled objects, and the numbers of the objects that have a label."""

    def __init__(self, objects: Iterable[Mapping[str, str]]) -> None:
        self.objects = list(objects)
        self._having: dict[Label, set[int]] = {}
        self._values: dict[tuple[Label, ...], Mapping[str, set[str]]] = {}
        for number, labels in enumerate(self.objects):
            for label in labels.items():
                self._having.setdefault(label, set()).add(number)

    def has(self, labels: Iterable[Label]) -> bool:
        """Return whether one object has all these labels."""
        return bool(set.intersection(*(self._with(label) for label in labels)))

    def values(self, labels: tuple[Label, ...]) -> Mapping[str, set[str]]:
        """Return the values of each label of the objects that have all these labels."""
        if labels not in self._values:
            found: defaultdict[str, set[str]] = defaultdict(set)
            everywhere = set(range(len(self.objects)))
            for number in everywhere.intersection(*map(self._with, labels)):
                for key, value in self.objects[number].items():
                    found[key].add(value)
            self._values[labels] = found
        return self._values[labels]

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
