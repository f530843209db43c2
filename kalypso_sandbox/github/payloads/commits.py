"""Commits and refs; workflows and their runs."""

from __future__ import annotations

from typing import Final
from urllib.parse import quote

from kalypso_sandbox.git.objects import FileChange, GitCommit, Person
from kalypso_sandbox.github.access import RepositoryAccess
from kalypso_sandbox.github.payloads.accounts import (
    author,
    login_of,
    minimal_repository,
    node_id,
    timestamp,
    user,
)
from kalypso_sandbox.github.workflow_files import Workflow
from kalypso_sandbox.json_http import Json
from kalypso_sandbox.store import WorkflowRun

UNSIGNED: Final = {
    "verified": False,
    "reason": "unsigned",
    "signature": None,
    "payload": None,
    "verified_at": None,
}


def reference(access: RepositoryAccess, ref: str, sha: str, kind: str) -> Json:
    """Return GitHub's `git-ref`; `kind` is the type of its object."""
    url = access.url
    return {
        "ref": ref,
        "node_id": node_id("Ref", f"{access.repository.id}:{ref}"),
        "url": f"{url}/git/{quote(ref)}",
        "object": {"sha": sha, "type": kind, "url": f"{url}/git/{kind}s/{sha}"},
    }


def git_commit(access: RepositoryAccess, commit: GitCommit) -> Json:
    """Return GitHub's `git-commit`: git's own fields."""
    url, page = access.url, access.page
    return {
        "sha": commit.id,
        "node_id": node_id("Commit", f"{access.repository.id}:{commit.id}"),
        "url": f"{url}/git/commits/{commit.id}",
        "html_url": f"{page}/commit/{commit.id}",
        "author": _signature(commit.author),
        "committer": _signature(commit.committer),
        "tree": {"sha": commit.tree, "url": f"{url}/git/trees/{commit.tree}"},
        "message": commit.message.rstrip("\n"),
        "parents": [
            {
                "sha": parent,
                "url": f"{url}/git/commits/{parent}",
                "html_url": f"{page}/commit/{parent}",
            }
            for parent in commit.parents
        ],
        "verification": _verification(commit),
    }


def full(access: RepositoryAccess, commit: GitCommit) -> Json:
    """Return GitHub's `commit`, with the accounts of the author and committer if they have any."""
    known = git_commit(access, commit)
    url = f"{access.url}/commits"
    inner = {key: known[key] for key in ("author", "committer", "message", "tree", "url")}
    return {
        "sha": commit.id,
        "node_id": known["node_id"],
        "commit": {**inner, "comment_count": 0, "verification": known["verification"]},
        "url": f"{url}/{commit.id}",
        "html_url": known["html_url"],
        "comments_url": f"{url}/{commit.id}/comments",
        "author": author(access, commit.author.email),
        "committer": author(access, commit.committer.email),
        "parents": [{**parent, "url": f"{url}/{parent['sha']}"} for parent in known["parents"]],
    }


def pushed(access: RepositoryAccess, commit: GitCommit) -> Json:
    """Return a commit of a push event, which lists no files."""
    return {
        "id": commit.id,
        "tree_id": commit.tree,
        "distinct": True,
        "message": commit.message.rstrip("\n"),
        "timestamp": commit.committer.date.isoformat(timespec="seconds"),
        "url": f"{access.page}/commit/{commit.id}",
        "author": _named(commit.author),
        "committer": _named(commit.committer),
    }


def changed_file(access: RepositoryAccess, change: FileChange, commit: str) -> Json:
    """Return GitHub's `diff-entry`, without the patch."""
    path = quote(change.path)
    page = access.page
    entry = {
        "sha": change.blob,
        "filename": change.path,
        "status": change.status,
        "additions": change.additions,
        "deletions": change.deletions,
        "changes": change.additions + change.deletions,
        "blob_url": f"{page}/blob/{commit}/{path}",
        "raw_url": f"{page}/raw/{commit}/{path}",
        "contents_url": f"{access.url}/contents/{path}?ref={commit}",
    }
    if change.previous_path:
        entry["previous_filename"] = change.previous_path
    return entry


def workflow(access: RepositoryAccess, workflow: Workflow) -> Json:
    """Return GitHub's `workflow`."""
    created_at = timestamp(access.repository.created_at)
    return {
        "id": workflow.id,
        "node_id": node_id("Workflow", workflow.id),
        "name": workflow.name,
        "path": workflow.path,
        "state": "active",
        "created_at": created_at,
        "updated_at": created_at,
        "url": f"{access.url}/actions/workflows/{workflow.id}",
        "html_url": f"{access.page}/blob/{access.repository.default_branch}/{workflow.path}",
        "badge_url": f"{access.page}/workflows/{workflow.name.replace(' ', '%20')}/badge.svg",
    }


def run(access: RepositoryAccess, run: WorkflowRun, workflow: Workflow) -> Json:
    """Return GitHub's `workflow-run`; `workflow` is the workflow at the commit of the run."""
    url = f"{access.url}/actions/runs/{run.id}"
    suite = f"{access.url}/check-suites/{run.id}"
    started_at = timestamp(run.created_at)
    actor = user(access, run.author)
    same = [other.id for other in access.repository.runs if other.workflow == run.workflow]
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
        "run_attempt": run.attempt,
        "event": run.event,
        "status": run.status,
        "conclusion": run.conclusion,
        "workflow_id": workflow.id,
        "url": url,
        "html_url": f"{access.page}/actions/runs/{run.id}",
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
        "workflow_url": f"{access.url}/actions/workflows/{workflow.id}",
        "head_commit": simple_commit(access, run.commit),
        "repository": minimal_repository(access),
        "head_repository": minimal_repository(access),
    }


def simple_commit(access: RepositoryAccess, commit: str) -> Json:
    """Return GitHub's `simple-commit`."""
    head = access.git.commit(commit)
    return {
        "id": head.id,
        "tree_id": head.tree,
        "message": head.message.rstrip("\n"),
        "timestamp": timestamp(head.committer.date),
        "author": {"name": head.author.name, "email": head.author.email},
        "committer": {"name": head.committer.name, "email": head.committer.email},
    }


def _verification(commit: GitCommit) -> Json:
    if not commit.signature:
        return UNSIGNED
    return {
        "verified": True,
        "reason": "valid",
        "signature": commit.signature,
        "payload": f"tree {commit.tree}\n",
        "verified_at": timestamp(commit.committer.date),
    }


def _signature(person: Person) -> Json:
    return {"name": person.name, "email": person.email, "date": timestamp(person.date)}


def _named(person: Person) -> Json:
    login = login_of(person.email)
    name: Json = {"name": person.name, "email": person.email}
    return {**name, "username": login} if login else name
