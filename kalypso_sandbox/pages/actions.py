"""Pages of workflows and their runs, and of a repository's settings."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from flask import request
from werkzeug.wrappers import Response

from kalypso_actions.model.workflow_files import FOLDER
from kalypso_sandbox.github.workflow_files import DISPATCH, Workflow, workflows_of
from kalypso_sandbox.pages.code import REPOSITORY
from kalypso_sandbox.pages.site import NoPageError, Site, Views, to
from kalypso_sandbox.store import Repository, WorkflowRun

MOST: Final = 100
"""The number of runs to show, newest first."""

ACTIONS: Final = f"{REPOSITORY}/actions"

views = Views()


@views.get(ACTIONS)
@views.get(f"{ACTIONS}/workflows/<file>")
def runs(site: Site, owner: str, name: str, file: str = "") -> Response:
    """Show the runs of a repository, or of one workflow, which people can start here."""
    found = site.repository(owner, name)
    known = workflows(site, found)
    chosen = next((each for each in known if file and each.is_called(file)), None)
    if file and chosen is None:
        raise NoPageError(f"{found.full_name} has no workflow {file}.")
    listed = [each for each in found.runs if chosen is None or each.workflow == chosen.path]
    return site.page(
        "runs.html",
        f"{chosen.name if chosen else 'Actions'} of {found.full_name}",
        repository=found,
        workflows=known,
        chosen=chosen,
        dispatched=chosen is not None and DISPATCH in chosen.triggers,
        runs=listed[: -MOST - 1 : -1],
        older=max(0, len(listed) - MOST),
        folder=FOLDER,
    )


@views.post(f"{ACTIONS}/workflows/<file>")
def start(site: Site, owner: str, name: str, file: str) -> Response:
    """Start a workflow."""
    found, form = site.repository(owner, name), request.form
    inputs = {key[6:]: text for key, text in form.items() if key.startswith("input-") and text}
    path = "/actions/workflows/{workflow_id}/dispatches"
    body = {"ref": form.get("ref", found.default_branch), "inputs": inputs}
    site.act("POST", path, found, body, workflow_id=file)
    return to(request.path)


@views.get(f"{ACTIONS}/runs/<int:run_id>")
def run(site: Site, owner: str, name: str, run_id: int) -> Response:
    """Show a run."""
    found, shown = _run(site, owner, name, run_id)
    title = f"Run {run_id} of {found.full_name}"
    return site.page("run.html", title, repository=found, run=shown)


def workflows(site: Site, repository: Repository) -> Sequence[Workflow]:
    """Return the workflows of the default branch."""
    git = site.store.git(repository)
    has_commit = git.head(repository.default_branch)
    return workflows_of(git, repository.default_branch) if has_commit else ()


def _run(site: Site, owner: str, name: str, run_id: int) -> tuple[Repository, WorkflowRun]:
    repository = site.repository(owner, name)
    run = next((each for each in repository.runs if each.id == run_id), None)
    if run is None:
        raise NoPageError(f"{repository.full_name} has no run {run_id}.")
    return repository, run


@views.get(f"{REPOSITORY}/settings")
@views.get(f"{REPOSITORY}/settings/<path:part>")
def settings(site: Site, owner: str, name: str, part: str = "") -> Response:
    """Show environments, variables and rules; every settings page of GitHub leads here."""
    found = site.repository(owner, name)
    title = f"Settings of {found.full_name}"
    return site.page("settings.html", title, repository=found, part=part)


@views.get("/settings/<path:_part>")
@views.get("/organizations/<owner>/settings/<path:_part>")
@views.get("/apps/<slug>")
def apps(site: Site, owner: str = "", slug: str = "", **_path: str) -> Response:
    """Show the GitHub Apps and their permissions."""
    known = [
        each
        for each in site.store.apps.values()
        if slug in {"", each.slug} and (not owner or owner in each.installations)
    ]
    return site.page("apps.html", "Apps", apps=known)
