"""Clusters that follow the tree of an environment by a URL other than that of its GitOpsRepo."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from typing import Final

from kalypso_actions.compliance.followed_paths import EnvironmentTree, cluster_type_of
from kalypso_actions.errors import KalypsoError, Location, Problem
from kalypso_actions.model.cluster_reports import BranchFollower
from kalypso_actions.model.counts import abbreviated, counted
from kalypso_actions.model.urls import repository_key

MOST_NAMES: Final = 10
"""The number of clusters that a warning names."""

MOST_REPOSITORIES: Final = 50
"""The most repositories to look up in a run: an installation has 5,000 requests an hour for all
runs.
"""


def followers_by_other_urls(
    followers: Iterable[BranchFollower],
    repository_url: str,
    tree: EnvironmentTree,
    cluster_types: Collection[str],
) -> tuple[BranchFollower, ...]:
    """Return the followers with a path of these cluster types at URLs other than this one.

    Those whose paths hold the whole tree come last; all are sorted by cluster.
    """
    key = repository_key(repository_url)
    of_types = []
    whole = []
    for follower in sorted(followers, key=lambda follower: follower.cluster.lower()):
        if not cluster_types or key_of(follower) in {"", key}:
            continue
        types = {cluster_type_of(path.path, tree) for path in follower.paths}
        if types.intersection(cluster_types):
            of_types.append(follower)
        elif "" in types or not types:
            whole.append(follower)
    return (*of_types, *whole)


def key_of(follower: BranchFollower) -> str:
    """Return the key of the repository that a cluster follows; "" for an invalid URL."""
    return repository_key(follower.repository_url)


def check_lookups(names: Collection[str], branch: str, where: Location) -> None:
    """Raise KalypsoError for too many repositories: a run would miss a former name."""
    if len(names) > MOST_REPOSITORIES:
        raise KalypsoError(
            f"the clusters on the branch {branch!r} follow {len(names)} other repositories by "
            f"paths of this tree: at most {MOST_REPOSITORIES} can be looked up",
            where,
            "let the source report only this environment's clusters (for Azure: by azure-scopes)",
        )


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
        f"{verb} the branch {branch!r} of another repository by a path that holds a cluster type "
        f"without a cluster: {abbreviated(names, MOST_NAMES)}",
        where,
        f"if they belong here, let their Flux configurations follow {repository_url}",
    )
