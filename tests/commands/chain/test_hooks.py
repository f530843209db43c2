"""Commands of users: their exit code decides, and their output is only shown."""

from __future__ import annotations

import shutil
from typing import Any

import pytest

from kalypso_actions.commands.cd import cd
from kalypso_actions.commands.shared.result import CommandResult
from kalypso_actions.errors import KalypsoError
from kalypso_actions.inputs.chain import CdInputs
from kalypso_actions.report.chain_document import CdDocument
from kalypso_sandbox import Fault
from tests.commands.chain.organisation import CONTROL_PLANE, Organisation

DEV = "dev environment"


def run(acme: Organisation, commit: str, command: str, **inputs: Any) -> CommandResult:
    given = {"environment": "dev", "commit": commit, "pre_deployment": command, **inputs}
    return acme.run(cd, CdInputs, **given)


def action(result: CommandResult) -> str:
    assert isinstance(result.document, CdDocument)
    return result.document.action


@pytest.fixture
def new(acme: Organisation) -> str:
    return acme.commit({"notes.txt": "a change"})


def test_it_runs_before_the_write_and_gets_its_purpose(acme: Organisation, new: str) -> None:
    (old,) = acme.sandbox.git(CONTROL_PLANE).commit(new).parents
    command = (
        'echo "$KALYPSO_ENVIRONMENT $KALYPSO_COMMIT $KALYPSO_PREVIOUS_COMMIT"\n'
        'echo "from $KALYPSO_PROMOTED_FROM of $KALYPSO_CONTROL_PLANE" >&2\n'
        'echo "in $GITHUB_REPOSITORY"'
    )
    result = run(acme, new, command, promoted_from="ci")
    assert action(result) == "written"
    lines = [
        f"dev {new} {old}",
        "from ci of acme/control-plane",
        "in acme/control-plane",
    ]
    start = acme.logged.index(lines[0])
    assert acme.logged[start : start + 3] == lines
    assert "Output of the pre-deployment command" in result.summary
    assert "\n".join(lines) in result.summary


@pytest.mark.parametrize(
    ("command", "status"),
    [
        ("exit 3", 3),
        ("false; echo unreached", 1),
        ("false | cat; echo unreached", 1),
        ("echo 'unfinished", 2),
        ("no-such-program", 127),
    ],
)
def test_a_failing_command_stops_the_run(
    acme: Organisation, new: str, command: str, status: int
) -> None:
    before = acme.head("dev")
    result = run(acme, new, command)
    assert result.failed
    assert action(result) == ""
    (problem,) = result.document.problems
    reason = f"the pre-deployment command ended with exit code {status}"
    assert problem.message == f"{reason}: nothing was written"
    assert acme.head("dev") == before
    assert acme.statuses(new) == {DEV: ("failure", f"Failed to deploy: {reason}")}
    assert acme.dispatches() == []
    assert "unreached" not in "\n".join(acme.logged)
    assert f"{new[:7]} was not promoted to dev" in result.summary
    assert action(run(acme, new, "true")) == "written"
    assert acme.statuses(new) == {DEV: ("pending", "Promoted")}


def test_it_runs_only_where_something_is_to_be_written(acme: Organisation, new: str) -> None:
    marks = acme.folder / "marks"
    command = f"echo . >> {marks}"
    with acme.sandbox.faults.on(Fault("*", "*", "raced", count=2)):
        run(acme, new, command)
    assert marks.read_text() == ".\n", "once, however often the write is tried"
    assert action(run(acme, new, command)) == "unchanged"
    (old,) = acme.sandbox.git(CONTROL_PLANE).commit(new).parents
    assert action(run(acme, old, command, promoted_from="ci")) == "superseded"
    assert marks.read_text() == ".\n"
    newer = acme.commit({"notes.txt": "another"})
    for _ in range(2):
        assert action(run(acme, newer, command, mode="pull-request")) == "proposed"
    assert marks.read_text() == ".\n.\n"


def test_no_secret_of_the_job_reaches_it(acme: Organisation, new: str) -> None:
    secrets = {"GITHUB_TOKEN": "s3cret-1", "KALYPSO_INPUTS": "s3cret-2", "GITHUB_OUTPUT": "/tmp/o"}
    acme.run(
        cd,
        CdInputs,
        environment="dev",
        commit=new,
        pre_deployment="env | sort",
        variables=secrets,
    )
    seen = {line.partition("=")[0] for line in acme.logged}
    assert {"KALYPSO_COMMAND", "PATH", "GITHUB_SHA"} <= seen
    assert not {"GITHUB_TOKEN", "KALYPSO_INPUTS", "GITHUB_OUTPUT"} & seen
    assert acme.token not in "\n".join(acme.logged)


def test_its_output_is_shown_as_it_is_and_does_nothing(acme: Organisation, new: str) -> None:
    result = run(acme, new, "printf '````\\n<img src=x>\\n@everyone \\033[31m\\xff\\n'")
    assert "`````\n````\n<img src=x>\n@everyone \\x1b[31m\ufffd\n`````" in result.summary


def test_without_bash(acme: Organisation, new: str) -> None:
    programs = acme.folder / "bin"
    programs.mkdir()
    git = shutil.which("git")
    assert git
    (programs / "git").symlink_to(git)
    with pytest.raises(
        KalypsoError, match="the pre-deployment command: the program bash was not"
    ) as error:
        acme.run(
            cd,
            CdInputs,
            environment="dev",
            commit=new,
            pre_deployment="true",
            variables={"PATH": str(programs)},
        )
    assert error.value.problem.advice == "install bash, or correct PATH"
