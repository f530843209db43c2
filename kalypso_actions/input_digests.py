"""Compute, for each assignment, one digest of everything that decides its files.

`gitops.inputs_record` keeps these digests in the tree and compares them with those of a later run.
Rendering uses neither a clock nor random numbers: equal digests mean equal files.
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Mapping, Sequence

from kalypso_actions import rendering
from kalypso_actions.model.kinds import Assignment, ClusterType, DeploymentTarget, Fleet
from kalypso_actions.platform_config import PlatformConfig


def input_digests(
    fleet: Fleet,
    platform_config: PlatformConfig,
    layout: rendering.Options,
    code: str,
    assignments: Sequence[Assignment],
) -> dict[str, bytes]:
    """Return a digest for each assignment's folder; `code` identifies the code that renders."""
    common = _digest([code, fleet.environment, layout.namespace_scheme, layout.config_file])
    common += _digest(layout.registration_text)
    templates = {
        item.name: _digest(
            [item.type, item.content_type, item.manifests, [*item.annotations.items()]]
        )
        for item in fleet.templates
    }
    registered = Counter(item.target.registration for item in assignments)
    cluster_types: dict[str, bytes] = {}
    targets: dict[str, bytes] = {}
    digests = {}
    for item in assignments:
        cluster_type, target = item.cluster_type, item.target
        if cluster_type.name not in cluster_types:
            cluster_types[cluster_type.name] = common + _of_cluster_type(cluster_type, templates)
        if target.name not in targets:
            targets[target.name] = _of_target(target, registered[target.registration])
        parts = cluster_types[cluster_type.name] + targets[target.name]
        config = platform_config.applied_digest(item)
        digests[item.folder] = hashlib.sha256(parts + config).digest()
    return digests


def _of_cluster_type(cluster_type: ClusterType, templates: Mapping[str, bytes]) -> bytes:
    names = (cluster_type.reconciler, cluster_type.namespace_service, cluster_type.config_type)
    own = _digest([cluster_type.name, names])
    return own + b"".join(templates.get(name, bytes(32)) for name in names)


def _of_target(target: DeploymentTarget, assignments: int) -> bytes:
    """Return the digest of a target; `assignments` counts those of its registration."""
    share = rendering.share_of_registration(assignments) if target.registration else 0
    return _digest(
        [
            target.name,
            target.workload,
            target.workspace,
            [*target.labels.items()],
            [*target.manifests.items()],
            target.config_schemas,
            target.registration,
            share,
        ]
    )


def _digest(value: object) -> bytes:
    """Return the digest of strings and collections; the order of keys counts."""
    return hashlib.sha256(json.dumps(value, default=repr).encode()).digest()
