"""The events for workflows, each with its payload.

Events of a GITHUB_TOKEN start no workflows, except dispatches. On github.com, its pull requests
start workflows once a person approves.

https://docs.github.com/actions/concepts/security/github_token
"""

from __future__ import annotations

from typing import Final

from kalypso_sandbox.git.commits import GitCommit
from kalypso_sandbox.github.endpoints import Json
from kalypso_sandbox.github.payloads import webhooks
from kalypso_sandbox.github.payloads.view import View
from kalypso_sandbox.store import (
    Event,
    Identity,
    Issue,
    PullRequest,
    Repository,
    Review,
    Store,
)

SKIP_MARKERS: Final = ("[skip ci]", "[ci skip]", "[no ci]", "[skip actions]", "[actions skip]")
"""Markers in a commit message that keep pushes and pull requests from starting workflows."""

NEW_HEADS: Final = frozenset({"opened", "synchronize", "reopened"})

QUEUE: Final = "refs/heads/gh-readonly-queue/"

MAX_COMMITS: Final = 2048
"""The number of commits in a push event, which contains only the last ones."""


def push(
    store: Store,
    repository: Repository,
    ref: str,
    before: str | None,
    after: str | None,
    identity: Identity,
) -> None:
    """Record that a ref was created (`before` None), moved, or deleted (`after` None)."""
    git = store.git(repository)
    new = _new_commits(store, repository, before, after)
    payload = webhooks.push(
        View.of_events(store),
        repository,
        ref,
        before,
        after,
        forced=before is not None and after is not None and not git.is_ancestor(before, after),
        new=new[-MAX_COMMITS:],
        identity=identity,
    )
    starts = identity.kind != "actions" and after is not None and not _skips(new[-1].message)
    _record(store, repository, "push", payload, ref, after or "", identity, starts=starts)


def pull_request(
    store: Store,
    repository: Repository,
    issue: Issue,
    pull_request: PullRequest,
    action: str,
    identity: Identity,
    **more: Json,
) -> None:
    """Record an event of a pull request; `more` are further fields of the payload.

    No workflow starts if the test merge has conflicts.
    """
    view = View.of_events(store)
    payload = webhooks.pull_request(view, repository, issue, pull_request, action, identity, **more)
    ref = f"refs/pull/{issue.number}/merge"
    commit = pull_request.merge_commit
    if pull_request.merged_at:
        ref = f"refs/heads/{pull_request.base_branch}"
    message = store.git(repository).commit(pull_request.head_commit).message
    held = identity.kind == "actions" and action in NEW_HEADS and store.flavour == "github.com"
    starts = (held or identity.kind != "actions") and bool(commit)
    if action != "closed":
        starts = starts and not _skips(message)
    _record(
        store,
        repository,
        "pull_request",
        payload,
        ref,
        commit or pull_request.head_commit,
        identity,
        starts=starts,
        held=held and starts,
    )


def merge_group(
    store: Store, repository: Repository, branch: str, base: str, group: str, identity: Identity
) -> None:
    """Record that the merge queue of `branch` asks for checks of a group's commit."""
    ref = f"{QUEUE}{branch}/pr-{store.new_id()}-{base}"
    git = store.git(repository)
    git.update_ref(ref, group, git.ref(ref))
    view = View.of_events(store)
    payload = webhooks.merge_group(view, repository, branch, base, group, ref, identity)
    _record(store, repository, "merge_group", payload, ref, group, identity)


def workflow_run(
    store: Store, repository: Repository, cause: Event, run: webhooks.CompletedRun
) -> None:
    """Record the completion of a run that the event `cause` started.

    Workflows of the default branch receive it, as an event of the account that caused `cause`.
    """
    identity = Identity(kind="user", login=cause.actor, permissions={})
    payload = webhooks.workflow_run(View.of_events(store), repository, cause, run, identity)
    ref = f"refs/heads/{repository.default_branch}"
    commit = store.git(repository).head(repository.default_branch) or ""
    _record(store, repository, "workflow_run", payload, ref, commit, identity)


def review(
    store: Store,
    repository: Repository,
    issue: Issue,
    pull_request: PullRequest,
    review: Review,
    identity: Identity,
) -> None:
    """Record a submitted review."""
    view = View.of_events(store)
    payload = webhooks.review(view, repository, issue, pull_request, review, identity)
    _record(
        store,
        repository,
        "pull_request_review",
        payload,
        f"refs/pull/{issue.number}/merge",
        pull_request.merge_commit or pull_request.head_commit,
        identity,
        starts=identity.kind != "actions" and bool(pull_request.merge_commit),
    )


def workflow_dispatch(
    store: Store,
    repository: Repository,
    workflow: str,
    ref: str,
    commit: str,
    inputs: dict[str, str],
    identity: Identity,
) -> None:
    """Record a dispatch; `workflow` is the path of the workflow's file."""
    view = View.of_events(store)
    payload = webhooks.workflow_dispatch(view, repository, workflow, ref, inputs, identity)
    _record(store, repository, "workflow_dispatch", payload, ref, commit, identity)


def repository_dispatch(
    store: Store,
    repository: Repository,
    event_type: str,
    client_payload: Json,
    identity: Identity,
) -> None:
    """Record a repository_dispatch event; workflows of the default branch receive it."""
    view = View.of_events(store)
    payload = webhooks.repository_dispatch(view, repository, event_type, client_payload, identity)
    ref = f"refs/heads/{repository.default_branch}"
    commit = store.git(repository).head(repository.default_branch) or ""
    _record(store, repository, "repository_dispatch", payload, ref, commit, identity)


def _record(
    store: Store,
    repository: Repository,
    name: str,
    payload: Json,
    ref: str,
    commit: str,
    identity: Identity,
    *,
    starts: bool = True,
    held: bool = False,
) -> None:
    event = Event(
        id=store.new_id(),
        name=name,
        repository=repository.full_name,
        ref=ref,
        commit=commit,
        actor=identity.login,
        payload=payload,
        created_at=store.now,
        starts_workflows=starts,
        held=held,
    )
    store.add_event(event)


def _new_commits(
    store: Store, repository: Repository, before: str | None, after: str | None
) -> list[GitCommit]:
    """Return the commits of a push, oldest first; empty only for a deleted ref.

    The default branch is the base of a new ref.
    """
    if after is None:
        return []
    git = store.git(repository)
    base = before or git.head(repository.default_branch)
    commits = list(git.commits_between(base, after)) if base else []
    return commits or [git.commit(after)]


def _skips(message: str) -> bool:
    return any(word in message for word in SKIP_MARKERS)
