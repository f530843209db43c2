"""The digest of all keys and schemas of the fleet that apply to an assignment."""

from __future__ import annotations

import hashlib
import json
from collections import defaultdict
from collections.abc import Iterable, Mapping

from kalypso_actions.model.kinds import Assignment
from kalypso_actions.platform_config.matching import Applicable, LabelMasks


class ConfigDigests:
    """Digests of the objects that apply to a cluster type, to a target, and only to both together.

    This computes the first two once for each cluster type and target, because a fleet has a
    thousand times as many assignments.
    """

    def __init__(self, masks: LabelMasks, objects: Iterable[tuple[int, object]]) -> None:
        """`objects` are JSON values in their order, with the masks of the labels they require."""
        self._masks = masks
        self._digests = _digests_by_labels(objects)
        self._all: Applicable[None] = Applicable()
        self._of_several: Applicable[None] = Applicable()
        for mask in self._digests:
            self._all.add(mask, None)
            if mask.bit_count() > 1:
                self._of_several.add(mask, None)
        self._of_cluster_types: dict[str, bytes] = {}
        self._of_targets: dict[str, bytes] = {}

    def of(self, assignment: Assignment) -> bytes:
        """Return the digest of the objects that apply, and of their order."""
        cluster_type, target = assignment.cluster_type, assignment.target
        of_cluster_type = self._masks.of_cluster_type(cluster_type)
        of_target = self._masks.of_target(target)
        if cluster_type.name not in self._of_cluster_types:
            masks = self._all.masks_to(of_cluster_type)
            self._of_cluster_types[cluster_type.name] = self._together(masks)
        if target.name not in self._of_targets:
            self._of_targets[target.name] = self._together(self._all.masks_to(of_target))
        of_both = (
            mask
            for mask in self._of_several.masks_to(of_cluster_type | of_target)
            if mask & of_cluster_type != mask != mask & of_target
        )
        own = self._of_cluster_types[cluster_type.name] + self._of_targets[target.name]
        return own + b"".join(sorted(self._digests[mask] for mask in of_both))

    def _together(self, masks: Iterable[int]) -> bytes:
        digests = sorted(self._digests[mask] for mask in masks)
        return hashlib.sha256(b"".join(digests)).digest()


def _digests_by_labels(objects: Iterable[tuple[int, object]]) -> Mapping[int, bytes]:
    """Return a digest of the objects for each combination of labels."""
    groups: dict[int, list[object]] = defaultdict(list)
    for required, item in objects:
        groups[required].append(item)
    return {
        mask: hashlib.sha256(json.dumps(group).encode()).digest() for mask, group in groups.items()
    }
