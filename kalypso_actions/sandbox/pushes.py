"""The consequences of a push: its event, and the changes of pull requests."""

from __future__ import annotations

from collections.abc import Iterator

from kalypso_actions.sandbox import events, issue_events, pull_request_changes
from kalypso_actions.sandbox.branch_rules import BRANCHES
from kalypso_actions.sandbox.store import Identity, Issue, PullRequest, Repository, Store


def handle_push(
    store: Store,
    repository: Repository,
    ref: str,
    before: str | None,
    after: str | None,
    identity: Identity,
) -> None:
    """Record that git or the API created (`before` None), moved or deleted (`after` None) a ref.

    An open pull request follows its branch, and is closed if its branch or base is deleted. It is
    merged once the base contains its commits, and closed once it has no commits of its own.
    """
    repository.pushed_at = store.now
    events.push(store, repository, ref, before, after, identity)
    if not ref.startswith(BRANCHES):
        return
    branch = ref.removeprefix(BRANCHES)
    if after is None:
        _branch_deleted(store, repository, branch, before, identity)
        return
    if before is None:
        repository.branches_created_at[branch] = store.now
        _branch_restored(store, repository, branch, after, identity)
    _branch_moved(store, repository, branch, after, identity)


def open_pull_requests(repository: Repository) -> Iterator[tuple[Issue, PullRequest]]:
    """Yield the open pull requests."""
    for issue in list(repository.issues.values()):
        if issue.pull_request and issue.state == "open":
            yield issue, issue.pull_request


def _branch_deleted(
    store: Store, repository: Repository, branch: str, commit: str | None, identity: Identity
) -> None:
    for issue, pull_request in open_pull_requests(repository):
        if branch in {pull_request.head_branch, pull_request.base_branch}:
            pull_request_changes.close(store, repository, issue, pull_request, identity)
    for issue in _issues_of_head(repository, branch, commit):
        issue_events.record(store, issue, "head_ref_deleted", identity)


def _branch_restored(
    store: Store, repository: Repository, branch: str, commit: str, identity: Identity
) -> None:
    for issue in _issues_of_head(repository, branch, commit):
        if issue_events.head_is_deleted(issue):
            issue_events.record(store, issue, "head_ref_restored", identity)


def _issues_of_head(repository: Repository, branch: str, commit: str | None) -> list[Issue]:
    """Return open and closed pull requests whose head is this commit of this branch."""
    return [
        issue
        for issue in repository.issues.values()
        if (pull := issue.pull_request) and (pull.head_branch, pull.head_commit) == (branch, commit)
    ]


def _branch_moved(
    store: Store, repository: Repository, branch: str, commit: str, identity: Identity
) -> None:
    git = store.git(repository)
    for issue, pull_request in open_pull_requests(repository):
        if pull_request.head_branch == branch and pull_request.head_commit != commit:
            pull_request_changes.update_head(
                store, repository, issue, pull_request, commit, identity
            )
            base = git.head(pull_request.base_branch)
            if base and git.is_ancestor(commit, base):
                pull_request_changes.close(store, repository, issue, pull_request, identity)
        elif pull_request.base_branch == branch and git.is_ancestor(
            pull_request.head_commit, commit
        ):
            pull_request_changes.close(store, repository, issue, pull_request, identity, commit)
