"""What follows from a push: the event, and what becomes of pull requests."""

from __future__ import annotations

from collections.abc import Iterator

from kalypso_actions.sandbox import events, issue_events, pull_requests
from kalypso_actions.sandbox.rules import BRANCHES
from kalypso_actions.sandbox.world import Identity, Issue, PullRequest, Repository, World


def pushed(
    world: World,
    repository: Repository,
    ref: str,
    before: str | None,
    after: str | None,
    identity: Identity,
) -> None:
    """A ref was made (`before` None), moved or deleted (`after` None), by git or by the API.

    Open pull requests follow their branch, and are closed with it or with their base; they are
    merged when the base has got their commits, and closed when none of their own is left.
    """
    repository.pushed_at = world.now
    events.push(world, repository, ref, before, after, identity)
    if not ref.startswith(BRANCHES):
        return
    branch = ref.removeprefix(BRANCHES)
    if after is None:
        _branch_deleted(world, repository, branch, before, identity)
        return
    if before is None:
        _branch_restored(world, repository, branch, after, identity)
    _branch_moved(world, repository, branch, after, identity)


def open_pull_requests(repository: Repository) -> Iterator[tuple[Issue, PullRequest]]:
    """Those that are neither closed nor merged."""
    for issue in list(repository.issues.values()):
        if issue.pull_request and issue.state == "open":
            yield issue, issue.pull_request


def _branch_deleted(
    world: World, repository: Repository, branch: str, commit: str | None, identity: Identity
) -> None:
    for issue, pull_request in open_pull_requests(repository):
        if branch in {pull_request.head_branch, pull_request.base_branch}:
            pull_requests.closed(world, repository, issue, pull_request, identity)
    for issue in _issues_of_head(repository, branch, commit):
        issue_events.record(world, issue, "head_ref_deleted", identity)


def _branch_restored(
    world: World, repository: Repository, branch: str, commit: str, identity: Identity
) -> None:
    for issue in _issues_of_head(repository, branch, commit):
        if issue_events.head_is_deleted(issue):
            issue_events.record(world, issue, "head_ref_restored", identity)


def _issues_of_head(repository: Repository, branch: str, commit: str | None) -> list[Issue]:
    """Return the pull requests, closed ones too, whose head is this commit of this branch."""
    return [
        issue
        for issue in repository.issues.values()
        if (one := issue.pull_request) and (one.head_branch, one.head_commit) == (branch, commit)
    ]


def _branch_moved(
    world: World, repository: Repository, branch: str, commit: str, identity: Identity
) -> None:
    git = world.git(repository)
    for issue, pull_request in open_pull_requests(repository):
        if pull_request.head_branch == branch and pull_request.head_commit != commit:
            pull_requests.head_moved(world, repository, issue, pull_request, commit, identity)
            base = git.head(pull_request.base_branch)
            if base and git.is_ancestor(commit, base):
                pull_requests.closed(world, repository, issue, pull_request, identity)
        elif pull_request.base_branch == branch and git.is_ancestor(
            pull_request.head_commit, commit
        ):
            pull_requests.closed(world, repository, issue, pull_request, identity, commit)
