"""Start workflows by dispatch; list workflows and their runs.

A dispatch leaves no result to search for. Repeat a dispatch only if GitHub has certainly not
accepted it; workflows must tolerate a second start.
"""

from __future__ import annotations

import itertools
import json
from collections.abc import Mapping
from typing import Final, get_args
from urllib.parse import urlsplit
from weakref import WeakSet

from github.Repository import Repository
from github.WorkflowRun import WorkflowRun as GitHubRun

from kalypso_actions.clients.github import rest
from kalypso_actions.clients.github.connection import Advice, GitHub
from kalypso_actions.clients.github.errors import GitHubError, Json
from kalypso_actions.errors import KalypsoError, Location
from kalypso_actions.model.github import ActiveRun, RunStatus, WorkflowRun, WorkflowState

MAX_INPUTS: Final = 25
MAX_INPUTS_OF_ENTERPRISE_SERVER: Final = 10
MOST_RUNS: Final = 100
"""The newest runs of a workflow among which a run that has just been started is looked for."""

MAX_LENGTH: Final = 65_535
"""Characters of all inputs as one JSON object."""

RUN_DETAILS: Final = "return_run_details"
"""The field that requests the run's id; GitHub Enterprise Server up to 3.20 refuses it (400)."""

_WITHOUT_RUN_DETAILS: Final[WeakSet[GitHub]] = WeakSet()
"""Connections whose server has refused that field."""


def dispatch(
    github: GitHub, repository: str, workflow_file: str, *, ref: str, inputs: Mapping[str, str]
) -> WorkflowRun | None:
    """Start a workflow by the name of its file, in its version on the branch `ref`.

    Return the run if the server names it. Raises GitHubError with advice on the workflow file
    (`uncertain`: the workflow may have been started), and KalypsoError for too many inputs.
    """
    _check(github, repository, workflow_file, inputs)
    content = {"ref": ref, "inputs": dict(inputs)}
    if github not in _WITHOUT_RUN_DETAILS:
        try:
            answer = _send(github, repository, workflow_file, {**content, RUN_DETAILS: True})
        except GitHubError as error:
            if error.status != 400 and RUN_DETAILS not in error.reason:
                raise
        else:
            return _run(answer)
    _send(github, repository, workflow_file, content)
    _WITHOUT_RUN_DETAILS.add(github)
    return None


def states(github: GitHub, repository: str) -> tuple[WorkflowState, ...]:
    """Return the workflow files that GitHub lists, each with its state. Raises GitHubError.

    States: active, disabled_manually, disabled_inactivity, disabled_fork, deleted.
    """
    return github.call(
        repository,
        "the workflows cannot be listed",
        lambda target: tuple(
            WorkflowState(workflow.path, workflow.state)
            for workflow in rest.all_of(target.get_workflows())
        ),
    )


def conclusion(github: GitHub, repository: str, workflow_file: str, run_id: int) -> str | None:
    """Return how a run ended, such as `success`; None while it is not listed, or has not ended.

    Raises GitHubError.
    """
    failure = f"the runs of {workflow_file} cannot be listed"

    def read(target: Repository) -> str | None:
        runs = target.get_workflow(workflow_file).get_runs()  # the newest first
        run = next((run for run in itertools.islice(runs, MOST_RUNS) if run.id == run_id), None)
        ended = run is not None and run.status == "completed"
        return (run.conclusion or "unknown") if run and ended else None

    return github.call(repository, failure, read)


def unfinished(github: GitHub, repository: str, workflow_file: str) -> tuple[ActiveRun, ...]:
    """Return the runs of a workflow file that are not completed, newest first.

    A file that GitHub does not know on the default branch has no runs. Each status needs its own
    listing, because a run can wait 30 days for an approval, behind thousands of completed runs. A
    run may be missing if its status changes during the call, or if it has just started; therefore
    callers check again after a pause. Raises GitHubError.
    """
    failure = f"the runs of {workflow_file} cannot be listed"
    runs: dict[int, ActiveRun] = {}
    for status in get_args(RunStatus):

        def read(target: Repository, status: RunStatus = status) -> list[ActiveRun]:
            pages = target.get_workflow(workflow_file).get_runs(status=status)
            return [_active_run(run, status) for run in rest.all_of(pages) if run.status == status]

        listed = github.call_optional(repository, failure, read)
        if listed is None:
            return ()
        runs |= {run.id: run for run in listed}
    return tuple(sorted(runs.values(), key=lambda run: -run.id))


def newest_unfinished(github: GitHub, repository: str, workflow_file: str) -> tuple[ActiveRun, ...]:
    """Return those of the newest hundred runs of a workflow file that are not completed.

    One request reads them, newest first; a file that GitHub does not know has no runs. Raises
    GitHubError.
    """

    def read(target: Repository) -> tuple[ActiveRun, ...]:
        runs = itertools.islice(target.get_workflow(workflow_file).get_runs(), MOST_RUNS)
        return tuple(
            _active_run(run, status)
            for run in rest.all_of(runs)
            for status in get_args(RunStatus)
            if run.status == status
        )

    failure = f"the runs of {workflow_file} cannot be listed"
    return github.call_optional(repository, failure, read) or ()


def _check(github: GitHub, repository: str, workflow_file: str, inputs: Mapping[str, str]) -> None:
    is_enterprise_server = bool(urlsplit(github.server.api_url).path)
    limit = MAX_INPUTS_OF_ENTERPRISE_SERVER if is_enterprise_server else MAX_INPUTS
    where = Location(repository, f".github/workflows/{workflow_file}")
    if len(inputs) > limit:
        raise KalypsoError(
            f"the workflow gets {len(inputs)} inputs, but GitHub accepts {limit}:"
            f" {', '.join(inputs)}",
            where,
            "give fewer inputs",
        )
    length = len(json.dumps(dict(inputs)))
    if length > MAX_LENGTH:
        raise KalypsoError(
            f"the inputs of the workflow have {length} characters, but GitHub accepts {MAX_LENGTH}",
            where,
            "give shorter inputs",
        )


def _send(github: GitHub, repository: str, workflow_file: str, content: Json) -> Json:
    failure = f"the workflow {workflow_file} cannot be started on {content['ref']}"
    path = f"/actions/workflows/{rest.segment(workflow_file)}/dispatches"
    advice = _advice(repository, workflow_file, content["ref"])
    try:
        return github.call(
            repository,
            failure,
            lambda target: rest.send(target, "POST", path, content),
            advice=advice,
        )
    except GitHubError as error:
        if error.uncertain:
            error.advise("it may have been started: check the repository's Actions, then try again")
        raise


def _advice(repository: str, workflow_file: str, ref: str) -> Advice:
    file = f".github/workflows/{workflow_file}"
    return {
        "not found": f"commit {file} to the default branch of {repository}, where GitHub looks for"
        " workflows to dispatch, and give the token the permission actions: write",
        "disabled": f"enable the workflow {workflow_file} in the repository's Actions",
        "workflow_dispatch": f"add `on: workflow_dispatch` to {file} on the branch {ref},"
        " with the inputs of Kalypso's template",
        "unexpected inputs": f"declare these inputs in {file} on the branch {ref}, as Kalypso's"
        " template does",
        "required input": f"compare the inputs of {file} on the branch {ref} with Kalypso's"
        " template",
        "no ref found": f"create the branch {ref} in {repository}",
    }


def _run(answer: Json) -> WorkflowRun | None:
    """Convert the started run; None from a server that ignores the field and sends no body."""
    if answer is None:
        return None
    return WorkflowRun(id=answer["workflow_run_id"], url=answer["html_url"])


def _active_run(run: GitHubRun, status: RunStatus) -> ActiveRun:
    return ActiveRun(
        id=run.id,
        url=run.html_url,
        title=run.display_title,
        status=status,
        created_at=run.created_at,
    )
