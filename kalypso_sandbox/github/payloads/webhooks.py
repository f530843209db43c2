"""The payloads of GitHub's webhooks, which jobs receive as their event."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from kalypso_sandbox.git.commits import GitCommit
from kalypso_sandbox.git.repositories import NO_OBJECT
from kalypso_sandbox.github.endpoints import Json
from kalypso_sandbox.github.payloads import (
    accounts,
    commits,
    pull_requests,
    repositories,
    reviews,
    workflows,
)
from kalypso_sandbox.github.payloads.view import View, node_id
from kalypso_sandbox.github.workflow_files import Workflow
from kalypso_sandbox.store import (
    Event,
    Identity,
    Issue,
    PullRequest,
    Repository,
    Review,
    WorkflowRun,
)

ACTIONS_INSTALLATION: Final = 1
"""The installation id of GitHub Actions, for events without another App."""


def push(
    view: View,
    repository: Repository,
    ref: str,
    before: str | None,
    after: str | None,
    *,
    forced: bool,
    new: Sequence[GitCommit],
    identity: Identity,
) -> Json:
    """Return the payload of a created (`before` None), moved or deleted (`after` None) ref.

    `new` are the added commits, oldest first; the last one is the head unless the ref is deleted.
    """
    described = [commits.pushed(view, repository, commit) for commit in new]
    page = f"{view.html(repository)}/compare"
    span = f"{(before or NO_OBJECT)[:12]}...{(after or NO_OBJECT)[:12]}"
    account = view.store.account(identity.login)
    return {
        "ref": ref,
        "before": before or NO_OBJECT,
        "after": after or NO_OBJECT,
        "repository": repositories.pushed(view, repository),
        "pusher": {"name": account.login, "email": accounts.email(account)},
        **_sender(view, repository, identity),
        "created": before is None,
        "deleted": after is None,
        "forced": forced,
        "base_ref": None,
        "compare": f"{page}/{span}",
        "commits": described,
        "head_commit": described[-1] if after and described else None,
    }


def pull_request(
    view: View,
    repository: Repository,
    issue: Issue,
    pull_request: PullRequest,
    action: str,
    identity: Identity,
    **more: Json,
) -> Json:
    """Return the payload of a pull request event; `more` are fields of that action."""
    return {
        "action": action,
        "number": issue.number,
        "pull_request": pull_requests.full(view, repository, issue, pull_request),
        **more,
        "repository": repositories.simple(view, repository),
        **_sender(view, repository, identity),
    }


def merge_group(
    view: View,
    repository: Repository,
    branch: str,
    base: str,
    group: str,
    ref: str,
    identity: Identity,
) -> Json:
    """Return the payload of a merge group that the queue of `branch` created at `ref`."""
    return {
        "action": "checks_requested",
        "merge_group": {
            "head_sha": group,
            "head_ref": ref,
            "base_sha": base,
            "base_ref": f"refs/heads/{branch}",
            "head_commit": workflows.simple_commit(view, repository, group),
        },
        "repository": repositories.simple(view, repository),
        **_sender(view, repository, identity),
    }


@dataclass(frozen=True, slots=True)
class CompletedRun:
    """A completed run of a workflow, by the file's path and name."""

    id: int
    path: str
    name: str
    conclusion: str


def workflow_run(
    view: View, repository: Repository, cause: Event, run: CompletedRun, identity: Identity
) -> Json:
    """Return the payload of a completed run.

    The head is that of the pull request, not the test merge that the run checked. The payload does
    not name pull requests of forks.
    """
    pull_request = cause.payload.get("pull_request")
    head = pull_request["head"] if pull_request else {}
    workflow = Workflow(run.path, run.name)
    record = WorkflowRun(
        id=run.id,
        workflow=run.path,
        ref=head["ref"] if head else cause.ref,
        commit=head["sha"] if head else cause.commit,
        inputs={},
        author=cause.actor,
        created_at=cause.created_at,
        status="completed",
        conclusion=run.conclusion,
    )
    described = workflows.run(view, repository, record, workflow)
    fork = view.store.repository(head["repo"]["full_name"]) if head and head["repo"] else None
    return {
        "action": "completed",
        "workflow_run": {
            **described,
            "event": cause.name,
            "head_repository": repositories.minimal(view, fork or repository),
        },
        "workflow": workflows.workflow(view, repository, workflow),
        "repository": repositories.simple(view, repository),
        **_sender(view, repository, identity),
    }


def review(
    view: View,
    repository: Repository,
    issue: Issue,
    pull_request: PullRequest,
    review: Review,
    identity: Identity,
) -> Json:
    """Return the payload of a submitted review; its state is in lower case."""
    described = {**reviews.review(view, repository, issue, review), "state": review.state.lower()}
    return {
        "action": "submitted",
        "review": described,
        "pull_request": pull_requests.simple(view, repository, issue, pull_request),
        "repository": repositories.simple(view, repository),
        **_sender(view, repository, identity),
    }


def workflow_dispatch(
    view: View,
    repository: Repository,
    workflow: str,
    ref: str,
    inputs: Mapping[str, str],
    identity: Identity,
) -> Json:
    """Return the payload of a dispatch; `workflow` is the path of the workflow's file."""
    return {
        "inputs": dict(inputs) or None,
        "ref": ref,
        "repository": repositories.simple(view, repository),
        "workflow": workflow,
        **_sender(view, repository, identity),
    }


def repository_dispatch(
    view: View, repository: Repository, event_type: str, client_payload: Json, identity: Identity
) -> Json:
    """Return the payload of a repository dispatch; `event_type` is its action."""
    installation = next(
        (
            installation.id
            for app in view.store.apps.values()
            for owner, installation in app.installations.items()
            if app.id == identity.app_id and owner.lower() == repository.owner.lower()
        ),
        ACTIONS_INSTALLATION,
    )
    return {
        "action": event_type,
        "branch": repository.default_branch,
        "client_payload": client_payload,
        "repository": repositories.simple(view, repository),
        **_sender(view, repository, identity),
        "installation": {
            "id": installation,
            "node_id": node_id("IntegrationInstallation", installation),
        },
    }


def _sender(view: View, repository: Repository, identity: Identity) -> Json:
    sender = {"sender": accounts.simple(view, identity.login)}
    if view.store.account(repository.owner).kind != "Organization":
        return sender
    return {**sender, "organization": accounts.organization(view, repository.owner)}
