"""The consequences of a push: its event, and the changes of pull requests."""

from __future__ import annotations

from collections.abc import Iterator

from kalypso_sandbox.github import events, issue_events, pull_request_changes
from kalypso_sandbox.github.branch_rules import BRANCHES
from kalypso_sandbox.store import Identity, Issue, PullRequest, Repository, Store


def handle_push(
    store: Store,
    repository: Repository,
    ref: str,
    before: str | None,
    after: str | None,
    identity: Identity,
) -> None:
    """Record that git or the API created (`before` None), moved or deleted (`after` None) a ref.

    An open pull request follows its branch, also in a fork. Close a pull request if its branch or
    base is deleted, or if it has no more commits of its own. Mark a pull request as merged if a
    push to the base contains its commits.
    """
    repository.pushed_at = store.now
    events.push(store, repository, ref, before, after, identity)
    if not ref.startswith(BRANCHES):
        return
    branch = ref.removeprefix(BRANCHES)
    if repository.parent:
        _fork_moved(store, repository, branch, after, identity)
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


def _fork_moved(
    store: Store, fork: Repository, branch: str, commit: str | None, identity: Identity
) -> None:
    """Update or close the pull requests of a fork's branch, which are in another repository."""
    original = store.repository(fork.parent)
    if original is None:
        return
    for issue, pull_request in open_pull_requests(original):
        if (pull_request.head_repository, pull_request.head_branch) != (fork.full_name, branch):
            continue
        if commit is None:
            pull_request_changes.close(store, original, issue, pull_request, identity)
            continue
        store.git(original).copy_objects(store.git(fork))
        pull_request_changes.update_head(store, original, issue, pull_request, commit, identity)


def _is_own_head(store: Store, repository: Repository, pull_request: PullRequest) -> bool:
    """Return whether the head is in the repository itself: a fork may use the same name."""
    return store.repository(pull_request.head_repository) is repository


def _branch_deleted(
    store: Store, repository: Repository, branch: str, commit: str | None, identity: Identity
) -> None:
    for issue, pull_request in open_pull_requests(repository):
        is_head = pull_request.head_branch == branch
        if pull_request.base_branch == branch or (
            is_head and _is_own_head(store, repository, pull_request)
        ):
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
        is_head = pull_request.head_branch == branch
        if (
            is_head
            and pull_request.head_commit != commit
            and _is_own_head(store, repository, pull_request)
        ):
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
