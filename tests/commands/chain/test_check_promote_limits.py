"""How long `kalypso check-promote` waits: its own timeout, and the limit of the job it runs in."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from tests.commands.chain.organisation import (
    CONTROL_PLANE,
    GITOPS,
    Dispatch,
    Job,
    Organisation,
)
from tests.commands.chain.promotions import check, main_commit, merge, sign_in, verdict

DEV = "dev environment"


@pytest.fixture(autouse=True)
def azure(acme: Organisation, monkeypatch: pytest.MonkeyPatch) -> None:
    sign_in(acme, monkeypatch)


def test_the_timeout_counts_from_the_begin_of_the_waiting(acme: Organisation) -> None:
    acme.cluster("dev", "drone", behaviour="stall")
    commit = main_commit(acme)
    merged = merge(acme, commit)
    start = acme.clock().isoformat()
    acme.clock.sleep(400)
    began = acme.clock()
    outcome = check(acme, merged, commit, started_at=start)
    assert verdict(outcome) == "timed-out"
    assert (acme.clock() - began).total_seconds() == 201  # with the last record
    # A person who reruns a job wants it to wait again.
    began = acme.clock()
    again = check(acme, merged, commit, started_at=start, job=Job(attempt=2))
    assert verdict(again) == "timed-out"
    assert (acme.clock() - began).total_seconds() == 601


def test_another_run_continues_before_the_limit_of_the_job(acme: Organisation) -> None:
    acme.cluster("dev", "drone", delay=6 * 3600)
    commit = main_commit(acme)
    merged = merge(acme, commit)
    began = acme.clock()
    inputs: dict[str, Any] = {"timeout": "9h", "poll_interval": "10m"}
    outcome = check(acme, merged, commit, **inputs)
    assert (outcome.failed, verdict(outcome)) == (False, "")
    assert (acme.clock() - began) < timedelta(hours=5, minutes=30)
    assert acme.statuses(commit) == {DEV: ("pending", "Deploying")}
    (successor,) = acme.dispatches()
    assert successor == Dispatch(
        "check-promote.yaml",
        {
            "environment": "dev",
            "promoted_commit_id": commit,
            "commit_id": merged,
            "gitops_repository": GITOPS,
            "started_at": began.isoformat(),
        },
    )
    assert outcome.summary.startswith("## kalypso check-promote: still waiting for `dev`\n")
    outcome = check(acme, merged, commit, started_at=successor.inputs["started_at"], **inputs)
    assert verdict(outcome) == "compliant"


def test_the_post_deployment_command_ends_before_the_limit(acme: Organisation) -> None:
    acme.cluster("dev", "drone", delay=6 * 3600)
    commit = main_commit(acme)
    merged = merge(acme, commit)
    began = acme.clock()
    outcome = check(
        acme, merged, commit, timeout="9h", poll_interval="10m", post_deployment="exit 0"
    )
    assert (outcome.failed, verdict(outcome)) == (False, "")
    assert (acme.clock() - began) < timedelta(hours=4, minutes=30)
    assert len(acme.dispatches()) == 1


def test_outside_of_a_job_there_is_no_limit(acme: Organisation) -> None:
    acme.cluster("dev", "drone", delay=6 * 3600)
    commit = main_commit(acme)
    outcome = check(
        acme,
        merge(acme, commit),
        commit,
        timeout="9h",
        poll_interval="30m",
        control_plane=CONTROL_PLANE,
        variables={"GITHUB_ACTIONS": ""},
    )
    assert verdict(outcome) == "compliant"
