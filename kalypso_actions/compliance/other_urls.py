"""Clusters that follow the tree of an environment by another URL than that of its GitOpsRepo."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

from kalypso_actions.compliance.paths import EnvironmentTree, cluster_type_of
from kalypso_actions.errors import Location, Problem
from kalypso_actions.model.cluster_reports import BranchFollower
from kalypso_actions.model.counts import abbreviated, counted
from kalypso_actions.model.urls import repository_key

MOST_NAMES: Final = 10
"""Clusters that a warning names."""


def followers_by_other_urls(
    followers: Iterable[BranchFollower],
    repository_url: str,
    tree: EnvironmentTree,
    missing: Iterable[str],
) -> tuple[BranchFollower, ...]:
    """Return the followers with a path of a missing cluster type, sorted by cluster.

    `missing` are the cluster types of the tree that no cluster follows at `repository_url`.
    """
    wanted = set(missing)
    key = repository_key(repository_url)
    return tuple(
        sorted(
            (
                follower
                for follower in followers
                if key_of(follower) not in {"", key}
                and any(cluster_type_of(path.path, tree) in wanted for path in follower.paths)
            ),
            key=lambda follower: follower.cluster.lower(),
        )
    )


def key_of(follower: BranchFollower) -> str:
    """Return the key of the repository that a cluster follows; "" for an invalid URL."""
    try:
        return repository_key(follower.repository_url)
    except ValueError:
        return ""


def other_urls_warning(
    followers: Sequence[BranchFollower], repository_url: str, branch: str, where: Location
) -> Problem:
    """Return the warning about such followers; their URLs may hold passwords, their keys do not."""
    names = [
        f"{follower.cluster.rstrip('/').rpartition('/')[2]} ({key_of(follower)})"
        for follower in followers
    ]
    verb = counted(len(followers), "cluster follows", "clusters follow")
    return Problem(
        f"{verb} the branch {branch!r} of another repository by a path of a cluster type without a "
        f"cluster: {abbreviated(names, MOST_NAMES)}",
        where,
        f"if they belong here, let their Flux configurations follow {repository_url}",
    )
