"""The digests of inputs in a tree's `sources.json`, which `input_digests` computes, and its id.

Anybody with write access to the GitOps repository can change `sources.json` and the files together.
A run therefore records the id of each tree that it writes in a place that they cannot change: in a
status of the control plane, or in the settings of a repository on this machine. Only a tree with a
recorded id has unchanged folders.
"""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Mapping
from typing import Final

from kalypso_actions.gitops.provenance import InputsRecord, recorded_inputs
from kalypso_actions.model.object_ids import blob_id

ID_LENGTH: Final = 24
"""Hexadecimal digits of a tree's id; the description of a status is short."""


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


def tree_id(sources: bytes | None, folders: Mapping[str, str]) -> str:
    """Return the id of a tree, a digest of `sources.json` and the folders of its cluster types.

    `folders` has git's id of each folder. Other files of the repository do not count. A tree
    without a record of its inputs has the id "".
    """
    inputs = recorded_inputs(sources)
    if sources is None or inputs is None:
        return ""
    lines: list[str] = [blob_id(sources)]
    lines += [f"{folders.get(name)} {name}" for name in sorted(inputs.cluster_types)]
    text = "\n".join(lines).encode("utf-8", "surrogateescape")
    return hashlib.sha256(text).hexdigest()[:ID_LENGTH]
