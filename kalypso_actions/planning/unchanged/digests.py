"""Compute digests of everything that decides the files of assignments.

There is one digest for all assignments of each cluster type, and one for those of each target, so
there are far fewer digests than assignments. `same_inputs` compares them with those of
an earlier run. Rendering uses neither a clock nor random numbers: equal digests mean equal files.
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Sequence
from typing import Final

from kalypso_actions import rendering
from kalypso_actions.gitops.provenance import InputsRecord
from kalypso_actions.model.kinds import Assignment, ClusterType, DeploymentTarget, Fleet
from kalypso_actions.platform_config import PlatformConfig

LENGTH: Final = 32
"""Hexadecimal digits of a digest."""


def input_digests(
    fleet: Fleet,
    platform_config: PlatformConfig,
    layout: rendering.Options,
    code: str,
    assignments: Sequence[Assignment],
) -> InputsRecord:
    """Return the digests of all assignments; `code` identifies the code that renders.

    The digest of a cluster type changes with its own inputs, with those of each target that it
    gets, and with the configuration that applies to both together; that of a target likewise.
    """
    inputs = _Inputs(fleet, platform_config, layout, code, assignments)
    of_both: dict[str, Callable[[DeploymentTarget], bytes]] = {}
    cluster_types: dict[str, list[bytes]] = {}
    targets: dict[str, list[bytes]] = {}
    for item in assignments:
        cluster_type, target = item.cluster_type.name, item.target.name
        if cluster_type not in cluster_types:
            cluster_types[cluster_type] = [inputs.of_cluster_type(item.cluster_type)]
            of_both[cluster_type] = platform_config.digests.of_both(item.cluster_type)
        if target not in targets:
            targets[target] = [inputs.of_target(item.target)]
        both = of_both[cluster_type](item.target)
        cluster_types[cluster_type].append(targets[target][0] + both)
        targets[target].append(cluster_types[cluster_type][0] + both)
    return InputsRecord(
        cluster_types={name: _joined(digests) for name, digests in cluster_types.items()},
        targets={name: _joined(digests) for name, digests in targets.items()},
    )


def without_folders(record: InputsRecord, unfit: Collection[str]) -> InputsRecord:
    """Return a record without the `unfit` folders, which a later run has to render again.

    These folders have failures or warnings, which the tree does not contain.
    """
    without = [folder.partition("/") for folder in unfit]
    unfit_types = {cluster_type for cluster_type, _, _ in without}
    unfit_targets = {target for _, _, target in without}
    return InputsRecord(
        cluster_types={
            name: None if name in unfit_types else digest
            for name, digest in record.cluster_types.items()
        },
        targets={name: None if name in unfit_targets else d for name, d in record.targets.items()},
    )


class _Inputs:
    """The digests of a cluster type and of a target alone, with what applies to each of them."""

    def __init__(
        self,
        fleet: Fleet,
        platform_config: PlatformConfig,
        layout: rendering.Options,
        code: str,
        assignments: Sequence[Assignment],
    ) -> None:
        self._config = platform_config.digests
        self._common = _digest([code, fleet.environment, layout.namespace_scheme])
        self._common += _digest([layout.config_file, layout.registration_text])
        self._templates = {
            item.name: _digest(
                [item.type, item.content_type, item.manifests, [*item.annotations.items()]]
            )
            for item in fleet.templates
        }
        self._registered = Counter(item.target.registration for item in assignments)

    def of_cluster_type(self, item: ClusterType) -> bytes:
        names = (item.reconciler, item.namespace_service, item.config_type)
        templates = b"".join(self._templates.get(name, bytes(32)) for name in names)
        own = self._common + _digest([item.name, names]) + templates
        return _hashed(own + self._config.of_cluster_type(item))

    def of_target(self, item: DeploymentTarget) -> bytes:
        own = _digest(
            [
                item.name,
                item.workload,
                item.workspace,
                [*item.labels.items()],
                [*item.manifests.items()],
                item.config_schemas,
                item.registration,
                self._share(item.registration),
            ]
        )
        return _hashed(own + self._config.of_target(item))

    def _share(self, registration: str) -> int:
        """Return the share of each assignment in the excess of its registration."""
        count = self._registered[registration]
        return rendering.share_of_registration(count) if registration else 0


def _joined(digests: Iterable[bytes]) -> str:
    return hashlib.sha256(b"".join(digests)).hexdigest()[:LENGTH]


def _digest(value: object) -> bytes:
    """Return the digest of strings and collections; the order of keys counts."""
    return _hashed(json.dumps(value, default=repr).encode())


def _hashed(content: bytes) -> bytes:
    return hashlib.sha256(content).digest()
