"""Every command records a start before it dispatches the workflow."""

from __future__ import annotations

import pytest

from kalypso_actions.errors import KalypsoError
from kalypso_sandbox import Fault
from kalypso_sandbox.state import Exchange
from tests.commands.chain.organisation import GITOPS, Organisation
from tests.commands.chain.permission_scenes import SCENES

pytestmark = pytest.mark.usefixtures("azure")

DISPATCH = "/repos/{owner}/{repo}/actions/workflows/{workflow_id}/dispatches"
STATUSES = "/repos/{owner}/{repo}/statuses/{sha}"
BY_ID = {scene.id: scene for scene in SCENES}


def written(exchange: Exchange) -> str:
    """Return the record or start of a request; "" for any other request."""
    if exchange.method != "POST" or exchange.template not in {DISPATCH, STATUSES}:
        return ""
    if exchange.template == DISPATCH:
        return f"start {exchange.path.split('/')[-2]}"
    description = str(exchange.request_body["description"])
    is_start = description.startswith("Starting, attempt 1: ")
    return f"record {exchange.request_body['context']}" if is_start else ""


@pytest.mark.parametrize(
    ("scene", "context", "workflow", "subject"),
    [
        ("ci, a push to main", "kalypso / cd dev", "cd.yaml", "ci"),
        ("cd, a commit", "kalypso / schedule dev", "schedule.yaml", "inputs not read yet"),
        (
            "schedule, auto-merge",
            f"kalypso / check-promote dev {GITOPS}",
            "check-promote.yaml",
            "<gitops>",
        ),
        (
            "notify, a merge",
            f"kalypso / check-promote dev {GITOPS}",
            "check-promote.yaml",
            "<gitops>",
        ),
        ("check-promote, a promotion", "kalypso / cd stage", "cd.yaml", "dev"),
        (
            "start-schedule, a push to dev",
            "kalypso / schedule dev",
            "schedule.yaml",
            "inputs not read yet",
        ),
    ],
)
def test_the_record_comes_first(
    acme: Organisation, scene: str, context: str, workflow: str, subject: str
) -> None:
    run = BY_ID[scene].prepare(acme)
    acme.forget()
    run({"token": acme.token})
    assert [write for write in map(written, acme.sandbox.traffic) if write] == [
        f"record {context}",
        f"start {workflow}",
    ]
    branch = "dev" if context.startswith("kalypso / schedule") else "main"
    text = subject.replace("<gitops>", acme.head("dev", GITOPS) or "")
    record = acme.records(acme.head(branch) or "")[context]
    assert record == ("success", f"Starting, attempt 1: {text}")


def test_a_start_that_github_refuses_stays_recorded(acme: Organisation) -> None:
    """poll repeats the start."""
    run = BY_ID["ci, a push to main"].prepare(acme)
    with (
        acme.sandbox.faults.on(Fault("POST", DISPATCH, "status", count=0)),
        pytest.raises(KalypsoError, match=r"cd\.yaml cannot be started"),
    ):
        run({"token": acme.token})
    assert acme.dispatches() == []
    record = ("success", "Starting, attempt 1: ci")
    assert acme.records(acme.head("main") or "") == {"kalypso / cd dev": record}
