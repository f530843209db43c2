"""Workflows, their runs, and dispatches.

https://docs.github.com/rest/actions/workflows, https://docs.github.com/rest/actions/workflow-runs
"""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping, Sequence
from typing import Final

from kalypso_sandbox.github import events
from kalypso_sandbox.github.api import body_fields, lookups
from kalypso_sandbox.github.endpoints import Answer, Call, Json, RefusedError, endpoint
from kalypso_sandbox.github.pagination import paginate
from kalypso_sandbox.github.payloads import workflows as payloads
from kalypso_sandbox.github.payloads.view import View
from kalypso_sandbox.github.workflow_files import DISPATCH, Input, Workflow, workflows_of
from kalypso_sandbox.store import WorkflowRun

ALL: Final = "/repos/{owner}/{repo}/actions/workflows"
ONE: Final = "/repos/{owner}/{repo}/actions/workflows/{workflow_id}"
RUNS: Final = "/repos/{owner}/{repo}/actions/runs"

MAX_INPUTS: Final = {"github.com": 25, "ghes": 10}
MAX_CHARACTERS: Final = 65_535
RUN_DETAILS: Final = "return_run_details"


@endpoint("GET", ALL, "actions: read", statuses=(200,))
def read_all(call: Call) -> Answer:
    """List the workflows of the default branch."""
    workflows = _workflows(call)
    page, headers = paginate(call, workflows)
    view = View.of(call)
    answer = [payloads.workflow(view, call.named_repository, workflow) for workflow in page]
    return Answer(200, {"total_count": len(workflows), "workflows": answer}, headers)


@endpoint("GET", ONE, "actions: read", statuses=(200, 404))
def read(call: Call) -> Answer:
    """Return a workflow by its id or file name."""
    return Answer(200, payloads.workflow(View.of(call), call.named_repository, _workflow(call)))


@endpoint("POST", f"{ONE}/dispatches", "actions: write", statuses=(200, 204, 400, 404, 422))
def dispatch(call: Call) -> Answer:
    """Start a workflow in the version of a branch or tag.

    GitHub knows the workflow only if the default branch also has the file.
    """
    store, repository = call.store, call.named_repository
    known = _workflow(call)
    if RUN_DETAILS in call.body and store.flavour == "ghes":
        raise RefusedError(400, f'Invalid request.\n\n"{RUN_DETAILS}" is not a permitted key.')
    wants_details = body_fields.flag(call.body, RUN_DETAILS)
    given = _given_inputs(call)
    ref, commit = _ref(call, body_fields.required_text(call.body, "ref"))
    workflows = workflows_of(store.git(repository), commit)
    copy = next((workflow for workflow in workflows if workflow.path == known.path), None)
    if copy is None or DISPATCH not in copy.events:
        raise RefusedError(422, f"Workflow does not have '{DISPATCH}' trigger")
    inputs = _checked_inputs(copy.inputs, given)
    run = WorkflowRun(
        id=store.new_id(),
        workflow=copy.path,
        ref=ref,
        commit=commit,
        inputs=inputs,
        author=call.identity.login,
        created_at=store.now,
    )
    repository.runs.append(run)
    events.workflow_dispatch(store, repository, copy.path, ref, commit, inputs, call.identity)
    if not wants_details:
        return Answer(204)
    payload = payloads.run(View.of(call), repository, run, copy)
    answer = {
        "workflow_run_id": run.id,
        "run_url": payload["url"],
        "html_url": payload["html_url"],
    }
    return Answer(200, answer)


@endpoint("GET", RUNS, "actions: read", statuses=(200,))
def read_runs(call: Call) -> Answer:
    """List runs, latest first."""
    return _runs(call, call.named_repository.runs)


@endpoint("GET", f"{ONE}/runs", "actions: read", statuses=(200, 404))
def read_runs_of_workflow(call: Call) -> Answer:
    """List the runs of a workflow, latest first."""
    path = _workflow(call).path
    return _runs(call, [run for run in call.named_repository.runs if run.workflow == path])


@endpoint("GET", f"{RUNS}/{{run_id}}", "actions: read", statuses=(200, 404))
def read_run(call: Call) -> Answer:
    """Return a run."""
    run_id = call.parameters["run_id"]
    run = next((run for run in call.named_repository.runs if str(run.id) == run_id), None)
    if run is None:
        raise lookups.not_found()
    return Answer(200, _run(call, run))


def _workflows(call: Call) -> Sequence[Workflow]:
    repository = call.named_repository
    try:
        return workflows_of(call.store.git(repository), repository.default_branch)
    except LookupError:
        return ()


def _workflow(call: Call) -> Workflow:
    identifier = call.parameters["workflow_id"]
    workflows = (workflow for workflow in _workflows(call) if workflow.is_called(identifier))
    workflow = next(workflows, None)
    if workflow is None:
        raise lookups.not_found()
    return workflow


def _ref(call: Call, name: str) -> tuple[str, str]:
    """Return a branch or tag by its short or full name, and its commit."""
    git = call.store.git(call.named_repository)
    for ref in (name, f"refs/heads/{name}", f"refs/tags/{name}"):
        if ref.startswith(("refs/heads/", "refs/tags/")) and git.ref(ref):
            return ref, git.commit(ref).id
    raise RefusedError(422, f"No ref found for: {name}")


def _given_inputs(call: Call) -> Mapping[str, str]:
    """Return the request's inputs as strings."""
    given = body_fields.mapping(call.body, "inputs")
    maximum = MAX_INPUTS[call.store.flavour]
    if len(given) > maximum:
        message = f"No more than {maximum} properties are allowed; {len(given)} were supplied."
        raise RefusedError(422, f"Invalid request.\n\n{message}")
    inputs = {}
    for name, value in given.items():
        if value is None or isinstance(value, (dict, list)):
            raise body_fields.wrong_type(f"inputs/{name}", value, "a string")
        inputs[name] = value if isinstance(value, str) else json.dumps(value)
    if sum(len(name) + len(value) for name, value in inputs.items()) > MAX_CHARACTERS:
        raise RefusedError(422, "inputs are too large.")
    return inputs


def _checked_inputs(declared: Mapping[str, Input], given: Mapping[str, str]) -> dict[str, str]:
    """Return a value for every input of the workflow."""
    unexpected = [name for name in given if name not in declared]
    if unexpected:
        raise RefusedError(422, f"Unexpected inputs provided: {json.dumps(unexpected)}")
    inputs = {}
    for name, declaration in declared.items():
        value = given.get(name) or declaration.default
        if declaration.required and not value:
            raise RefusedError(422, f"Required input '{name}' not provided")
        if value and declaration.options and value not in declaration.options:
            message = f"Provided value '{value}' for input '{name}' not in the list of allowed"
            raise RefusedError(422, f"{message} values")
        inputs[name] = value
    return inputs


def _runs(call: Call, runs: Sequence[WorkflowRun]) -> Answer:
    listed = [
        run
        for run in reversed(runs)
        if all(call.query.get(name) in {None, *facts} for name, facts in _facts(run).items())
    ]
    page, headers = paginate(call, listed)
    answer = [_run(call, run) for run in page]
    return Answer(200, {"total_count": len(listed), "workflow_runs": answer}, headers)


def _facts(run: WorkflowRun) -> Mapping[str, Collection[str | None]]:
    """Return, for each query parameter, the values that select this run."""
    return {
        "branch": {run.ref.removeprefix("refs/heads/")},
        "event": {DISPATCH},
        "actor": {run.author},
        "head_sha": {run.commit},
        "status": {run.status, run.conclusion},
    }


def _run(call: Call, run: WorkflowRun) -> Json:
    workflows = workflows_of(call.store.git(call.named_repository), run.commit)
    workflow = next(workflow for workflow in workflows if workflow.path == run.workflow)
    return payloads.run(View.of(call), call.named_repository, run, workflow)
