"""Merge pull requests: with a merge commit, by squashing or by rebasing; at once or later.

https://docs.github.com/pull-requests/collaborating-with-pull-requests/incorporating-changes-from-a-pull-request/automatically-merging-a-pull-request
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from typing import Final

from kalypso_sandbox.git.commits import GitCommit, Person
from kalypso_sandbox.git.repositories import BRANCHES, BareRepository, RefUpdate
from kalypso_sandbox.github.access import RepositoryAccess, access_of_event
from kalypso_sandbox.github.branch_rules import (
    check_mergeability,
    github_committer,
    workflows_refusal,
)
from kalypso_sandbox.github.endpoints import RefusedError
from kalypso_sandbox.github.payloads.accounts import own_person
from kalypso_sandbox.github.pushes import close, handle_push, open_pull_requests
from kalypso_sandbox.store import Issue, Store

log = logging.getLogger(__name__)

NOT_MERGEABLE: Final = "Pull Request is not mergeable"
READY: Final = frozenset({"clean", "unstable"})


def perform_merge(
    access: RepositoryAccess, issue: Issue, method: str, title: str = "", message: str = ""
) -> str:
    """Merge into the base branch; return its new commit. Raises RefusedError.

    `method` is `merge`, `squash` or `rebase`. The title and message default to GitHub's.
    """
    base = issue.pull.base_branch
    before = access.git.head(base)
    commit = _make_merge(access, issue, method, title, message)
    if commit is None:
        raise RefusedError(405, NOT_MERGEABLE)
    reason = workflows_refusal(access, before, commit, by_merge=True)
    if reason:
        raise RefusedError(403, reason)
    if not access.git.update_ref(BRANCHES + base, commit, before):
        raise RefusedError(405, "Base branch was modified. Review and try the merge again.")
    close(access, issue, commit)
    handle_push(access, RefUpdate(BRANCHES + base, before, commit))
    return commit


def merge_ready(store: Store) -> None:
    """Merge each pull request that has auto-merge enabled and meets its requirements.

    Later pushes leave auto-merge enabled, so it applies to every later head, too.
    """
    for repository in store.repositories.values():
        for issue in open_pull_requests(repository):
            auto_merge = issue.pull.auto_merge
            if auto_merge is None:
                continue
            access = access_of_event(store, repository, auto_merge.identity)
            if check_mergeability(access, issue).state not in READY:
                continue
            try:
                perform_merge(access, issue, auto_merge.method)
            except RefusedError as error:
                log.info("%s#%d: %s", repository.full_name, issue.number, error.message)


def _make_merge(
    access: RepositoryAccess, issue: Issue, method: str, title: str, message: str
) -> str | None:
    """Write the commits and return the id of the last one; None for a conflict."""
    git, pull = access.git, issue.pull
    head = pull.head_commit
    base = git.commit(pull.base_branch).id
    committer = github_committer(access.store)
    if method == "rebase":
        return _rebase(git, base, git.commits_between(base, head), committer)
    tree = git.merge_tree(base, head)
    if tree is None:
        return None
    if method == "squash":
        parents = [base]
        title = title or f"{issue.title} (#{issue.number})"
        message = message or _squashed(git.commits_between(base, head))
    else:
        parents = [base, head]
        branch = f"{pull.head_repository.partition('/')[0]}/{pull.head_branch}"
        title = title or f"Merge pull request #{issue.number} from {branch}"
        message = message or issue.title
    text = f"{title}\n\n{message}" if message else title
    return git.make_commit(tree, parents, text, own_person(access), committer, signed=True)


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
