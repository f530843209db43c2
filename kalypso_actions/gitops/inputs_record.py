"""The digests of inputs in a tree's `sources.json`, and the folders that they show to be unchanged.

`kalypso_actions.input_digests` computes the digest of each assignment. The record has a digest for
each cluster type, over the inputs of all its assignments, and one for each target. A folder is
unchanged if either of its two digests is unchanged: a changed value of a target does not affect the
digests of other targets, and a changed value of a cluster type does not affect those of other
cluster types. There are far fewer digests than assignments.

Anybody with write access to the GitOps repository can change `sources.json` and the files together.
A run therefore records the id of each tree that it writes in a place that they cannot change: in a
status of the control plane, or in the settings of a repository on this machine. Only a tree with a
recorded id has unchanged folders.
"""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Final

from kalypso_actions.gitops.provenance import InputsRecord, read_sources, recorded_inputs
from kalypso_actions.model.layout import TARGET_FILES
from kalypso_actions.model.object_ids import blob_id
from kalypso_actions.model.tree import BaseTree

LENGTH: Final = 32
"""Hexadecimal digits of a digest of inputs."""

ID_LENGTH: Final = 24
"""Hexadecimal digits of a tree's id; the description of a status is short."""


def record_inputs(digests: Mapping[str, bytes]) -> InputsRecord:
    """Return the record of a tree; `digests` has the inputs of each `<cluster type>/<target>`."""
    cluster_types, targets = _by_names(digests)
    return InputsRecord(cluster_types=cluster_types, targets=targets)


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


def unchanged_folders(
    bases: Sequence[BaseTree], environment: str, folders: Iterable[str], now: InputsRecord
) -> dict[str, tuple[str, ...]]:
    """Return the folders that all base trees have with the same inputs, and their files' names.

    `now` is the record of the present inputs of `folders`. A tree counts only if a run wrote it and
    nobody has changed it since.
    """
    sources = [read_sources(base.sources, environment) for base in bases if base.is_as_written]
    records = [item.inputs for item in sources if item and item.inputs]
    if len(records) < max(1, len(bases)):
        return {}
    return _files(bases[0], _unchanged(records, folders, now))


def _unchanged(
    records: Iterable[InputsRecord], folders: Iterable[str], now: InputsRecord
) -> frozenset[str]:
    """Return the folders whose present inputs equal the inputs in every record."""
    unchanged = set(folders)
    for record in records:
        same_types = {
            name for name, d in now.cluster_types.items() if record.cluster_types.get(name) == d
        }
        same_targets = {name for name, d in now.targets.items() if record.targets.get(name) == d}
        unchanged = {
            folder
            for folder in unchanged
            for cluster_type, _, target in [folder.partition("/")]
            if cluster_type in same_types or target in same_targets
        }
    return frozenset(unchanged)


def _files(base: BaseTree, folders: Iterable[str]) -> dict[str, tuple[str, ...]]:
    """Return the names of our files in each of the folders of a tree."""
    prefix = f"{base.path}/" if base.path else ""
    return {
        folder: tuple(name for name in TARGET_FILES if f"{prefix}{folder}/{name}" in base.entries)
        for folder in folders
    }


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


def _by_names(digests: Mapping[str, bytes]) -> tuple[dict[str, str], dict[str, str]]:
    """Return a digest for each cluster type and for each target."""
    cluster_types: dict[str, list[tuple[str, bytes]]] = defaultdict(list)
    targets: dict[str, list[tuple[str, bytes]]] = defaultdict(list)
    for folder, digest in digests.items():
        cluster_type, _, target = folder.partition("/")
        cluster_types[cluster_type].append((target, digest))
        targets[target].append((cluster_type, digest))
    return _together(cluster_types), _together(targets)


def _together(groups: Mapping[str, list[tuple[str, bytes]]]) -> dict[str, str]:
    combined = {}
    for name, items in groups.items():
        sha256 = hashlib.sha256()
        for other, digest in sorted(items):
            sha256.update(b"%s/" % other.encode() + digest)
        combined[name] = sha256.hexdigest()[:LENGTH]
    return combined
