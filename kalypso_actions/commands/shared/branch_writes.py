"""Write commits to branches: git pushes them, or GitHub makes and signs them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, Literal

from kalypso_actions.clients.git import (
    ProtectedBranchError,
    PushConflictError,
    Signature,
    UnsignedCommitError,
)
from kalypso_actions.clients.github import GitHub, GitHubError, branches, git_data, refs, viewer
from kalypso_actions.commands.shared.context import CommandContext
from kalypso_actions.commands.shared.local_commits import AUTHOR
from kalypso_actions.model.object_ids import FileContent
from kalypso_actions.model.urls import owner_of

CommitBy = Literal["auto", "git", "api"]

RULE: Final = "rule violations"
UNSIGNED: Final = "verified signatures"


@dataclass(frozen=True, slots=True)
class BranchWrite:
    """A commit for a branch of a repository; the branch is at `expected` (None: absent).

    `repository` is owner/name, `url` is for git.

    `changes` apply to the files of `parent` (None: no files): None deletes a file, bytes are its
    new content, and an id is that of a blob in the clone of `url`. `base` is the branch that the
    commit is proposed to ("": none); `requires_signatures` says whether a rule of `base`
    requires signatures (None: not known).
    """

    repository: str
    url: str
    branch: str
    expected: str | None
    parent: str | None
    changes: Mapping[str, FileContent | None]
    message: str
    base: str = ""
    requires_signatures: bool | None = None


def write_commit(write: BranchWrite, commit_by: CommitBy, context: CommandContext) -> str:
    """Commit to a branch, and return the commit.

    With `auto`, git writes the commit; GitHub's API does if a rule requires signatures, or has
    refused git's push.

    Raises PushConflictError if another run moved the branch, ProtectedBranchError if a rule refuses
    the commit, and KalypsoError.
    """
    is_auto = commit_by == "auto"
    if is_auto and _requires_signatures(write, context.github):
        commit_by = "api"
    try:
        by_api = commit_by == "api"
        commit = _write_by_api(write, context) if by_api else _write_by_git(write, context)
    except UnsignedCommitError:
        if not is_auto:
            raise
        commit = _write_by_api(write, context)
    context.github.recent_writes.add_push(write.repository, write.branch, commit)
    return commit


def own_signature(github: GitHub, repository: str) -> Signature:
    """Return the author of our commits: the token's account, with its no-reply address.

    Raises GitHubError.
    """
    account = viewer.account(github, owner_of(repository) or "")
    return Signature(account.login, f"{account.id}+{account.login}@{github.server.noreply_domain}")


def _requires_signatures(write: BranchWrite, github: GitHub) -> bool:
    """Whether the branch that the commit is for requires signatures.

    A rule of our own branch becomes known when GitHub refuses the push.
    """
    if write.requires_signatures is not None:
        return write.requires_signatures
    branch, exists = write.base or write.branch, bool(write.base) or write.expected is not None
    return branches.requires_signatures(github, write.repository, branch, exists=exists)


def _commit_in_clone(write: BranchWrite, author: Signature, context: CommandContext) -> str:
    return context.remotes.commit(
        write.url,
        parent=write.parent,
        changes=write.changes,
        message=write.message,
        author=author,
        date=context.runtime.now(),
    )


def _write_by_git(write: BranchWrite, context: CommandContext) -> str:
    author = own_signature(context.github, write.repository)
    commit = _commit_in_clone(write, author, context)
    context.remotes.push(write.url, commit, branch=write.branch, expected=write.expected)
    return commit


def _with_contents(write: BranchWrite, context: CommandContext) -> dict[str, bytes | None]:
    """Return the changes with the contents of blobs that only the clone has."""
    changes = dict(write.changes)
    blobs = [path for path, content in changes.items() if isinstance(content, str)]
    if blobs:
        commit = _commit_in_clone(write, AUTHOR, context)  # this commit is not pushed
        changes |= context.repositories.open(write.url, commit=commit).read(blobs)
    return {path: content for path, content in changes.items() if not isinstance(content, str)}


def _write_by_api(write: BranchWrite, context: CommandContext) -> str:
    github, repository = context.github, write.repository
    commit = git_data.create_commit(
        github,
        repository,
        parent=write.parent,
        changes=_with_contents(write, context),
        message=write.message,
    )
    try:
        refs.move(
            github,
            repository,
            write.branch,
            commit,
            expected=write.expected,
            fast_forward=write.parent == write.expected,
        )
    except refs.RefConflictError as conflict:
        raise PushConflictError(write.branch, write.url, conflict.head) from conflict
    except GitHubError as error:
        is_unsigned = UNSIGNED in error.reason.lower()
        if not (is_unsigned or RULE in error.reason.lower()):
            raise
        advice = "let the GitHub App bypass the branch's rules (a job's GITHUB_TOKEN cannot)"
        if is_unsigned:
            advice = "GitHub signs no commit of a personal token: use a GitHub App"
        raise ProtectedBranchError(error.problem.message, error.problem.where, advice) from error
    return commit
