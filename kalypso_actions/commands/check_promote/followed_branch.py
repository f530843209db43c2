"""A GitOps branch while the run waits for its clusters."""

from __future__ import annotations

from kalypso_actions.commands.check_promote.branch_tree import read_head, read_tree
from kalypso_actions.commands.shared.context import CommandContext
from kalypso_actions.errors import KalypsoError
from kalypso_actions.model.tree import BaseTree, GitOpsBranch
from kalypso_actions.promotion.run_verdict import holds


class FollowedBranch:
    """The head of a branch, and the commits that count as synced.

    The branch should name the `expected` commit of main; `promoted_commit` is the commit that it
    names. Every commit from `gitops_commit` to the newest head that names the expected commit
    counts as synced: a merge that keeps the promoted commit belongs to the same promotion. A branch
    `is_own` if the run was started for it.
    """

    def __init__(
        self,
        context: CommandContext,
        environment: str,
        branch: GitOpsBranch,
        expected: str | None,
        *,
        gitops_commit: str = "",
    ) -> None:
        self.branch = branch
        self.is_own = bool(gitops_commit)
        self.expected = expected
        self.tree: BaseTree | None = None
        self.promoted_commit: str | None = None
        self.holds = False
        self.synced: frozenset[str] = frozenset()
        self.later: frozenset[str] = frozenset()
        self._context = context
        self._environment = environment
        self._first = gitops_commit
        self._head: str | None = None
        self._newest = gitops_commit

    @property
    def gitops_commit(self) -> str:
        """The newest commit that names the expected commit; "" if there was none."""
        return self._newest

    def read(self) -> None:
        """Read the branch as it is now. Raise KalypsoError if that fails."""
        head = read_head(self._context, self.branch)
        if head is None and self.is_own:
            raise KalypsoError(
                f"the branch {self.branch.branch!r} of {self.branch.repository} is gone",
                self.branch.where,
                "restore it, or correct the GitOpsRepo",
            )
        if head == self._head:
            return
        self._head = head
        if head is None:
            self.promoted_commit, self.holds = None, False
            return
        branch_tree = read_tree(self._context, self.branch, self._environment, head)
        self.promoted_commit = branch_tree.promoted_commit
        contradicted = self.expected is not None and branch_tree.contradicts(self.expected)
        self.holds = holds(
            self.expected, self.promoted_commit, is_own=self.is_own, contradicted=contradicted
        )
        if self.holds:
            self.tree = branch_tree.tree
            self._set_newest(head)
        elif self._newest:
            self.later = frozenset(self._between(self._newest, head) or ())

    def _set_newest(self, head: str) -> None:
        """Count this head, and all commits on the way to it, as synced from now on."""
        between = self._between(self._first, head) if self._first else None
        if between is None:
            # The branch has no earlier head, or a forced push has replaced the earlier commits.
            self._first, between = head, ()
        self._newest = head
        self.synced = frozenset({self._first, *between})

    def _between(self, base: str, head: str) -> tuple[str, ...] | None:
        """Return the commits after `base` up to `head`; None if `base` does not lead to `head`."""
        if base == head:
            return ()
        return self._context.remotes.ancestry(self.branch.url, head).since(base)
