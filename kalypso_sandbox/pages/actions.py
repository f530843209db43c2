"""Pages of workflows and their runs, and of a repository's settings."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, Final

from flask import request
from werkzeug.wrappers import Response

from kalypso_actions.model.workflow_files import FOLDER
from kalypso_sandbox.github.endpoints import RefusedError
from kalypso_sandbox.github.workflow_files import DISPATCH, Workflow, workflows_of
from kalypso_sandbox.pages.code import REPOSITORY
from kalypso_sandbox.pages.site import NoPageError, Site, Views, to
from kalypso_sandbox.store import Repository, StepRun, WorkflowRun

if TYPE_CHECKING:
    from kalypso_sandbox.workflow_runner.background import BackgroundRunner, Cron

MOST: Final = 100
"""The number of runs to show, newest first."""

MOST_LINES: Final = 1000
"""The number of lines to show of a step's log, the last ones."""

ACTIONS: Final = f"{REPOSITORY}/actions"

views = Views()


@views.get(ACTIONS)
@views.get(f"{ACTIONS}/workflows/<file>")
def runs(site: Site, owner: str, name: str, file: str = "") -> Response:
    """Show the runs of a repository, or of one workflow, which people can start here.

    A workflow that the default branch lacks has a page if it has run.
    """
    found = site.repository(owner, name)
    known = workflows(site, found)
    others = (Workflow(each.workflow, each.name or each.workflow) for each in reversed(found.runs))
    called = (each for each in [*known, *others] if file and each.is_called(file))
    chosen = next(called, None)
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
        can_run=site.state.runner is not None,
        crons=[
            each for each in known_crons(site, found) if chosen and each.workflow == chosen.path
        ],
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


@views.post(f"{ACTIONS}/workflows/<file>/cron")
def start_by_clock(site: Site, owner: str, name: str, file: str) -> Response:
    """Start a workflow as its cron expression does."""
    found = site.repository(owner, name)
    _runner(site).start_cron(found.full_name, FOLDER + file)
    return to(request.path.removesuffix("/cron"))


@views.get(f"{ACTIONS}/runs/<int:run_id>")
@views.get(f"{ACTIONS}/runs/<int:run_id>/<path:part>")
def run(site: Site, owner: str, name: str, run_id: int, **_part: str) -> Response:
    """Show a run with its jobs, steps, logs and summaries."""
    found, shown = _run(site, owner, name, run_id)
    return site.page(
        "run.html",
        f"{shown.title or shown.name or shown.workflow} of {found.full_name}",
        repository=found,
        run=shown,
        written=partial(_written, site),
        can_run=site.state.runner is not None,
    )


@views.post(f"{ACTIONS}/runs/<int:run_id>/<any(cancel, rerun, approve):what>")
def change_run(site: Site, owner: str, name: str, run_id: int, what: str) -> Response:
    """Cancel a run, run it again, or let the job begin that waits for a person."""
    found, shown = _run(site, owner, name, run_id)
    runner = _runner(site)
    actor = site.contents.access(found.full_name).identity.login
    try:
        match what:
            case "cancel":
                runner.cancel(shown.id, actor)
            case "rerun":
                runner.run_again(shown.id, actor)
            case _:
                runner.approve(shown.id)
    except ValueError as error:
        raise RefusedError(409, f"{error}.") from None
    return to(f"/{found.full_name}/actions/runs/{run_id}")


@views.get(f"{REPOSITORY}/runs/<int:run_id>")
def check_run(site: Site, owner: str, name: str, run_id: int) -> Response:
    """Lead from a check run to its commit."""
    found = site.repository(owner, name)
    commits = (each.commit for each in found.check_runs if each.id == run_id)
    commit = next(commits, None)
    if commit is None:
        raise NoPageError(f"{found.full_name} has no check run {run_id}.")
    return to(f"/{found.full_name}/commit/{commit}")


def _runner(site: Site) -> BackgroundRunner:
    runner = site.state.runner
    if runner is None:
        raise RefusedError(409, "No workflow runs here: start the sandbox with --run.")
    return runner


def _written(site: Site, step: StepRun, name: str) -> str:
    """Return the end of a file that a step has written; "" without one."""
    file = site.file_of(step, name)
    if file is None:
        return ""
    lines = file.read_text(encoding="utf-8", errors="replace").split("\n")
    more = len(lines) - MOST_LINES
    return "\n".join([*([f"… {more} lines before"] if more > 0 else []), *lines[-MOST_LINES:]])


def known_crons(site: Site, repository: Repository) -> Sequence[Cron]:
    """Return the cron expressions of the default branch, if workflows run here."""
    runner = site.state.runner
    crons = runner.crons() if runner else ()
    return [each for each in crons if each.repository == repository.full_name]


def workflows(site: Site, repository: Repository) -> Sequence[Workflow]:
    """Return the workflows of the default branch."""
    git = site.store.git(repository)
    has_commit = git.head(repository.default_branch)
    return workflows_of(git, repository.default_branch) if has_commit else ()


def _run(site: Site, owner: str, name: str, run_id: int) -> tuple[Repository, WorkflowRun]:
    """Return a run; for one of the demo, which keeps no record, what its event says."""
    repository = site.repository(owner, name)
    run = next((each for each in repository.runs if each.id == run_id), None)
    if run is None:
        event = next((each for each in site.store.events if each.id == run_id), None)
        if event is None or event.repository != repository.full_name or not event.commit:
            raise NoPageError(f"{repository.full_name} has no run {run_id}.")
        run = WorkflowRun(
            id=run_id,
            workflow=event.name,
            ref=event.ref,
            commit=event.commit,
            inputs={},
            author=event.actor,
            created_at=event.created_at,
            event=event.name,
            status="completed",
            conclusion="neutral",
            reason="The demo ran it. Its steps are in the folder runs, beside the sandbox's files.",
        )
    return repository, run


@views.get(f"{REPOSITORY}/settings")
@views.get(f"{REPOSITORY}/settings/<path:part>")
def settings(site: Site, owner: str, name: str, part: str = "") -> Response:
    """Show environments, variables and rules; every settings page of GitHub leads here."""
    found = site.repository(owner, name)
    title = f"Settings of {found.full_name}"
    return site.page("settings.html", title, repository=found, part=part)


@views.post(f"{REPOSITORY}/settings/environments")
def put_environment(site: Site, owner: str, name: str) -> Response:
    """Create an environment, or let its jobs wait for a person or not."""
    found, form = site.repository(owner, name), request.form
    environment = form.get("environment", "").strip()
    if not environment:
        raise RefusedError(422, "Name the environment.")
    site.act("PUT", "/environments/{environment_name}", found, environment_name=environment)
    found.environments[environment.lower()].needs_approval = form.get("approval") == "yes"
    site.store.save()
    return to(request.path)


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
