"""The trees of GitOps branches at a commit."""

from __future__ import annotations

from kalypso_actions.commands.shared.context import CommandContext
from kalypso_actions.commands.shared.gitops_branches import GitOpsBranch
from kalypso_actions.commands.shared.reading.base_tree import read_base_tree
from kalypso_actions.gitops import tracked_commit
from kalypso_actions.gitops.provenance import is_of_another
from kalypso_actions.model.tree import BaseTree


def tree_at(context: CommandContext, place: GitOpsBranch, commit: str) -> BaseTree:
    """Return the tree of a GitOps branch at a commit. Raises KalypsoError."""
    files = context.repositories.open(place.url, branch=place.branch, commit=commit)
    return read_base_tree(files, place.branch, place.folder)


def named_commit(tree: BaseTree, environment: str) -> str | None:
    """Return the commit of main that an environment's tree names, if any.

    Until its first merge, a branch that was cut from another environment's branch names the commit
    of that environment: this commit does not count.
    """
    if is_of_another(tree.sources, environment):
        return None
    return tracked_commit(tree.promoted_commit)
