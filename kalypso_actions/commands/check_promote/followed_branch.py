"""A GitOps branch of an environment, read again and again while its clusters are waited for."""

from __future__ import annotations

from kalypso_actions.clients.github import branches, commits
from kalypso_actions.commands.runtime.context import CommandContext
from kalypso_actions.commands.runtime.gitops_branches import GitOpsBranch, named_commit, tree_at
from kalypso_actions.errors import KalypsoError
from kalypso_actions.gitops import contradicts
from kalypso_actions.model.tree import BaseTree


class FollowedBranch:
    """Where a branch stands, and which of its commits count as synced.

    `own` are those that the run was started for. `named` is the commit of main that the branch
    should name. Every commit from `start` to the newest head that names it is as good as any: what
    is merged meanwhile, without another commit of main, is the same promotion.
    """

    def __init__(
        self,
        context: CommandContext,
        environment: str,
        place: GitOpsBranch,
        named: str | None,
        *,
        start: str = "",
    ) -> None:
        self.place = place
        self.own = bool(start)
        self.named = named
        self.tree: BaseTree | None = None
        self.tracked: str | None = None
        self.holds = False
        self.synced: frozenset[str] = frozenset()
        self.later: frozenset[str] = frozenset()
        self._session = context
        self._environment = environment
        self._start = start
        self._head: str | None = None
        self._target = start

    @property
    def target(self) -> str:
        """The newest commit that names the promoted commit; "" where none was seen."""
        return self._target

    def look(self) -> None:
        """Read where the branch stands now. Raises KalypsoError where that is not possible."""
        github, repository = self._session.github, self.place.repository
        head = branches.head(github, repository, self.place.branch)
        if head is None and self.own:
            raise KalypsoError(
                f"the branch {self.place.branch!r} of {repository} is gone",
                self.place.where,
                "restore it, or correct the GitOpsRepo",
            )
        if head == self._head:
            return
        self._head = head
        if head is None:
            self.tracked, self.holds = None, False
            return
        tree = tree_at(self._session, self.place, head)
        self.tracked = named_commit(tree, self._environment)
        self.holds = self.tracked == self.named and (self.own or self._agrees(tree))
        if self.holds:
            self.tree = tree
            self._aim_at(head)
        elif self._target:
            self.later = frozenset(self._between(self._target, head) or ())

    def _agrees(self, tree: BaseTree) -> bool:
        """Whether the tree was made of the commit that it names: nobody has verified this one."""
        named = self.named
        return named is None or not contradicts(tree.sources, self._environment, named)

    def _aim_at(self, head: str) -> None:
        """From now on the clusters should have this head, or any commit on the way to it."""
        between = self._between(self._start, head) if self._start else None
        if between is None:
            # The first look; or somebody has set the branch elsewhere by force.
            self._start, between = head, ()
        self._target = head
        self.synced = frozenset({self._start, *between})

    def _between(self, base: str, head: str) -> tuple[str, ...] | None:
        """The commits behind `base` up to `head`; None where the one does not lead to the other."""
        github, repository = self._session.github, self.place.repository
        if base == head:
            return ()
        if commits.relation(github, repository, base, head) != "ahead":
            return None
        return commits.compare(github, repository, base, head).commits
