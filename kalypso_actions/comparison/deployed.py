"""Two merged trees of environments: their assignments and files."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from kalypso_actions.model.differences import AssignmentName, Change
from kalypso_actions.model.documents import FileEntry
from kalypso_actions.model.layout import TARGET_FILES
from kalypso_actions.model.tree import BaseTree


def manifest_entries(tree: BaseTree) -> dict[str, FileEntry]:
    """Return our manifests by their paths in the folder of the tree."""
    prefix = f"{tree.path}/" if tree.path else ""
    return {
        path.removeprefix(prefix): entry
        for path, entry in tree.entries.items()
        if path.startswith(prefix) and _is_manifest(path.removeprefix(prefix))
    }


def differing_paths(
    base: Mapping[str, FileEntry], head: Mapping[str, FileEntry]
) -> Iterator[tuple[str, Change]]:
    """Yield the paths that only one side has, or whose content differs, sorted."""
    for path in sorted(base.keys() | head.keys()):
        old, new = base.get(path), head.get(path)
        if old is None:
            yield path, "added"
        elif new is None:
            yield path, "deleted"
        elif (old.mode, old.object_id) != (new.mode, new.object_id):
            yield path, "modified"


def assignment_names(environment: str, paths: Iterable[str]) -> frozenset[AssignmentName]:
    """Return the assignments whose folders have these manifests."""
    folders = (path.split("/") for path in paths)
    return frozenset(AssignmentName(environment, folder[0], folder[1]) for folder in folders)


def _is_manifest(path: str) -> bool:
    segments = path.split("/")
    return len(segments) == 3 and segments[2] in TARGET_FILES and not path.startswith(".")
