"""Compute which files of an application's GitOps tree a run adds, changes, deletes and keeps."""

from __future__ import annotations

import posixpath
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final

from kalypso_actions.errors import Location, Problem
from kalypso_actions.model.application import (
    DESCRIPTOR_FILE,
    KUSTOMIZATION,
    KUSTOMIZATION_FILE,
    MANIFESTS_FILE,
    RECORD_FILE,
    ApplicationChanges,
    Target,
)
from kalypso_actions.model.documents import FILE_MODE, FileEntry
from kalypso_actions.model.layout import TRACKING_FOLDER
from kalypso_actions.model.object_ids import blob_id
from kalypso_actions.model.paths import bytewise
from kalypso_actions.planning.application.levels import folders_above
from kalypso_actions.planning.application.record import read_record

MAX_NAMED: Final = 100
"""The number of removed targets that a problem names."""


def compute_changes(
    files: Mapping[str, bytes], entries: Mapping[str, FileEntry], record: bytes | None
) -> ApplicationChanges:
    """Compare the files of a run with the existing tree and the record in it.

    The run deletes only generated files: those of the record or, in a tree that upstream wrote,
    those with upstream's names in a folder with a gen_manifests.yaml.
    """
    recorded = read_record(record)
    own = _upstreams_files(entries) if recorded is None else recorded.files
    present = [path for path in own if path in entries]
    targets = (recorded.targets if recorded else ()) or _folders_with_manifests(present)
    folders = {folder for path in present for folder in folders_above(path)}
    deleted = [
        path for path in present if path not in files and not path.startswith(f"{TRACKING_FOLDER}/")
    ]
    same = {
        path
        for path, content in files.items()
        if path in entries
        and (entries[path].mode, entries[path].object_id) == (FILE_MODE, blob_id(content))
    }
    return ApplicationChanges(
        files=files,
        added=_listed(files.keys() - entries.keys()),
        modified=_listed(path for path in files if path in entries and path not in same),
        deleted=_listed(deleted),
        unchanged=_listed(same),
        kept=_listed(entries.keys() - files.keys() - set(deleted)),
        edited=_listed(_edited(own, entries, same)),
        targets=tuple(folder for folder in targets if folder in folders),
    )


def removal(
    changes: ApplicationChanges, targets: Sequence[Target], percent: int, repository: str
) -> Problem | None:
    """Return the problem of a run that removes most targets of the tree; None for other runs.

    More than `percent` of the targets are too many, but one of several may always go, unless the
    limit is 0: an application with two targets that drops one is usual. A target that has become a
    group is not gone; `new_groups` reports it.
    """
    made = {target.folder for target in targets}
    made |= {parent for folder in made for parent in folders_above(folder)}
    gone = [folder for folder in changes.targets if folder not in made]
    count = len(changes.targets)
    limit = max(count * percent // 100, min(percent, 1))
    if not gone or len(gone) <= min(limit, count - 1):
        return None
    names = ", ".join(gone[:MAX_NAMED])
    names += f" and {len(gone) - MAX_NAMED} more" if len(gone) > MAX_NAMED else ""
    return Problem(
        f"{len(gone)} of {count} targets of the GitOps tree are gone from the configs, so their "
        f"manifests would be deleted: {names}",
        Location(repository),
        "check the configs; allow it with allow-removals, or raise max-removal-percent",
        "mass-removal",
    )


def edit_warnings(changes: ApplicationChanges, repository: str) -> Iterator[Problem]:
    """Warn of manual edits that the run overwrites or deletes."""
    for path in changes.edited:
        fate = "deletes" if path in changes.deleted else "overwrites"
        yield Problem(
            f"somebody has edited this generated file; the run {fate} it",
            Location(repository, path),
            "change the chart or the configs instead",
            "gitops-file-edited",
        )


def _folders_with_manifests(paths: Iterable[str]) -> list[str]:
    """Return the folders of a tree that have generated manifests, sorted."""
    folders = (posixpath.split(path) for path in paths)
    return sorted(folder for folder, name in folders if name == MANIFESTS_FILE and folder)


def _upstreams_files(entries: Mapping[str, FileEntry]) -> dict[str, str]:
    """Map each file that has one of upstream's names to the blob id of upstream's content.

    If upstream's content is unknown, map the file to the id of its present content.
    """
    own: dict[str, str] = {}
    for folder in _folders_with_manifests(entries):
        own[f"{folder}/{MANIFESTS_FILE}"] = ""
        own[f"{folder}/{KUSTOMIZATION_FILE}"] = blob_id(KUSTOMIZATION)
        own[f"{folder}/{DESCRIPTOR_FILE}"] = ""
    return {
        path: known or entries[path].object_id for path, known in own.items() if path in entries
    }


def _edited(
    own: Mapping[str, str], entries: Mapping[str, FileEntry], same: Iterable[str]
) -> Iterator[str]:
    unchanged = set(same)
    for path, object_id in own.items():
        entry = entries.get(path)
        if entry is not None and entry.object_id != object_id and path not in unchanged:
            yield path


def _listed(paths: Iterable[str]) -> tuple[str, ...]:
    own = (path for path in paths if path != RECORD_FILE)
    return tuple(bytewise(own))
