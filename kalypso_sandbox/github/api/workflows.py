"""Workflows, their runs, and dispatches.

https://docs.github.com/rest/actions/workflows, https://docs.github.com/rest/actions/workflow-runs
https://docs.github.com/rest/repos/repos#create-a-repository-dispatch-event
"""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping, Sequence
from typing import Final

from kalypso_sandbox.git.repositories import BRANCHES
from kalypso_sandbox.github import events
from kalypso_sandbox.github.api import requests
from kalypso_sandbox.github.endpoints import Call, RefusedError, endpoint
from kalypso_sandbox.github.payloads import commits as payloads
from kalypso_sandbox.github.workflow_files import DISPATCH, Input, Workflow, workflows_of
from kalypso_sandbox.json_http import Answer, Json
from kalypso_sandbox.store import WorkflowRun

ALL: Final = "/repos/{owner}/{repo}/actions/workflows"
ONE: Final = "/repos/{owner}/{repo}/actions/workflows/{workflow_id}"

MAX_INPUTS: Final = {"github.com": 25, "ghes": 10}
MAX_CHARACTERS: Final = 65_535
RUN_DETAILS: Final = "return_run_details"

MAX_TYPE_LENGTH: Final = 100
MAX_PROPERTIES: Final = 10


@endpoint("GET", ALL, "actions: read", statuses=(200,))
def read_all(call: Call) -> Answer:
    """List the workflows of the default branch."""
    return requests.counted(call, "workflows", _workflows(call), payloads.workflow)


@endpoint("POST", f"{ONE}/dispatches", "actions: write", statuses=(200, 204, 400, 404, 422))
def dispatch(call: Call) -> Answer:
    """Start a workflow in the version of a branch or tag.

    GitHub knows the workflow only if the default branch also has the file.
    """
    known = _workflow(call)
    if RUN_DETAILS in call.body and call.store.flavour == "ghes":
        raise RefusedError(400, f'Invalid request.\n\n"{RUN_DETAILS}" is not a permitted key.')
    wants_details = requests.flag(call.body, RUN_DETAILS)
    given = _given_inputs(call)
    ref, commit = _ref(call, requests.required_text(call.body, "ref"))
    workflows = workflows_of(call.git, commit)
    copy = next((workflow for workflow in workflows if workflow.path == known.path), None)
    if copy is None or DISPATCH not in copy.triggers:
        raise RefusedError(422, f"Workflow does not have '{DISPATCH}' trigger")
    inputs = _checked_inputs(copy.inputs, given)
    run = WorkflowRun(
        id=call.store.new_id(),
        workflow=copy.path,
        ref=ref,
        commit=commit,
        inputs=inputs,
        author=call.identity.login,
        created_at=call.store.now,
    )
    call.repository.runs.append(run)
    events.workflow_dispatch(call, run)
    if not wants_details:
        return Answer(204)
    payload = payloads.run(call, run, copy)
    answer = {
        "workflow_run_id": run.id,
        "run_url": payload["url"],
        "html_url": payload["html_url"],
    }
    return Answer(200, answer)


@endpoint("GET", f"{ONE}/runs", "actions: read", statuses=(200, 404))
def read_runs_of_workflow(call: Call) -> Answer:
    """List the runs of a workflow, latest first."""
    path = _workflow(call).path
    return _runs(call, [run for run in call.repository.runs if run.workflow == path])


@endpoint("POST", "/repos/{owner}/{repo}/dispatches", "contents: write", statuses=(204, 422))
def dispatch_to_repository(call: Call) -> Answer:
    """Send a repository_dispatch event to the workflows of the default branch."""
    event_type = requests.required_text(call.body, "event_type")
    payload = requests.mapping(call.body, "client_payload")
    if not 0 < len(event_type) <= MAX_TYPE_LENGTH:
        message = f"event_type is too long (maximum is {MAX_TYPE_LENGTH} characters)"
        raise RefusedError(422, f"Invalid request.\n\n{message}")
    if len(payload) > MAX_PROPERTIES:
        number = len(payload)
        message = f"No more than {MAX_PROPERTIES} properties are allowed; {number} were supplied."
        raise RefusedError(422, f"Invalid request.\n\n{message}")
    if len(json.dumps(payload)) > MAX_CHARACTERS:
        raise RefusedError(422, "client_payload is too large.")
    events.repository_dispatch(call, event_type, dict(payload))
    return Answer(204)


def _workflows(call: Call) -> Sequence[Workflow]:
    try:
        return workflows_of(call.git, call.repository.default_branch)
    except LookupError:
        return ()


def _workflow(call: Call) -> Workflow:
    identifier = call.parameters["workflow_id"]
    workflows = (workflow for workflow in _workflows(call) if workflow.is_called(identifier))
    workflow = next(workflows, None)
    if workflow is None:
        raise requests.not_found()
    return workflow


def _ref(call: Call, name: str) -> tuple[str, str]:
    """Return a branch or tag by its short or full name, and its commit."""
    for ref in (name, BRANCHES + name, f"refs/tags/{name}"):
        if ref.startswith((BRANCHES, "refs/tags/")) and call.git.ref(ref):
            return ref, call.git.commit(ref).id
    raise RefusedError(422, f"No ref found for: {name}")


def _given_inputs(call: Call) -> Mapping[str, str]:
    """Return the request's inputs as strings."""
    given = requests.mapping(call.body, "inputs")
    maximum = MAX_INPUTS[call.store.flavour]
    if len(given) > maximum:
        message = f"No more than {maximum} properties are allowed; {len(given)} were supplied."
        raise RefusedError(422, f"Invalid request.\n\n{message}")
    inputs = {}
    for name, value in given.items():
        if value is None or isinstance(value, (dict, list)):
            raise requests.wrong_type(f"inputs/{name}", value, "a string")
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
    return requests.counted(call, "workflow_runs", listed, _run)


def _facts(run: WorkflowRun) -> Mapping[str, Collection[str | None]]:
    """Return, for each query parameter, the values that select this run."""
    return {
        "branch": {run.ref.removeprefix(BRANCHES)},
        "event": {run.event},
        "actor": {run.author},
        "head_sha": {run.commit},
        "status": {run.status, run.conclusion},
    }


def _run(call: Call, run: WorkflowRun) -> Json:
    """Return a run; the head of a pull request may lack the workflow of its test merge."""
    try:
        workflows = workflows_of(call.git, run.commit)
    except LookupError:
        workflows = ()
    unknown = Workflow(run.workflow, run.name or run.workflow)
    workflow = next((each for each in workflows if each.path == run.workflow), unknown)
    return payloads.run(call, run, workflow)
