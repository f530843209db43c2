"""Digests of the keys and schemas of a fleet that apply to its assignments."""

from __future__ import annotations

import hashlib
import json
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping

from kalypso_actions.model.kinds import ClusterType, DeploymentTarget
from kalypso_actions.platform_config.matching import Applicable, LabelMasks


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
                for label in _labels(mask):
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
            for label in _labels(provided & self._shared_labels)
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


def _labels(mask: int) -> Iterator[int]:
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
