"""Workflows and their runs."""

from __future__ import annotations

from kalypso_actions.sandbox.endpoints import Json
from kalypso_actions.sandbox.payloads import accounts, repositories
from kalypso_actions.sandbox.payloads.view import View, node_id, timestamp
from kalypso_actions.sandbox.store import Repository, WorkflowRun
from kalypso_actions.sandbox.workflow_files import Workflow


def workflow(view: View, repository: Repository, one: Workflow) -> Json:
    """Return GitHub's `workflow`."""
    made = timestamp(repository.created_at)
    page = view.html(repository)
    return {
        "id": one.id,
        "node_id": node_id("Workflow", one.id),
        "name": one.name,
        "path": one.path,
        "state": "active",
        "created_at": made,
        "updated_at": made,
        "url": f"{view.api(repository)}/actions/workflows/{one.id}",
        "html_url": f"{page}/blob/{repository.default_branch}/{one.path}",
        "badge_url": f"{page}/workflows/{one.name.replace(' ', '%20')}/badge.svg",
    }


def run(view: View, repository: Repository, one: WorkflowRun, described: Workflow) -> Json:
    """Return GitHub's `workflow-run`; `described` is the workflow at the commit of the run."""
    url = f"{view.api(repository)}/actions/runs/{one.id}"
    suite = f"{view.api(repository)}/check-suites/{one.id}"
    began = timestamp(one.created_at)
    actor = accounts.simple(view, one.author)
    same = [other.id for other in repository.runs if other.workflow == one.workflow]
    same += [one.id] if one.id not in same else []
    return {
        "id": one.id,
        "name": described.name,
        "node_id": node_id("WorkflowRun", one.id),
        "check_suite_id": one.id,
        "check_suite_node_id": node_id("CheckSuite", one.id),
        "head_branch": one.ref.removeprefix("refs/heads/").removeprefix("refs/tags/"),
        "head_sha": one.commit,
        "path": one.workflow,
        "display_title": described.title(one.inputs),
        "run_number": same.index(one.id) + 1,
        "run_attempt": 1,
        "event": "workflow_dispatch",
        "status": one.status,
        "conclusion": one.conclusion,
        "workflow_id": described.id,
        "url": url,
        "html_url": f"{view.html(repository)}/actions/runs/{one.id}",
        "pull_requests": [],
        "created_at": began,
        "updated_at": began,
        "run_started_at": began,
        "actor": actor,
        "triggering_actor": actor,
        "referenced_workflows": [],
        "jobs_url": f"{url}/jobs",
        "logs_url": f"{url}/logs",
        "check_suite_url": suite,
        "artifacts_url": f"{url}/artifacts",
        "cancel_url": f"{url}/cancel",
        "rerun_url": f"{url}/rerun",
        "previous_attempt_url": None,
        "workflow_url": f"{view.api(repository)}/actions/workflows/{described.id}",
        "head_commit": simple_commit(view, repository, one.commit),
        "repository": repositories.minimal(view, repository),
        "head_repository": repositories.minimal(view, repository),
    }


def simple_commit(view: View, repository: Repository, commit: str) -> Json:
    """Return GitHub's `simple-commit`."""
    head = view.store.git(repository).commit(commit)
    return {
        "id": head.id,
        "tree_id": head.tree,
        "message": head.message.rstrip("\n"),
        "timestamp": timestamp(head.committer.date),
        "author": {"name": head.author.name, "email": head.author.email},
        "committer": {"name": head.committer.name, "email": head.committer.email},
    }
