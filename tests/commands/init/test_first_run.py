"""The first runs of the chain that init sets up in two empty repositories."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from kalypso_actions.commands.demo.scenario_runner import InProcess
from kalypso_actions.commands.registry import app_permissions
from kalypso_sandbox import Sandbox
from kalypso_sandbox.workflow_runner.runs import WorkflowRunner
from tests.chain.clock import StoryClock
from tests.chain.driver import Chain
from tests.commands.chain.killing import is_killed
from tests.commands.chain.organisation import NOON, Organisation
from tests.commands.init.repositories import CONTROL_PLANE, GITOPS, Acme
from tests.git_repositories import programs


@pytest.fixture
def acme(tmp_path: Path) -> Iterator[Acme]:
    """A sandbox in which jobs run."""
    clock = StoryClock(NOON)
    with Sandbox(tmp_path / "sandbox", programs(), now=clock, sign_in=True) as sandbox:
        yield Acme(sandbox, clock, tmp_path)


@pytest.fixture
def chain(acme: Acme) -> Chain:
    """Two empty repositories with the credentials of the tasks."""
    acme.create()
    app, key = acme.sandbox.create_app("acme", {"metadata": "read", **app_permissions()})
    with acme.sandbox.lock:
        for name in (CONTROL_PLANE, GITOPS):
            acme.sandbox.repository(name).variables["KALYPSO_APP_ID"] = str(app)
    clock = acme.clock
    assert isinstance(clock, StoryClock)
    machine = {"PATH": os.environ["PATH"], "HOME": str(acme.folder)}
    secrets = {"KALYPSO_APP_PRIVATE_KEY": key}
    runs = acme.folder / "runs"
    workflows = WorkflowRunner(acme.sandbox, clock, machine, secrets, runs, InProcess(clock))
    return Chain(Organisation(acme.sandbox, clock, acme.folder), workflows, clock)


def ran(chain: Chain) -> list[str]:
    """Run all workflows; return commands with environments, after a check that none fails."""
    first = len(chain.done)
    chain.run_everything()
    done = chain.done[first:]
    assert [run.exit_code for run in done] == [0] * len(done)
    steps = [f"{run.command} {run.environment}".strip() for run in done]
    return list(dict.fromkeys(steps))  # a dispatch is verified by the same command


@pytest.mark.slow
def test_the_push_to_main_starts_the_chain_and_each_merge_carries_it_on(
    acme: Acme, chain: Chain
) -> None:
    acme.init()
    commit = acme.branches()["main"]
    # The pushes before that of main started nothing.
    assert ran(chain) == ["ci", "cd dev", "schedule dev"]
    chain.merge_pull_request("dev")
    assert ran(chain) == ["notify", "check-promote dev", "cd stage", "schedule stage"]
    chain.merge_pull_request("stage")
    assert ran(chain) == ["notify", "check-promote stage"]
    for environment in ("dev", "stage"):
        chain.expect(environment, commit, ENVIRONMENT_NAME=environment, LOG_LEVEL="info")


def test_a_change_of_an_environments_branch_is_scheduled(acme: Acme, chain: Chain) -> None:
    acme.init(environments="dev")
    ran(chain)
    acme.sandbox.commit(CONTROL_PLANE, {"notes.md": "nothing of importance"}, branch="dev")
    assert ran(chain) == ["start-schedule", "schedule dev"]


@pytest.mark.slow
def test_the_chain_begins_as_well_after_init_was_killed(acme: Acme, chain: Chain) -> None:
    """init died just before the push of main, so dev names a commit that does not exist."""

    def act() -> object:
        return acme.init(environments="dev")

    assert is_killed(5, act)
    assert "templates/flux.yaml" not in acme.files("main")
    acme.clock.sleep(60)
    act()
    assert chain.has("dev") != acme.branches()["main"]
    assert ran(chain) == ["ci", "cd dev", "schedule dev"]
    assert chain.has("dev") == acme.branches()["main"]
