"""Our proposal to a GitOps branch: what our branch has, and which commit a run proposes.

schedule proposes the tree of an environment, and app-deploy that of an application.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Final, TypeVar

from kalypso_actions.clients.git import PushConflictError
from kalypso_actions.clients.github import GitHubError, commits
from kalypso_actions.commands.shared.carry_out import MovedError
from kalypso_actions.commands.shared.context import CommandContext
from kalypso_actions.gitops import proposed_commit
from kalypso_actions.gitops.proposal_decision import OpenProposal, ProposalDecision, ProposedTree
from kalypso_actions.gitops.proposed_commit import digest_of, tracked_commit
from kalypso_actions.model.documents import RevisionFiles, content_of
from kalypso_actions.model.github import Commit, PullRequest
from kalypso_actions.model.layout import PROMOTED_COMMIT_FILE
from kalypso_actions.model.object_ids import FileContent
from kalypso_actions.model.tree import GitOpsBranch, TreeChanges
from kalypso_actions.model.writes import CommitBy, NewCommit, Push

T = TypeVar("T")

ATTEMPTS: Final = 6
"""The most attempts: after a conflict, read everything again, because the other run may have older
inputs."""


def while_others_write(attempt: Callable[[], T], context: CommandContext) -> T:
    """Return the result of `attempt`, which reads everything again if somebody moved a branch.

    Raises PushConflictError or MovedError if a branch moves during every attempt.
    """
    for _ in range(ATTEMPTS - 1):
        try:
            return attempt()
        except (PushConflictError, MovedError) as error:
            context.runtime.log(f"{error.problem.message}; everything is read again")
            context.runtime.sleep(1)
            context.remotes.forget_heads()
    return attempt()


def read_commit(
    context: CommandContext, repository: str, commit: str, known: Commit | None = None
) -> Commit | None:
    """Return a commit, perhaps the `known` one; None if the repository lost it.

    A forced push loses commits. Raises GitHubError.
    """
    if known and known.id == commit:
        return known
    try:
        return commits.get(context.github, repository, commit)
    except GitHubError as error:
        if error.status in {404, 422}:
            return None
        raise


def named_commit(files: RevisionFiles, branch: GitOpsBranch) -> str | None:
    """Return the commit that the tracking file of a GitOps commit names."""
    return tracked_commit(content_of(files, branch.path_of(PROMOTED_COMMIT_FILE)))


def proposal_on_own_branch(
    branch: GitOpsBranch,
    changes: TreeChanges,
    context: CommandContext,
    known: Commit | None = None,
) -> OpenProposal | None:
    """Return the proposal on our branch; None without a branch. Raises KalypsoError."""
    commit = (
        read_commit(context, branch.repository, branch.own_head, known)
        if (branch.own_head)
        else None
    )
    if commit is None:
        return None
    files = context.repositories.open(branch.url, commit=commit.id)
    promoted_commit = named_commit(files, branch)
    if len(commit.parents) != 1:
        return OpenProposal(None, promoted_commit, fits=False)
    (parent,) = commit.parents
    before = context.repositories.open(branch.url, commit=parent).entries()
    fits = proposed_commit.fits(before, files.entries(), branch.tree, changes)
    return OpenProposal(digest_of(commit.message), promoted_commit, fits, parent)


def open_proposal(
    pull: PullRequest | None, own: OpenProposal | None, branch: GitOpsBranch
) -> OpenProposal | None:
    """Return what our open pull request proposes, with what our branch has; None without one.

    A conflicting pull request does not fit: it needs a new commit.
    """
    if pull is None:
        return None
    if own is None:
        return OpenProposal(None, None, fits=False)
    conflicts = pull.mergeable is False and own.parent != branch.head
    return replace(own, fits=own.fits and not conflicts)


def push_of_proposal(
    branch: GitOpsBranch,
    changes: Mapping[str, FileContent | None],
    message: str,
    commit_by: CommitBy,
    *,
    requires_signatures: bool | None = None,
) -> Push:
    """Return the push of a proposed tree: one commit on top of the GitOps branch."""
    return Push(
        repository=branch.repository,
        url=branch.url,
        branch=branch.own_branch,
        base=branch.branch,
        expected=branch.own_head,
        parent=branch.head,
        changes=changes,
        message=message,
        requires_signatures=requires_signatures,
        commit_by=commit_by,
    )


def commit_to_propose(
    branch: GitOpsBranch,
    own: OpenProposal | None,
    proposed: ProposedTree,
    decision: ProposalDecision,
) -> str | NewCommit:
    """Return the commit to propose: the head of our branch if it proposes this tree already."""
    is_pushed = decision.action == "leave"
    if own and own.fits and own.parent == branch.head:
        same = proposed.digest, proposed.promoted_commit
        is_pushed = is_pushed or (own.digest, own.promoted_commit) == same
    if branch.own_head and is_pushed:
        return branch.own_head
    return NewCommit(branch.repository, branch.own_branch)
