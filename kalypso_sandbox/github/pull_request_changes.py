"""Change the state of pull requests, with their refs and events."""

from __future__ import annotations

from kalypso_sandbox.github import events, issue_events
from kalypso_sandbox.github.mergeability import set_ref, try_merge
from kalypso_sandbox.store import Identity, Issue, PullRequest, Repository, Store


def register(
    store: Store,
    repository: Repository,
    issue: Issue,
    pull_request: PullRequest,
    identity: Identity,
) -> None:
    """Set the refs of a new pull request."""
    git = store.git(repository)
    set_ref(git, f"refs/pull/{issue.number}/head", pull_request.head_commit)
    try_merge(store, repository, issue, pull_request)
    events.pull_request(store, repository, issue, pull_request, "opened", identity)


def update_head(
    store: Store,
    repository: Repository,
    issue: Issue,
    pull_request: PullRequest,
    commit: str,
    identity: Identity,
) -> None:
    """Update the pull request after a push to its branch."""
    git = store.git(repository)
    before = pull_request.head_commit
    pull_request.former_head, pull_request.head_commit = before, commit
    pull_request.head_moved_at = store.now
    pull_request.base_commit = git.head(pull_request.base_branch) or pull_request.base_commit
    issue.updated_at = store.now
    set_ref(git, f"refs/pull/{issue.number}/head", commit)
    try_merge(store, repository, issue, pull_request)
    commits = {"before": before, "after": commit}
    events.pull_request(store, repository, issue, pull_request, "synchronize", identity, **commits)


def close(
    store: Store,
    repository: Repository,
    issue: Issue,
    pull_request: PullRequest,
    identity: Identity,
    merge_commit: str = "",
) -> None:
    """Close a pull request; with `merge_commit`, mark it as merged by this commit."""
    issue.state = "closed"
    issue.closed_at = issue.updated_at = store.now
    issue.closed_by = identity.login
    if merge_commit:
        pull_request.merged_at = store.now
        pull_request.merged_by = identity.login
        pull_request.merge_commit = merge_commit
        issue_events.record(store, issue, "merged", identity, commit=merge_commit)
    else:
        pull_request.auto_merge = None
    issue_events.record(store, issue, "closed", identity)
    set_ref(store.git(repository), f"refs/pull/{issue.number}/merge", "")
    events.pull_request(store, repository, issue, pull_request, "closed", identity)


def reopen(
    store: Store,
    repository: Repository,
    issue: Issue,
    pull_request: PullRequest,
    identity: Identity,
) -> None:
    """Reopen a closed pull request whose branches still exist."""
    issue.state = "open"
    issue.closed_at = None
    issue.closed_by = ""
    issue.updated_at = store.now
    issue_events.record(store, issue, "reopened", identity)
    pull_request.merge_commit = ""
    try_merge(store, repository, issue, pull_request)
    events.pull_request(store, repository, issue, pull_request, "reopened", identity)
