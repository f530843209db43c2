"""`kalypso start-schedule`: the environments of a push to the control plane."""

from __future__ import annotations

from typing import Any

import pytest

from kalypso_actions.commands.shared.result import CommandResult
from kalypso_actions.commands.start_schedule import start_schedule
from kalypso_actions.errors import KalypsoError, UsageError
from kalypso_actions.inputs.chain import StartScheduleInputs
from kalypso_actions.report.chain_document import StartScheduleDocument
from kalypso_sandbox import Fault
from tests.commands.chain import documents
from tests.commands.chain.organisation import CONTROL_PLANE, Dispatch, Job, Organisation


def run(acme: Organisation, *, pushed: str = "", ref: str = "", **inputs: Any) -> CommandResult:
    """Run the command after a push to `pushed`, with a token of minimal permissions."""
    token = acme.sandbox.create_token(
        "actions",
        {"actions": "write", "contents": "read", "statuses": "write"},
        repositories=[CONTROL_PLANE],
    )
    ref = f"refs/heads/{pushed}" if pushed else ref
    job = Job(event="push", ref=ref, commit=acme.head("main") or "")
    return acme.run(start_schedule, StartScheduleInputs, job=job, token=token, **inputs)


def schedule(environment: str) -> Dispatch:
    return Dispatch("schedule.yaml", {"environment": environment})


def test_the_environment_of_the_branch(acme: Organisation) -> None:
    result = run(acme, pushed="dev")
    assert not result.failed
    assert result.document == StartScheduleDocument(branch="dev", environments=("dev",))
    assert result.document.outputs() == {"environments": '["dev"]'}
    assert acme.dispatches() == [schedule("dev")]
    start_line, headline = acme.logged
    page = start_line.removeprefix("Started schedule.yaml (environment dev): ")
    assert page.startswith(f"{acme.url()}/actions/runs/")
    assert headline == "started schedule for dev."
    assert result.summary == (
        f"## kalypso start-schedule: started schedule for `dev`\n\n`dev` was pushed: [dev]({page})."
    )


def test_a_branch_may_have_another_name_and_several_environments(acme: Organisation) -> None:
    for name in ("east", "west"):
        text = documents.environment(acme.url(), name).replace(
            f"branch: {name}", "branch: regions/both"
        )
        acme.commit({f".environments/{name}.yaml": text})
    acme.reset("regions/both", acme.head("dev"))
    result = run(acme, pushed="regions/both")
    assert acme.dispatches() == [schedule("east"), schedule("west")]
    assert result.document.outputs() == {"environments": '["east","west"]'}


@pytest.mark.parametrize("branch", ["feature/x", "main", "Dev", "dev/old"])
def test_a_branch_that_belongs_to_no_environment(acme: Organisation, branch: str) -> None:
    result = run(acme, pushed=branch)
    assert not result.failed
    assert result.document == StartScheduleDocument(branch=branch)
    assert acme.logged == [f"nothing to start, no environment lies on the branch {branch}."]
    assert acme.dispatches() == []


def test_our_own_branches_are_proposals(acme: Organisation) -> None:
    acme.forget()
    result = run(acme, pushed="kalypso/promote/dev")
    assert result.summary == (
        "## kalypso start-schedule: nothing to start, `kalypso/promote/dev` is one of Kalypso's "
        "own branches"
    )
    assert result.document == StartScheduleDocument(branch="kalypso/promote/dev")
    assert acme.dispatches() == []
    assert not acme.sandbox.traffic


def test_a_branch_that_is_named(acme: Organisation) -> None:
    acme.commit({".github/workflows/render.yaml": documents.workflow(["environment"])})
    run(acme, pushed="dev", branch="stage", schedule_workflow="render.yaml")
    assert acme.dispatches() == [Dispatch("render.yaml", {"environment": "stage"})]


def test_a_tag_is_no_branch(acme: Organisation) -> None:
    with pytest.raises(UsageError, match="branch is needed"):
        run(acme, ref="refs/tags/dev")


def test_environments_that_cannot_be_read(acme: Organisation) -> None:
    text = documents.environment(acme.url(), "dev").replace("branch: dev, ", "")
    acme.commit({".environments/dev.yaml": text})
    with pytest.raises(KalypsoError, match="branch"):
        run(acme, pushed="dev")
    assert acme.dispatches() == []


def test_a_start_that_fails_stops_no_other(acme: Organisation) -> None:
    text = documents.environment(acme.url(), "later").replace("branch: later", "branch: dev")
    acme.commit({".environments/later.yaml": text})
    acme.sandbox.faults.add(Fault("POST", "*/dispatches", "status", count=4))
    result = run(acme, pushed="dev")
    assert result.failed
    assert isinstance(result.document, StartScheduleDocument)
    assert result.document.environments == ("later",)
    assert result.document.problems
    assert "; there are problems" in acme.logged[-1]
    assert acme.dispatches() == [schedule("later")]


def test_the_start_is_recorded_on_the_branch(acme: Organisation) -> None:
    run(acme, pushed="dev")
    record = {"kalypso / schedule dev": ("success", "Starting, attempt 1: inputs not read yet")}
    assert acme.records(acme.head("dev") or "") == record


def test_a_branch_that_is_gone(acme: Organisation) -> None:
    acme.reset("dev", None)
    result = acme.run(start_schedule, StartScheduleInputs, branch="dev")
    assert result.failed
    assert acme.dispatches() == []


@pytest.mark.parametrize("by_us", [True, False])
def test_a_recorded_start_with_force_passes_it_on(acme: Organisation, by_us: bool) -> None:
    """The recorded run has not begun, and GitHub cancels a waiting run for a newer one."""
    status = {
        "state": "pending",
        "context": "kalypso / schedule dev",
        "description": "Starting, attempt 1 with force: inputs not read yet",
    }
    job = acme.sandbox.create_token("actions", {"statuses": "write"}, repositories=[CONTROL_PLANE])
    statuses = f"{CONTROL_PLANE}/statuses/{acme.head('dev')}"
    acme.ask("POST", statuses, status, token=job if by_us else "")
    run(acme, pushed="dev")
    force = {"force": "true"} if by_us else {}
    assert acme.dispatches() == [Dispatch("schedule.yaml", {"environment": "dev", **force})]
