"""Workflows started by dispatch.

A dispatch leaves nothing that could be found again. So it is repeated only where GitHub has
certainly not taken it, and what it starts must bear to be started twice, or by the next run.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import datetime
from typing import Final, get_args
from urllib.parse import urlsplit
from weakref import WeakSet

from kalypso_actions.clients.github import rest
from kalypso_actions.clients.github.connection import GitHub, GitHubError
from kalypso_actions.errors import KalypsoError, Location
from kalypso_actions.model.github import ActiveRun, RunStatus, WorkflowRun, WorkflowState

MOST_INPUTS: Final = 25
MOST_INPUTS_OF_ENTERPRISE_SERVER: Final = 10
MOST_CHARACTERS: Final = 65_535
"""Of all inputs as one JSON object."""

RUN_DETAILS: Final = "return_run_details"
"""The field that asks for the run's id. GitHub Enterprise Server up to 3.20 refuses it (400)."""

_WITHOUT_RUN_DETAILS: Final[WeakSet[GitHub]] = WeakSet()
"""Connections whose server has refused that field."""


def dispatch(
    github: GitHub, repository: str, workflow_file: str, *, ref: str, inputs: Mapping[str, str]
) -> WorkflowRun | None:
    """Start a workflow by its file's name, as it stands on the branch `ref`.

    Returns the run where the server names it. Raises GitHubError saying which file on which branch
    needs what (`uncertain`: it may have been started all the same), and KalypsoError for more
    inputs than GitHub takes.
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
    """The workflow files that GitHub knows, each with its state. Raises GitHubError.

    States: active, disabled_manually, disabled_inactivity, disabled_fork, deleted.
    """
    failure = "the workflows cannot be listed"
    found = rest.read_all(github, repository, failure, "/actions/workflows", item="workflows")
    return tuple(WorkflowState(one["path"], one["state"]) for one in found)


def unfinished(github: GitHub, repository: str, workflow_file: str) -> tuple[ActiveRun, ...]:
    """Return the runs of a workflow file that are not completed, newest first.

    A file that GitHub does not know on the default branch has none. One listing is read for each
    status, since GitHub filters by one: a run can wait for an approval for 30 days, and a busy
    repository has thousands of completed runs since. A run that changes its status meanwhile may be
    missing, as one that GitHub does not list yet: a caller looks after a pause before it starts
    something again. Raises GitHubError.
    """
    failure = f"the runs of {workflow_file} cannot be listed"
    path = f"/actions/workflows/{rest.segment(workflow_file)}/runs"
    found: dict[int, ActiveRun] = {}
    for status in get_args(RunStatus):
        listed = rest.read_all_optional(
            github, repository, failure, path, {"status": status}, item="workflow_runs"
        )
        if listed is None:
            return ()
        found |= {one["id"]: _active(one) for one in listed if one["status"] == status}
    return tuple(sorted(found.values(), key=lambda run: -run.id))


def _check(github: GitHub, repository: str, workflow_file: str, inputs: Mapping[str, str]) -> None:
    enterprise_server = urlsplit(github.server.api_url).path
    most = MOST_INPUTS_OF_ENTERPRISE_SERVER if enterprise_server else MOST_INPUTS
    where = Location(repository, f".github/workflows/{workflow_file}")
    if len(inputs) > most:
        raise KalypsoError(
            f"{len(inputs)} inputs for a workflow, and GitHub takes {most}: {', '.join(inputs)}",
            where,
            "give fewer inputs",
        )
    length = len(json.dumps(dict(inputs)))
    if length > MOST_CHARACTERS:
        raise KalypsoError(
            f"the inputs for a workflow have {length} characters together,"
            f" and GitHub takes {MOST_CHARACTERS}",
            where,
            "give shorter inputs",
        )


def _send(github: GitHub, repository: str, workflow_file: str, content: rest.Json) -> rest.Json:
    failure = f"the workflow {workflow_file} cannot be started on {content['ref']}"
    path = f"/actions/workflows/{rest.segment(workflow_file)}/dispatches"
    advice = _advice(repository, workflow_file, content["ref"])
    try:
        return rest.write(github, repository, failure, "POST", path, content, advice=advice)
    except GitHubError as error:
        if error.uncertain:
            raise rest.with_advice(
                error, "it may have been started: look at the repository's Actions, then try again"
            ) from None
        raise


def _advice(repository: str, workflow_file: str, ref: str) -> rest.Advice:
    file = f".github/workflows/{workflow_file}"
    return {
        "not found": f"commit {file} to the default branch of {repository}: GitHub starts by"
        " dispatch only what it finds there; and give the token the permission actions: write",
        "disabled": f"enable the workflow {workflow_file} in the repository's Actions",
        "workflow_dispatch": f"let {file} on the branch {ref} begin with `on: workflow_dispatch`,"
        " with the inputs that Kalypso's template declares",
        "unexpected inputs": f"declare these inputs in {file} on the branch {ref}, as Kalypso's"
        " template does",
        "required input": f"compare the inputs of {file} on the branch {ref} with Kalypso's"
        " template",
        "no ref found": f"create the branch {ref} in {repository}",
    }


def _run(answer: rest.Json) -> WorkflowRun | None:
    """The started run; a server that ignores the field answers without a body."""
    if answer is None:
        return None
    return WorkflowRun(id=answer["workflow_run_id"], url=answer["html_url"])


def _active(answer: rest.Json) -> ActiveRun:
    return ActiveRun(
        id=answer["id"],
        url=answer["html_url"],
        title=answer["display_title"],
        status=answer["status"],
        created_at=datetime.fromisoformat(answer["created_at"]),
    )
