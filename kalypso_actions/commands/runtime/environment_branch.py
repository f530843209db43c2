"""How an environment stands, and how its branch gets another commit of main.

In the mode `commit` that is a commit on the branch itself. In the mode `pull-request` it is one on
a branch of ours and a pull request, one for each environment, that is kept up to date.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from kalypso_actions.clients.git import ProtectedBranchError, Signature
from kalypso_actions.clients.github import commits, pull_requests
from kalypso_actions.clients.github.idempotent_writes import WriteResult
from kalypso_actions.commands.runtime.context import CommandContext
from kalypso_actions.commands.runtime.labels import WITHDRAWN, make_labels
from kalypso_actions.errors import KalypsoError
from kalypso_actions.model.github import PullRequest
from kalypso_actions.model.kinds import Environment
from kalypso_actions.model.layout import OWN_BRANCHES
from kalypso_actions.promotion import with_commit
from kalypso_actions.report.cd_summary import proposal_body
from kalypso_actions.report.markdown import marker
from kalypso_actions.snapshot.base_file import BaseFile, read_base_file

AUTHOR: Final = Signature("Git Ops", "agent@gitops.com")
MESSAGE: Final = "Promoting Commit_Id to the environment"
"""Both are upstream's."""

REPLACES: Final = "Kalypso-Replaces"
"""The trailer of a proposal's commit: which commit was proposed before."""


@dataclass(frozen=True, slots=True)
class PromotionPullRequest:
    """An open pull request for the environment branch, and the commit of main that it brings.

    `replaces` is the commit that it brought before. `outdated`: the file that it changes has
    changed on the environment branch since, so that it cannot be merged.
    """

    pull: PullRequest
    commit: str | None
    replaces: str | None
    outdated: bool

    def instead_of(self, commit: str) -> str | None:
        """What was proposed before `commit`, whether that is proposed already or not yet."""
        return self.replaces if self.commit == commit else self.commit


@dataclass(frozen=True, slots=True)
class EnvironmentState:
    """Where the environment branch and our own stand ("" without one), and what is there."""

    head: str
    own_head: str
    base: BaseFile
    proposal: PromotionPullRequest | None

    def brings(self, commit: str) -> bool:
        """Whether the open pull request brings a commit, and can be merged."""
        proposal = self.proposal
        return proposal is not None and proposal.commit == commit and not proposal.outdated


class EnvironmentBranch:
    """The branch of one environment in the control plane, always as it stands now."""

    def __init__(self, context: CommandContext, environment: Environment, main: str) -> None:
        """`main` is the branch that commits are promoted from.

        Raises KalypsoError where it is the environment's own: each promotion would be a new commit
        to promote.
        """
        if environment.control_plane.branch == main:
            raise KalypsoError(
                f"environment {environment.name!r} lies on {main}, from which it is promoted",
                environment.where,
                "give it a branch of its own",
            )
        self._main = main
        self._session = context
        self._environment = environment
        self._url = context.url(context.control_plane)
        self.name = environment.control_plane.branch
        self.own_name = f"{OWN_BRANCHES}promote/{environment.name}"

    def heads(self) -> tuple[str, str]:
        """Where the environment branch and our own stand ("" for one that does not exist)."""
        found = self._session.remotes.heads(self._url, [self.name, self.own_name])
        return found.get(self.name, ""), found.get(self.own_name, "")

    def read(self, *, proposals: bool) -> EnvironmentState:
        """How the environment stands; with `proposals`, our open pull request too.

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

    def before(self, standing: EnvironmentState) -> str | None:
        """The commit of main that the environment had before the branch's newest commit.

        None where that one did not change it.
        """
        newest = commits.get(self._session.github, self._session.control_plane, standing.head)
        if not newest.parents:
            return None
        commit = self._base_at(newest.parents[0]).commit
        return commit if commit != standing.base.commit else None

    def write(self, standing: EnvironmentState, commit: str) -> str:
        """Let the environment have a commit of main; the new commit of its branch.

        Raises PushConflictError where the branch has moved meanwhile, KalypsoError
        saying what to change.
        """
        made = self._commit(standing, commit, MESSAGE)
        try:
            self._session.remotes.push(self._url, made, branch=self.name, expected=standing.head)
        except ProtectedBranchError as error:
            problem = error.problem
            advice = f"{problem.advice}; or use mode: pull-request"
            raise KalypsoError(problem.message, problem.where, advice) from error
        return made

    def propose(self, standing: EnvironmentState, commit: str) -> tuple[PullRequest, bool]:
        """Let one open pull request bring a commit of main; whether anything was changed for it.

        Raises PushConflictError where our branch has moved meanwhile, KalypsoError
        saying what to change.
        """
        changed = not standing.brings(commit)
        if changed:
            replaced = standing.proposal.instead_of(commit) if standing.proposal else None
            trailer = f"\n\n{REPLACES}: {replaced}" if replaced else ""
            made = self._commit(standing, commit, MESSAGE + trailer)
            self._session.remotes.push(
                self._url, made, branch=self.own_name, expected=standing.own_head or None
            )
        pull, outcome = self.describe(standing, commit)
        return pull, changed or outcome != "unchanged"

    def describe(self, standing: EnvironmentState, commit: str) -> tuple[PullRequest, WriteResult]:
        """The one open pull request of our branch, saying that it brings `commit`."""
        return pull_requests.ensure(
            self._session.github,
            self._session.control_plane,
            head=self.own_name,
            base=self.name,
            title=f"Promote {commit[:7]} to {self._environment.name}",
            body=proposal_body(self._environment.name, self._url, standing.base.commit, commit),
        )

    def rejected(self, commit: str) -> PullRequest | None:
        """Our newest pull request, where it brought `commit` and people closed it unmerged.

        Raises KalypsoError.
        """
        github, control_plane = self._session.github, self._session.control_plane
        pull = pull_requests.newest_closed(
            github, control_plane, head=self.own_name, base=self.name, without=WITHDRAWN
        )
        if pull is None or pull.merged:
            return None
        if commits.relation(github, control_plane, pull.head_commit, self.name) is None:
            return None  # the repository has lost what was proposed
        return pull if self._base_at(pull.head_commit).commit == commit else None

    def withdraw_empty(self, standing: EnvironmentState) -> None:
        """Close our open pull request where the environment has its commit by another way."""
        proposal = standing.proposal
        if proposal is None or proposal.commit != standing.base.commit:
            return
        make_labels(self._session.control_plane, [WITHDRAWN], self._session)
        pull_requests.close(
            self._session.github,
            self._session.control_plane,
            proposal.pull.number,
            mark=marker("withdrawn", self._environment.name),
            comment=f"The environment has {proposal.commit} already: nothing is left to merge.",
            labels=[WITHDRAWN],
        )

    def _commit(self, standing: EnvironmentState, commit: str, message: str) -> str:
        base = standing.base
        text = with_commit(
            base.text,
            commit,
            repo=self._url,
            branch=self._main,
            where=base.where,
        )
        return self._session.remotes.commit(
            self._url,
            parent=standing.head,
            changes={base.where.path: text.encode()},
            message=message,
            author=AUTHOR,
            date=self._session.runtime.now(),
        )

    def _base_at(self, commit: str) -> BaseFile:
        files = self._session.remotes.fetch(self._url, commit=commit)
        return read_base_file(files, self._environment.control_plane.path)

    def _proposal(self, head: str, own_head: str, base: BaseFile) -> PromotionPullRequest | None:
        github, control_plane = self._session.github, self._session.control_plane
        pulls = pull_requests.find(github, control_plane, head=self.own_name, base=self.name)
        if not pulls:
            return None
        comparison = commits.compare(github, control_plane, head, own_head)
        message = commits.get(github, control_plane, own_head).message
        replaces = re.search(rf"^{REPLACES}: ([0-9a-f]+)$", message, re.MULTILINE)
        return PromotionPullRequest(
            pulls[0],
            self._base_at(own_head).commit,
            replaces[1] if replaces else None,
            outdated=self._base_at(comparison.merge_base).text != base.text,
        )
