"""The paths of a GitOps branch that belong to an environment's tree."""

from __future__ import annotations

import posixpath
from dataclasses import dataclass

from kalypso_actions.model.cluster_reports import ClusterReport, ReportedPath


@dataclass(frozen=True, slots=True)
class EnvironmentTree:
    """An environment's tree in its GitOps branch.

    folder         the folder that holds the tree; "" for the root
    cluster_types  those of the fleet, and those whose folders still exist
    assigned       those with assignments
    not_reporting  those whose clusters do not report
    """

    folder: str
    cluster_types: frozenset[str]
    assigned: frozenset[str] = frozenset()
    not_reporting: frozenset[str] = frozenset()

    @property
    def reporting(self) -> frozenset[str]:
        """The cluster types with assignments whose clusters report."""
        return self.assigned - self.not_reporting


@dataclass(frozen=True, slots=True)
class FollowedPaths:
    """The paths of a report, compared with an environment's tree.

    cluster_types  the cluster types that the paths name; "" alone for the whole tree
    counted        the paths that count
    passed_over    the paths that do not count
    not_ours       the paths outside the tree, which do not count either
    """

    cluster_types: tuple[str, ...]
    counted: tuple[ReportedPath, ...]
    passed_over: tuple[str, ...]
    not_ours: tuple[str, ...]


def followed_paths(report: ClusterReport, tree: EnvironmentTree) -> FollowedPaths:
    """Return which paths of a report count; a report without paths counts for the whole tree."""
    types = {path: cluster_type_of(path.path, tree) for path in report.paths}
    counted = {
        path: cluster_type
        for path, cluster_type in types.items()
        if cluster_type is not None and cluster_type not in tree.not_reporting
    }
    cluster_types = set(counted.values()) - {""}
    whole = [""] if counted or not types else []
    return FollowedPaths(
        cluster_types=tuple(sorted(cluster_types) or whole),
        counted=tuple(counted),
        passed_over=tuple(dict.fromkeys(path.path for path in types if path not in counted)),
        not_ours=tuple(
            dict.fromkeys(path.path for path, cluster_type in types.items() if cluster_type is None)
        ),
    )


def cluster_type_of(path: str, tree: EnvironmentTree) -> str | None:
    """Return the cluster type that a path belongs to; None for a path outside the tree.

    "" is the tree's folder, or a folder above it: such a path holds the whole tree.
    """
    parts = _parts(path)
    folder = _parts(tree.folder)
    if parts == folder[: len(parts)]:
        return ""
    if parts[: len(folder)] != folder:
        return None
    name = parts[len(folder)]
    return name if name in tree.cluster_types else None


def _parts(path: str) -> list[str]:
    normal = posixpath.normpath("/" + path)
    return [part for part in normal.split("/") if part]
