"""The branch of an environment, and the ways to write another commit of main to it.

The mode `commit` writes to the branch itself. The mode `pull-request` writes to a branch of ours
and keeps one pull request for each environment up to date.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from kalypso_actions.clients.git import ProtectedBranchError
from kalypso_actions.clients.github import commits, pull_requests
from kalypso_actions.clients.github.idempotent_writes import WriteResult
from kalypso_actions.commands.shared.carry_out import push
from kalypso_actions.commands.shared.context import CommandContext
from kalypso_actions.commands.shared.labels import WITHDRAWN, make_labels
from kalypso_actions.commands.shared.reading.environments import BaseFile, read_base_file
from kalypso_actions.errors import KalypsoError
from kalypso_actions.model.github import PullRequest
from kalypso_actions.model.kinds import Environment
from kalypso_actions.model.layout import OWN_BRANCHES
from kalypso_actions.model.writes import CommitBy, Push
from kalypso_actions.promotion.base_repo import with_commit
from kalypso_actions.promotion.cd_decision import is_proposed
from kalypso_actions.report.cd_summary import proposal_body
from kalypso_actions.report.markdown import marker

MESSAGE: Final = "Promoting Commit_Id to the environment"
"""The message is upstream's."""

REPLACES: Final = "Kalypso-Replaces"
"""The trailer of a proposal's commit that names the commit proposed before it."""


@dataclass(frozen=True, slots=True)
class PromotionProposal:
    """The commit of main that our branch brings, by an open pull request.

    `pull` is None until a run has opened it after the push. `replaces` is the commit that our
    branch brought before. `outdated`: it conflicts, because its file has since changed on the
    environment branch.
    """

    pull: PullRequest | None
    promoted_commit: str | None
    replaces: str | None
    outdated: bool

    def instead_of(self, promoted_commit: str) -> str | None:
        """Return the commit that was proposed before this one."""
        is_same = self.promoted_commit == promoted_commit
        return self.replaces if is_same else self.promoted_commit


@dataclass(frozen=True, slots=True)
class EnvironmentState:
    """The heads of the environment branch and of our own ("" without one), and their commits."""

    head: str
    own_head: str
    base: BaseFile
    proposal: PromotionProposal | None

    def brings(self, promoted_commit: str) -> bool:
        """Whether our branch proposes a commit that can be merged."""
        proposal = self.proposal
        return (
            proposal is not None
            and proposal.promoted_commit == promoted_commit
            and not proposal.outdated
        )


class EnvironmentBranch:
    """The branch of one environment in the control plane; each method reads it again."""

    def __init__(self, context: CommandContext, environment: Environment, main: str) -> None:
        """`main` is the branch that commits are promoted from.

        Raises KalypsoError if it is the environment's own branch: each promotion would add a commit
        to promote.
        """
        if environment.control_plane.branch == main:
            raise KalypsoError(
                f"environment {environment.name!r} lies on {main}, from which it is promoted",
                environment.where,
                "give it a branch of its own",
                "environment-on-main",
            )
        self._main = main
        self._context = context
        self._environment = environment
        self._url = context.url(context.control_plane)
        self.name = environment.control_plane.branch
        self.own_name = f"{OWN_BRANCHES}promote/{environment.name}"

    def heads(self) -> tuple[str, str]:
        """Return the heads of the environment branch and of our own ("" without one)."""
        heads = self._context.remotes.heads(self._url, [self.name, self.own_name])
        return heads.get(self.name, ""), heads.get(self.own_name, "")

    def read(self, *, proposals: bool) -> EnvironmentState:
        """Read the branch; with `proposals`, our proposal too.

        Raises KalypsoError for a branch that does not exist or cannot be read.
        """
        head, own_head = self.heads()
        if not head:
            raise KalypsoError(
                f"environment {self._environment.name!r} has no branch {self.name!r} yet",
                self._environment.where,
                "create it, with the cluster types and policies of the environment, or correct "
                "the branch here",
            )
        base = self._base_at(head)
        proposal = self._proposal(head, own_head, base) if proposals and own_head else None
        return EnvironmentState(head, own_head, base, proposal)

    def before(self, state: EnvironmentState) -> str | None:
        """Return the commit of main that the branch's newest commit replaced, if any."""
        newest = commits.get(self._context.github, self._context.control_plane, state.head)
        if not newest.parents:
            return None
        commit = self._base_at(newest.parents[0]).promoted_commit
        return commit if commit != state.base.promoted_commit else None

    def write(self, state: EnvironmentState, promoted_commit: str, commit_by: CommitBy) -> str:
        """Write a commit of main to the branch; return the new commit of the branch.

        Raises PushConflictError if the branch has moved, KalypsoError for other refusals.
        """
        try:
            return self._write(self.name, state.head, state, promoted_commit, MESSAGE, commit_by)
        except ProtectedBranchError as error:
            problem = error.problem
            advice = f"{problem.advice}; or use mode: pull-request"
            raise KalypsoError(problem.message, problem.where, advice) from error

    def propose(
        self, state: EnvironmentState, promoted_commit: str, commit_by: CommitBy
    ) -> tuple[PullRequest, bool]:
        """Open or update the pull request with a commit of main; return whether it changed.

        Raises PushConflictError if our branch has moved, KalypsoError for other refusals.
        """
        changed = not state.brings(promoted_commit)
        if changed:
            replaced = state.proposal.instead_of(promoted_commit) if state.proposal else None
            trailer = f"\n\n{REPLACES}: {replaced}" if replaced else ""
            message = MESSAGE + trailer
            self._write(self.own_name, state.own_head, state, promoted_commit, message, commit_by)
        pull, outcome = self.describe(state, promoted_commit)
        return pull, changed or outcome != "unchanged"

    def describe(
        self, state: EnvironmentState, promoted_commit: str
    ) -> tuple[PullRequest, WriteResult]:
        """Open the pull request of our branch, or update its text for `promoted_commit`."""
        github, control_plane = self._context.github, self._context.control_plane
        if state.own_head:
            github.recent_writes.add_push(control_plane, self.own_name, state.own_head)
        return pull_requests.ensure(
            github,
            control_plane,
            head=self.own_name,
            base=self.name,
            title=f"Promote {promoted_commit[:7]} to {self._environment.name}",
            body=proposal_body(
                self._environment.name, self._url, state.base.promoted_commit, promoted_commit
            ),
            replaced_labels=[WITHDRAWN],
        )

    def complete(self, state: EnvironmentState) -> None:
        """Open the pull request of our branch if the run that pushed has not opened it yet."""
        proposal = state.proposal
        if proposal and proposal.pull is None and proposal.promoted_commit:
            self.describe(state, proposal.promoted_commit)

    def rejected(self, promoted_commit: str) -> PullRequest | None:
        """Return our newest pull request if people closed it unmerged and it brought the commit.

        Raises KalypsoError.
        """
        github, control_plane = self._context.github, self._context.control_plane
        pull = pull_requests.newest_closed(
            github, control_plane, head=self.own_name, base=self.name, without=WITHDRAWN
        )
        if pull is None or pull.merged:
            return None
        if commits.relation(github, control_plane, pull.head_commit, self.name) is None:
            return None  # the repository has lost the proposed commit
        return pull if self._base_at(pull.head_commit).promoted_commit == promoted_commit else None

    def withdraw_empty(self, state: EnvironmentState) -> None:
        """Close our open pull request if the environment has its commit already."""
        proposal = state.proposal
        if proposal is None or proposal.pull is None:
            return
        if proposal.promoted_commit != state.base.promoted_commit:
            return
        make_labels(self._context.control_plane, [WITHDRAWN], self._context)
        pull_requests.close(
            self._context.github,
            self._context.control_plane,
            proposal.pull.number,
            mark=marker("withdrawn", self._environment.name),
            comment=f"The environment has {proposal.promoted_commit} already: "
            "nothing is left to merge.",
            labels=[WITHDRAWN],
        )

    def _write(
        self,
        branch: str,
        head: str,
        state: EnvironmentState,
        promoted_commit: str,
        message: str,
        commit_by: CommitBy,
    ) -> str:
        """Commit to a branch at `head` ("": absent); return its new commit."""
        base = state.base
        text = with_commit(
            base.text,
            promoted_commit,
            repo=self._url,
            branch=self._main,
            where=base.where,
        )
        write = Push(
            repository=self._context.control_plane,
            url=self._url,
            branch=branch,
            base=self.name,
            expected=head or None,
            parent=state.head,
            changes={base.where.path: text.encode()},
            message=message,
            commit_by=commit_by,
        )
        return push(write, self._context)

    def _base_at(self, commit: str) -> BaseFile:
        files = self._context.remotes.fetch(self._url, commit=commit)
        return read_base_file(files, self._environment.control_plane.path)

    def _proposal(self, head: str, own_head: str, base: BaseFile) -> PromotionProposal | None:
        github, control_plane = self._context.github, self._context.control_plane
        own, base_branch = self.own_name, self.name
        pulls = pull_requests.find(github, control_plane, head=own, base=base_branch)
        pull = next(iter(pulls), None)
        if pull:
            pull_requests.is_own(github, control_plane, pull)  # raises for somebody else's
        promoted_commit = self._base_at(own_head).promoted_commit
        if pull is None:
            ended = pull_requests.closed_pages(github, control_plane, head=own, base=base_branch)
            ended_heads = {other.head_commit for other in next(ended)}
            if not is_proposed(own_head, promoted_commit, base.promoted_commit, ended_heads):
                return None
        merge_base = commits.merge_base(github, control_plane, head, own_head)
        message = commits.get(github, control_plane, own_head).message
        replaces = re.search(rf"^{REPLACES}: ([0-9a-f]+)$", message, re.MULTILINE)
        return PromotionProposal(
            pull,
            promoted_commit,
            replaces[1] if replaces else None,
            outdated=self._base_at(merge_base).text != base.text,
        )
