"""The head of a GitOps branch, and the tree at one of its commits."""

from __future__ import annotations

from dataclasses import dataclass

from kalypso_actions.commands.shared.context import CommandContext
from kalypso_actions.commands.shared.reading.base_trees import named_commit, tree_at
from kalypso_actions.gitops.provenance import contradicts
from kalypso_actions.model.layout import SOURCES_FILE
from kalypso_actions.model.tree import BaseTree, GitOpsBranch


@dataclass(frozen=True, slots=True)
class BranchTree:
    """An environment's tree in a GitOps branch.

    `promoted_commit` is the commit of main that the tree's tracking file names.
    """

    environment: str
    tree: BaseTree
    promoted_commit: str | None

    @property
    def sources_path(self) -> str:
        """The path of the tree's `sources.json`."""
        return f"{self.tree.path}/{SOURCES_FILE}" if self.tree.path else SOURCES_FILE

    def contradicts(self, promoted_commit: str | None) -> bool:
        """Return whether `sources.json` names another commit of main than `promoted_commit`."""
        return contradicts(self.tree.sources, self.environment, promoted_commit or "")


def read_head(context: CommandContext, branch: GitOpsBranch) -> str | None:
    """Return the head of a branch now; None if the branch does not exist.

    Use git: a run asks every few seconds, and git does not count against the API's rate limit.
    """
    return context.remotes.heads(branch.url, [branch.branch]).get(branch.branch)


def fetch_head(context: CommandContext, branch: GitOpsBranch) -> str | None:
    """Fetch the head of a branch, to read its tree; None if the branch does not exist."""
    return context.remotes.fetch_head(branch.url, branch.branch)


def read_tree(
    context: CommandContext, branch: GitOpsBranch, environment: str, commit: str
) -> BranchTree:
    """Return the tree of a commit. Raise KalypsoError if it cannot be read."""
    tree = tree_at(context, branch, commit)
    return BranchTree(environment, tree, named_commit(tree, environment))
