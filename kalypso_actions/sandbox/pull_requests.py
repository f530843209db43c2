"""What happens to a pull request, with what follows from it: its refs, and the events."""

from __future__ import annotations

from kalypso_actions.sandbox import events, issue_events
from kalypso_actions.sandbox.mergeability import place, try_merge
from kalypso_actions.sandbox.world import Identity, Issue, PullRequest, Repository, World


def opened(
    world: World,
    repository: Repository,
    issue: Issue,
    pull_request: PullRequest,
    identity: Identity,
) -> None:
    """A new one stands in the repository's issues."""
    git = world.git(repository)
    place(git, f"refs/pull/{issue.number}/head", pull_request.head_commit)
    try_merge(world, repository, issue, pull_request)
    events.pull_request(world, repository, issue, pull_request, "opened", identity)


def head_moved(
    world: World,
    repository: Repository,
    issue: Issue,
    pull_request: PullRequest,
    commit: str,
    identity: Identity,
) -> None:
    """Its branch was pushed to."""
    git = world.git(repository)
    before = pull_request.head_commit
    pull_request.head_commit = commit
    pull_request.base_commit = git.head(pull_request.base_branch) or pull_request.base_commit
    issue.updated_at = world.now
    place(git, f"refs/pull/{issue.number}/head", commit)
    try_merge(world, repository, issue, pull_request)
    told = {"before": before, "after": commit}
    events.pull_request(world, repository, issue, pull_request, "synchronize", identity, **told)


def closed(
    world: World,
    repository: Repository,
    issue: Issue,
    pull_request: PullRequest,
    identity: Identity,
    merge_commit: str = "",
) -> None:
    """It was closed, or merged by this commit."""
    issue.state = "closed"
    issue.closed_at = issue.updated_at = world.now
    issue.closed_by = identity.login
    if merge_commit:
        pull_request.merged_at = world.now
        pull_request.merged_by = identity.login
        pull_request.merge_commit = merge_commit
        issue_events.record(world, issue, "merged", identity, commit=merge_commit)
    issue_events.record(world, issue, "closed", identity)
    place(world.git(repository), f"refs/pull/{issue.number}/merge", "")
    events.pull_request(world, repository, issue, pull_request, "closed", identity)


def reopened(
    world: World,
    repository: Repository,
    issue: Issue,
    pull_request: PullRequest,
    identity: Identity,
) -> None:
    """A closed one, whose branches still stand, is open again."""
    issue.state = "open"
    issue.closed_at = None
    issue.closed_by = ""
    issue.updated_at = world.now
    issue_events.record(world, issue, "reopened", identity)
    pull_request.merge_commit = ""
    try_merge(world, repository, issue, pull_request)
    events.pull_request(world, repository, issue, pull_request, "reopened", identity)
