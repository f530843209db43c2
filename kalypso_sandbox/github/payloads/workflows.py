"""Workflows and their runs."""

from __future__ import annotations

from kalypso_sandbox.github.endpoints import Json
from kalypso_sandbox.github.payloads import accounts, repositories
from kalypso_sandbox.github.payloads.view import View, node_id, timestamp
from kalypso_sandbox.github.workflow_files import Workflow
from kalypso_sandbox.store import Repository, WorkflowRun


def workflow(view: View, repository: Repository, workflow: Workflow) -> Json:
    """Return GitHub's `workflow`."""
    created_at = timestamp(repository.created_at)
    page = view.html(repository)
    return {
        "id": workflow.id,
        "node_id": node_id("Workflow", workflow.id),
        "name": workflow.name,
        "path": workflow.path,
        "state": "active",
        "created_at": created_at,
        "updated_at": created_at,
        "url": f"{view.api(repository)}/actions/workflows/{workflow.id}",
        "html_url": f"{page}/blob/{repository.default_branch}/{workflow.path}",
        "badge_url": f"{page}/workflows/{workflow.name.replace(' ', '%20')}/badge.svg",
    }


def run(view: View, repository: Repository, run: WorkflowRun, workflow: Workflow) -> Json:
    """Return GitHub's `workflow-run`; `workflow` is the workflow at the commit of the run."""
    url = f"{view.api(repository)}/actions/runs/{run.id}"
    suite = f"{view.api(repository)}/check-suites/{run.id}"
    started_at = timestamp(run.created_at)
    actor = accounts.simple(view, run.author)
    same = [other.id for other in repository.runs if other.workflow == run.workflow]
    same += [run.id] if run.id not in same else []
    return {
        "id": run.id,
        "name": workflow.name,
        "node_id": node_id("WorkflowRun", run.id),
        "check_suite_id": run.id,
        "check_suite_node_id": node_id("CheckSuite", run.id),
        "head_branch": run.ref.removeprefix("refs/heads/").removeprefix("refs/tags/"),
        "head_sha": run.commit,
        "path": run.workflow,
        "display_title": workflow.title(run.inputs),
        "run_number": same.index(run.id) + 1,
        "run_attempt": 1,
        "event": "workflow_dispatch",
        "status": run.status,
        "conclusion": run.conclusion,
        "workflow_id": workflow.id,
        "url": url,
        "html_url": f"{view.html(repository)}/actions/runs/{run.id}",
        "pull_requests": [],
        "created_at": started_at,
        "updated_at": started_at,
        "run_started_at": started_at,
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
        "workflow_url": f"{view.api(repository)}/actions/workflows/{workflow.id}",
        "head_commit": simple_commit(view, repository, run.commit),
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
