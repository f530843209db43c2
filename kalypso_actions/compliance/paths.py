"""Which paths of a GitOps branch belong to an environment's tree."""

from __future__ import annotations

import posixpath
from dataclasses import dataclass

from kalypso_actions.model.flux import FluxConfiguration, FluxKustomization


@dataclass(frozen=True, slots=True)
class Tree:
    """Where an environment's tree lies in its GitOps branch.

    `folder` holds it ("" is the root). `cluster_types` are its own: those of the fleet, and those
    whose folders still stand. The clusters of those `left_out` do not report.
    """

    folder: str
    cluster_types: frozenset[str]
    left_out: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class FollowedPaths:
    """What a Flux configuration follows of a tree.

    cluster_types  those that its paths name; "" alone where it follows the whole tree
    counted        the kustomizations whose paths count
    passed_over    paths that do not count
    not_ours       those of them that are not of the tree
    """

    cluster_types: tuple[str, ...]
    counted: tuple[FluxKustomization, ...]
    passed_over: tuple[str, ...]
    not_ours: tuple[str, ...]


def followed_paths(row: FluxConfiguration, tree: Tree) -> FollowedPaths:
    """Return which paths of a Flux configuration count; one without any path counts as a whole."""
    types = {one: cluster_type_of(one.path, tree) for one in row.kustomizations}
    counted = {one: of for one, of in types.items() if of is not None and of not in tree.left_out}
    named = set(counted.values()) - {""}
    whole = [""] if counted or not types else []
    return FollowedPaths(
        cluster_types=tuple(sorted(named) or whole),
        counted=tuple(counted),
        passed_over=tuple(dict.fromkeys(one.path for one in types if one not in counted)),
        not_ours=tuple(dict.fromkeys(one.path for one, of in types.items() if of is None)),
    )


def cluster_type_of(path: str, tree: Tree) -> str | None:
    """Return the cluster type that a kustomization's path is of; None for a path that is not ours.

    "" is a path at the tree's folder or above it, which holds the whole tree.
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
