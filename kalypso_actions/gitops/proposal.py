"""What a run wants to stand in the tree."""

from __future__ import annotations

import posixpath
from collections.abc import Mapping
from dataclasses import dataclass, field

from kalypso_actions.errors import KalypsoError, Location
from kalypso_actions.model.layout import (
    PROMOTED_COMMIT_FILE,
    README_FILE,
    README_TEXT,
    SOURCES_FILE,
)


@dataclass(frozen=True, slots=True)
class Kept:
    """Target folders that stay as they are, because what belongs into them is not known.

    `folders` are `<cluster type>/<target>`; `targets` are kept in every cluster type. Where not
    even the names of the targets are known, all are kept but those of `all_but`.
    """

    folders: frozenset[str] = frozenset()
    targets: frozenset[str] = frozenset()
    all_but: frozenset[str] | None = None

    def keeps(self, cluster_type: str, target: str) -> bool:
        """Whether this folder stays as it is."""
        unknown = self.all_but is not None and target not in self.all_but
        return unknown or target in self.targets or f"{cluster_type}/{target}" in self.folders


@dataclass(frozen=True, slots=True)
class Proposal:
    """The content of one environment's tree.

    `folders` maps `<cluster type>/<target>` to its files; `cluster_types` are all of the fleet,
    scheduled or not. Without a `promoted_commit` the tracking file stays as it is.
    """

    cluster_types: tuple[str, ...]
    folders: Mapping[str, Mapping[str, bytes]]
    promoted_commit: str | None
    sources: bytes
    kept: Kept = field(default_factory=Kept)


def tree_files(proposal: Proposal, folder: str) -> dict[str, bytes]:
    """Every file of ours by its path from the repository's root; `folder` holds the tree.

    The commit's id stands in the tracking file without a newline, as upstream writes it.
    """
    prefix = f"{folder}/" if folder else ""
    files = {f"{prefix}{name}/{README_FILE}": README_TEXT for name in proposal.cluster_types}
    for place, contents in proposal.folders.items():
        for name, content in contents.items():
            files[f"{prefix}{place}/{name}"] = content
    if proposal.promoted_commit is not None:
        files[prefix + PROMOTED_COMMIT_FILE] = proposal.promoted_commit.encode()
    files[prefix + SOURCES_FILE] = proposal.sources
    return files


def gitops_folder(path: str, where: Location) -> str:
    """A GitOpsRepo's `path` as the folder of the tree, "" for the root.

    Raises KalypsoError for a path that leaves the repository.
    """
    normal = posixpath.normpath(path.strip("/") or ".")
    if normal == ".." or normal.startswith("../") or ".git" in normal.split("/"):
        raise KalypsoError(f"the path {path!r} leaves the repository", where, "write a path in it")
    return "" if normal == "." else normal
