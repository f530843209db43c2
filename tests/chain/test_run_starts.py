"""The thief of the notifier's key starts workflows of the control plane, and runs old runs again."""

from __future__ import annotations

import pytest

from kalypso_sandbox.store import Permissions
from tests.chain.driver import Chain
from tests.commands.chain.organisation import CONTROL_PLANE, GITOPS

NOTIFIER = "acme-notifier[bot]"
ALLOWED: Permissions = {"actions": "write", "metadata": "read"}


def stolen(chain: Chain) -> str:
    """Return a token of the notifier."""
    sandbox = chain.acme.sandbox
    return sandbox.create_token(
        "user", ALLOWED, login=NOTIFIER, owner="acme", repositories=[CONTROL_PLANE]
    )


def test_every_workflow_with_each_input_by_the_notifier(chain: Chain) -> None:
    first = chain.has("stage")
    commit = chain.merge_to_main(RELEASE="one")
    chain.run_everything(but={"cd"})
    merged = chain.acme.head("dev", GITOPS) or ""
    token, before = stolen(chain), chain.statuses("stage")
    to_stage = {"environment": "stage", "promoted_commit_id": commit}
    back = {"environment": "dev", "promoted_commit_id": first}
    refused: list[tuple[str, dict[str, str]]] = [
        ("cd", to_stage),
        ("cd", {**to_stage, "promoted_from": "ci"}),
        ("cd", {**to_stage, "promoted_from": "dev"}),
        ("cd", {**back, "allow_rollback": "true"}),
        ("cd", {**back, "allow_rollback": "true", "promoted_from": "ci"}),
        ("schedule", {"environment": "dev", "allow_removals": "true"}),
    ]
    for workflow, inputs in refused:
        chain.start(workflow, token=token, **inputs)
        (line,) = chain.run(chain.take(-1))
        assert line == f"{workflow} {inputs['environment']}: refused", inputs
    assert chain.statuses("stage") == before
    assert chain.has("stage") == first
    for workflow, inputs in (
        ("schedule", {"environment": "stage", "force": "true"}),
        ("check-promote", {"environment": "dev", "commit_id": merged}),
        ("poll", {}),
    ):
        chain.start(workflow, token=token, **inputs)
    chain.run_everything(but={"check-promote"})
    assert chain.has("stage") == first


@pytest.mark.parametrize("workflow", ["cd", "schedule", "check-promote", "poll"])
def test_a_start_on_another_branch(chain: Chain, workflow: str) -> None:
    files = chain.acme.files("main")
    path = f".github/workflows/{workflow}.yaml"
    chain.acme.commit({path: files[path]}, "aside")
    chain.forget_what_is_due()
    head = chain.acme.head("dev", GITOPS) or ""
    inputs = {
        "cd": {"environment": "dev", "promoted_commit_id": chain.has("dev")},
        "schedule": {"environment": "dev"},
        "check-promote": {"environment": "dev", "commit_id": head},
        "poll": {},
    }[workflow]
    for token in ("", stolen(chain)):
        chain.start(workflow, ref="aside", token=token, **inputs)
        (line,) = chain.run_everything()
        assert line.endswith(": refused"), line


def test_a_run_of_a_person_that_the_notifier_runs_again(chain: Chain) -> None:
    first = chain.has("dev")
    commit = chain.merge_to_main(RELEASE="one")
    chain.settle()
    chain.start("cd", environment="dev", promoted_commit_id=first, allow_rollback="true")
    assert chain.run_everything()[0] == "cd dev: written"
    rollback = next(step.run for step in reversed(chain.done) if step.command == "cd")
    chain.settle()
    chain.start("cd", environment="dev", promoted_commit_id=commit)
    chain.settle()
    assert chain.has("dev") == commit
    chain.run_anew(rollback, by=NOTIFIER)
    assert chain.run_everything() == ["cd dev: refused"]
    assert chain.has("dev") == commit
    chain.run_anew(rollback)
    assert chain.run_everything()[0] == "cd dev: written"
    assert chain.has("dev") == first
