"""Which files of a GitOps tree are ours, told by its layout alone."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Final

from kalypso_actions.model.documents import FileEntry
from kalypso_actions.model.history import FileVersion
from kalypso_actions.model.layout import (
    PROMOTED_COMMIT_FILE,
    README_FILE,
    README_TEXT,
    SOURCES_FILE,
    TARGET_FILES,
)
from kalypso_actions.model.object_ids import blob_id

README_ID: Final = blob_id(README_TEXT)


def in_folder(paths: Iterable[str], folder: str) -> Iterator[tuple[str, list[str]]]:
    """Every path below `folder` ("" for the root), and its segments from there."""
    prefix = f"{folder}/" if folder else ""
    for path in paths:
        if path.startswith(prefix):
            yield path, path[len(prefix) :].split("/")


def cluster_type_folders(
    entries: Mapping[str, FileEntry | FileVersion], folder: str, cluster_types: Collection[str]
) -> frozenset[str]:
    """The folders of cluster types: of those that exist, and of others whose README.md is ours."""
    former = (
        segments[0]
        for path, segments in in_folder(entries, folder)
        if len(segments) == 2
        and segments[1] == README_FILE
        and entries[path].object_id == README_ID
        and not segments[0].startswith(".")
    )
    return frozenset(cluster_types) | frozenset(former)


def is_own(segments: list[str], cluster_types: Collection[str]) -> bool:
    """Whether a file at this place of the tree is ours; `cluster_types` are their folders."""
    place = "/".join(segments)
    if place in {PROMOTED_COMMIT_FILE, SOURCES_FILE}:
        return True
    if segments[0] not in cluster_types:
        return False
    return segments[1:] == [README_FILE] or (len(segments) == 3 and segments[2] in TARGET_FILES)


def changes_own(
    paths: Iterable[str],
    entries: Mapping[str, FileEntry],
    folder: str,
    cluster_types: Iterable[str],
) -> bool:
    """Whether any of these paths is, or would be, a file of ours in the tree of `entries`."""
    folders = cluster_type_folders(entries, folder, frozenset(cluster_types))
    return any(is_own(segments, folders) for _, segments in in_folder(paths, folder))


def own_content(
    entries: Mapping[str, FileEntry | FileVersion], folder: str, cluster_types: Collection[str]
) -> dict[str, FileVersion]:
    """The version of every file of ours, `sources.json` left out, which alone is no change.

    Two trees of which this is equal say the same.
    """
    folders = cluster_type_folders(entries, folder, cluster_types)
    return {
        path: FileVersion(entries[path].mode, entries[path].object_id)
        for path, segments in in_folder(entries, folder)
        if is_own(segments, folders) and "/".join(segments) != SOURCES_FILE
    }


def assigned_cluster_types(
    entries: Mapping[str, FileEntry], folder: str, cluster_types: Collection[str]
) -> frozenset[str]:
    """The cluster types that a tree assigns anything to; `cluster_types` are those that exist."""
    folders = cluster_type_folders(entries, folder, cluster_types)
    return frozenset(
        segments[0]
        for _, segments in in_folder(entries, folder)
        if len(segments) == 3 and segments[0] in folders and segments[2] in TARGET_FILES
    )
