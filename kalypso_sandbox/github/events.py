"""The events for workflows, each with the payload that a job receives.

Events of a GITHUB_TOKEN start no workflows, except dispatches. On github.com, its pull requests
start workflows once a person approves.

https://docs.github.com/actions/concepts/security/github_token
https://docs.github.com/webhooks/webhook-events-and-payloads
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from kalypso_sandbox.git.objects import GitCommit
from kalypso_sandbox.git.repositories import BRANCHES, NO_OBJECT, RefUpdate
from kalypso_sandbox.github.access import RepositoryAccess, access_of_event
from kalypso_sandbox.github.payloads import commits, issues
from kalypso_sandbox.github.payloads.accounts import (
    minimal_repository,
    node_id,
    organization,
    own_person,
    simple_repository,
    user,
)
from kalypso_sandbox.github.workflow_files import Workflow
from kalypso_sandbox.json_http import Json
from kalypso_sandbox.store import (
    PERSON,
    Event,
    Identity,
    Issue,
    Repository,
    Store,
    WorkflowRun,
)

SKIP_MARKERS: Final = ("[skip ci]", "[ci skip]", "[no ci]", "[skip actions]", "[actions skip]")
"""Markers in a commit message that keep pushes and pull requests from starting workflows."""

NEW_HEADS: Final = frozenset({"opened", "synchronize", "reopened"})

QUEUE: Final = "refs/heads/gh-readonly-queue/"

MAX_COMMITS: Final = 2048
"""The number of commits in a push event, which contains only the last ones."""

ACTIONS_INSTALLATION: Final = 1
"""The installation id of GitHub Actions, for events without another App."""


@dataclass(frozen=True, slots=True)
class CompletedRun:
    """A completed run of a workflow, by the file's path and name."""

    id: int
    path: str
    name: str
    conclusion: str


def push(access: RepositoryAccess, update: RefUpdate) -> None:
    """Record that a ref was created, moved, or deleted."""
    access = _of_event(access)
    git, repository = access.git, access.repository
    before, after = update.before or NO_OBJECT, update.after or NO_OBJECT
    new = _new_commits(access, update)
    described = [commits.pushed(access, commit) for commit in new[-MAX_COMMITS:]]
    pusher = own_person(access)
    payload = {
        "ref": update.ref,
        "before": before,
        "after": after,
        "pusher": {"name": pusher.name, "email": pusher.email},
        "created": update.before is None,
        "deleted": update.after is None,
        "forced": update.before is not None
        and update.after is not None
        and not git.is_ancestor(before, after),
        "base_ref": None,
        "compare": f"{access.page}/compare/{before[:12]}...{after[:12]}",
        "commits": described,
        "head_commit": described[-1] if described else None,
    }
    old_fields = {
        "created_at": int(repository.created_at.timestamp()),
        "pushed_at": int(repository.pushed_at.timestamp()),
        "master_branch": repository.default_branch,
        "stargazers": 0,
    }
    starts = access.identity.kind != "actions" and bool(new) and not _skips(new[-1].message)
    _record(access, "push", payload, update.ref, update.after, starts=starts, old=old_fields)


def pull_request(access: RepositoryAccess, issue: Issue, action: str, **more: Json) -> None:
    """Record an event of a pull request; `more` are further fields of the payload.

    No workflow starts if the test merge has conflicts.
    """
    access = _of_event(access)
    payload = {
        "action": action,
        "number": issue.number,
        "pull_request": issues.full_pull_request(access, issue),
        **more,
    }
    pull, by_job = issue.pull, access.identity.kind == "actions"
    ref = BRANCHES + pull.base_branch if pull.merged_at else f"refs/pull/{issue.number}/merge"
    held = by_job and action in NEW_HEADS and access.store.flavour == "github.com"
    starts = (held or not by_job) and bool(pull.merge_commit)
    if action != "closed":
        starts = starts and not _skips(access.git.commit(pull.head_commit).message)
    commit = pull.merge_commit or pull.head_commit
    _record(access, "pull_request", payload, ref, commit, starts=starts, held=held and starts)


def merge_group(access: RepositoryAccess, branch: str, base: str, group: str) -> None:
    """Record that the merge queue of `branch` asks for checks of a group's commit."""
    access = _of_event(access)
    ref = f"{QUEUE}{branch}/pr-{access.store.new_id()}-{base}"
    access.git.update_ref(ref, group, access.git.ref(ref))
    described = {
        "head_sha": group,
        "head_ref": ref,
        "base_sha": base,
        "base_ref": BRANCHES + branch,
        "head_commit": commits.simple_commit(access, group),
    }
    payload = {"action": "checks_requested", "merge_group": described}
    _record(access, "merge_group", payload, ref, group)


def workflow_run(store: Store, repository: Repository, cause: Event, run: CompletedRun) -> None:
    """Record the completion of a run that the event `cause` started.

    Workflows of the default branch receive it, as an event of the account that caused `cause`. The
    head is that of the pull request, not the test merge that the run checked. The payload does not
    name pull requests of forks.
    """
    identity = Identity(kind="user", login=cause.actor, permissions={})
    access = access_of_event(store, repository, identity)
    pull = cause.payload.get("pull_request")
    head = pull["head"] if pull else {}
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
        event=cause.name,
    )
    fork = store.repository(head["repo"]["full_name"]) if head and head["repo"] else None
    payload = {
        "action": "completed",
        "workflow_run": {
            **commits.run(access, record, workflow),
            "head_repository": minimal_repository(access.at(fork or repository)),
        },
        "workflow": commits.workflow(access, workflow),
    }
    _record(access, "workflow_run", payload)


def workflow_dispatch(access: RepositoryAccess, run: WorkflowRun) -> None:
    """Record the dispatch that starts a run, and note the event in the run."""
    payload = {"inputs": dict(run.inputs) or None, "ref": run.ref, "workflow": run.workflow}
    event = _record(_of_event(access), "workflow_dispatch", payload, run.ref, run.commit)
    run.event_id = event.id


def schedule(store: Store, repository: Repository, cron: str) -> None:
    """Record that a cron expression of the default branch is due."""
    identity = Identity(kind="user", login=PERSON, permissions={})
    _record(access_of_event(store, repository, identity), "schedule", {"schedule": cron})


def repository_dispatch(access: RepositoryAccess, event_type: str, client_payload: Json) -> None:
    """Record a repository_dispatch event; workflows of the default branch receive it."""
    access = _of_event(access)
    owner = access.repository.owner.lower()
    installation = next(
        (
            installation.id
            for app in access.store.apps.values()
            for login, installation in app.installations.items()
            if app.id == access.identity.app_id and login.lower() == owner
        ),
        ACTIONS_INSTALLATION,
    )
    payload = {
        "action": event_type,
        "branch": access.repository.default_branch,
        "client_payload": client_payload,
        "installation": {
            "id": installation,
            "node_id": node_id("IntegrationInstallation", installation),
        },
    }
    _record(access, "repository_dispatch", payload)


def _of_event(access: RepositoryAccess) -> RepositoryAccess:
    return access_of_event(access.store, access.repository, access.identity)


def _record(
    access: RepositoryAccess,
    name: str,
    payload: dict[str, Json],
    ref: str = "",
    commit: str | None = "",
    *,
    starts: bool = True,
    held: bool = False,
    old: dict[str, Json] | None = None,
) -> Event:
    """Add the repository and the sender to a payload, record the event, and return it.

    Without a ref, it is the head of the default branch. `old` are old fields of the repository.
    """
    store, repository = access.store, access.repository
    payload["repository"] = {**simple_repository(access), **(old or {})}
    payload["sender"] = user(access, access.identity.login)
    if store.account(repository.owner).kind == "Organization":
        payload["organization"] = organization(access, repository.owner)
    if not ref:
        ref = BRANCHES + repository.default_branch
        commit = access.git.head(repository.default_branch)
    event = Event(
        id=store.new_id(),
        name=name,
        repository=repository.full_name,
        ref=ref,
        commit=commit or "",
        actor=access.identity.login,
        payload=payload,
        created_at=store.now,
        starts_workflows=starts,
        held=held,
    )
    store.events.append(event)
    return event


def _new_commits(access: RepositoryAccess, update: RefUpdate) -> list[GitCommit]:
    """Return the commits of a push, oldest first; empty only for a deleted ref.

    The default branch is the base of a new ref.
    """
    if update.after is None:
        return []
    base = update.before or access.git.head(access.repository.default_branch)
    new = list(access.git.commits_between(base, update.after)) if base else []
    return new or [access.git.commit(update.after)]


def _skips(message: str) -> bool:
    return any(word in message for word in SKIP_MARKERS)
