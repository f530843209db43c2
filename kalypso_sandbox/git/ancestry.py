"""Find which commits reach which, as git's `rev-list` and `merge-base` do, without running git."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from collections.abc import Set as AbstractSet

Parents = Callable[[str], Sequence[str]]
"""The parents of a commit."""


def reachable(commit: str, parents: Parents) -> set[str]:
    """Return the commits that a commit reaches, including itself."""
    reached = {commit}
    pending = [commit]
    while pending:
        for parent in parents(pending.pop()):
            if parent not in reached:
                reached.add(parent)
                pending.append(parent)
    return reached


def common_ancestors(first: str, second: str, parents: Parents) -> set[str]:
    """Return the best common ancestors: those that no other common ancestor reaches."""
    common = reachable(first, parents) & reachable(second, parents)
    return common - {parent for commit in common for parent in parents(commit)}


def newest_first(head: str, commits: AbstractSet[str], parents: Parents) -> Sequence[str]:
    """Sort commits, all reachable from the head, as `git rev-list --topo-order` does.

    A commit precedes its parents. Keep lines of history apart; that of the last parent is first.
    """
    children = Counter(parent for commit in commits for parent in parents(commit))
    pending = [head] if head in commits else []
    ordered = []
    while pending:
        commit = pending.pop()
        ordered.append(commit)
        for parent in parents(commit):
            children[parent] -= 1
            if parent in commits and not children[parent]:
                pending.append(parent)
    return ordered
