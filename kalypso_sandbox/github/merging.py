"""Merge pull requests with a merge commit, by squashing or by rebasing."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from kalypso_sandbox.git.commits import GitCommit, Person
from kalypso_sandbox.git.repositories import BareRepository
from kalypso_sandbox.github import branch_rules, pull_request_changes
from kalypso_sandbox.github.endpoints import RefusedError
from kalypso_sandbox.github.mergeability import github_committer
from kalypso_sandbox.github.payloads import accounts
from kalypso_sandbox.github.pushes import handle_push
from kalypso_sandbox.store import Identity, Issue, PullRequest, Repository, Store

NOT_MERGEABLE: Final = "Pull Request is not mergeable"


def perform_merge(
    store: Store,
    repository: Repository,
    issue: Issue,
    pull_request: PullRequest,
    method: str,
    title: str,
    message: str,
    identity: Identity,
) -> str:
    """Merge into the base branch; return its new commit. Raises RefusedError."""
    git = store.git(repository)
    before = git.head(pull_request.base_branch)
    commit = make_merge(store, repository, issue, pull_request, method, title, message, identity)
    if commit is None:
        raise RefusedError(405, NOT_MERGEABLE)
    reason = branch_rules.workflows_refusal(
        store, repository, before, commit, identity, by_merge=True
    )
    if reason:
        raise RefusedError(403, reason)
    ref = f"refs/heads/{pull_request.base_branch}"
    if not git.update_ref(ref, commit, before):
        raise RefusedError(405, "Base branch was modified. Review and try the merge again.")
    pull_request_changes.close(store, repository, issue, pull_request, identity, commit)
    handle_push(store, repository, ref, before, commit, identity)
    return commit


def make_merge(
    store: Store,
    repository: Repository,
    issue: Issue,
    pull_request: PullRequest,
    method: str,
    title: str,
    message: str,
    identity: Identity,
) -> str | None:
    """Write the commits and return the id of the last one; None for a conflict.

    `method` is `merge`, `squash` or `rebase`. The title and message default to GitHub's. The base
    branch does not move.
    """
    git = store.git(repository)
    head = pull_request.head_commit
    base = git.commit(pull_request.base_branch).id
    if method == "rebase":
        return _rebase(git, base, git.commits_between(base, head), github_committer(store.now))
    tree = git.merge_tree(base, head)
    if tree is None:
        return None
    if method == "squash":
        parents = [base]
        title = title or f"{issue.title} (#{issue.number})"
        message = message or _squashed(git.commits_between(base, head))
    else:
        parents = [base, head]
        branch = f"{pull_request.head_repository.partition('/')[0]}/{pull_request.head_branch}"
        title = title or f"Merge pull request #{issue.number} from {branch}"
        message = message or issue.title
    account = store.account(identity.login)
    author = Person(account.login, accounts.email(account), store.now)
    text = f"{title}\n\n{message}" if message else title
    committer = github_committer(store.now)
    return git.make_commit(tree, parents, text, author, committer, signed=True)


def _squashed(commits: Sequence[GitCommit]) -> str:
    """Return the messages of several commits as a list; for one commit, its message's body."""
    if len(commits) == 1:
        return commits[0].message.partition("\n\n")[2].strip()
    return "\n\n".join(f"* {commit.message.strip()}" for commit in commits)


def _rebase(
    git: BareRepository, base: str, commits: Sequence[GitCommit], committer: Person
) -> str | None:
    """Repeat each commit on the base, except merge commits; return None if no commit remains."""
    tip = base
    for commit in commits:
        if len(commit.parents) != 1:
            continue
        # A merge whose base is the commit's parent applies only the change of that commit.
        tree = git.commit(tip).tree
        side = git.make_commit(tree, commit.parents, "", committer, committer)
        merged = git.merge_tree(side, commit.id)
        if merged is None:
            return None
        tip = git.make_commit(merged, [tip], commit.message, commit.author, committer)
    return tip if tip != base else None
