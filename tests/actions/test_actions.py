"""Whole actions in jobs: outputs for later steps, and hostile texts."""

from __future__ import annotations

import ast
import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest

from tests.actions.checkout import POSIX, ROOT, Checkout
from tests.actions.composite import Job, Ran
from tests.actions.organisation import acme_of_today, job_of
from tests.commands.chain import documents
from tests.commands.chain.organisation import CLUSTER_TYPES, CONTROL_PLANE, GITOPS, Organisation
from tests.commands.chain.organisation import Job as JobContext
from tests.commands.chain.promotions import main_commit, merge

pytestmark = POSIX

ACTIONS: Final = ROOT / "actions"
OWN: Final = {"add-mask", "error", "warning"}
"""The workflow commands that Kalypso gives the runner."""

HOSTILE: Final = {
    "quotes": "'; touch pwned; '\" && touch pwned || \"",
    "substitution": "$(touch pwned) `touch pwned` ${IFS}<(touch pwned)",
    "lines": "dev\ntouch pwned\r\nverdict=compliant\n::set-output name=verdict::compliant\n",
    "commands": "::add-mask::kalypso\n::stop-commands::x\n##[set-env name=PATH]/tmp\n::error::x",
    "expression": "${{ github.token }} ${{ inputs.token }} }} ${{ toJSON(secrets) }}",
    "json": '", "token": "other", "x": {"\\u0000": "\\',
    "options": "--help -c 'touch pwned' --environment=stage",
    "glob": "* ../* ~ !! % %PATH% ^& | > pwned",
    "characters": "\u202edev\u2028 \x1b[31m \ud7ff ✂ \x07",
    "long": "touch pwned;" * 5000,
}

SHORT: Final = ("lines",)
"""The texts that `make test` tries with real commands."""

WITH_COMMANDS: Final = [
    pytest.param(text, id=name, marks=() if name in SHORT else pytest.mark.slow)
    for name, text in HOSTILE.items()
]


@pytest.fixture
def acme(tmp_path: Path) -> Iterator[Organisation]:
    with acme_of_today(tmp_path / "acme") as acme:
        yield acme


def harmless(job: Job, ran: Ran) -> bool:
    """Check that no text was executed, and that only Kalypso sent workflow commands."""
    assert list(job.workspace.rglob("pwned")) == []
    assert {command.name for command in ran.commands} <= OWN
    return True


# Inputs


@pytest.fixture(scope="module")
def telling(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the action `cd`, whose command only prints its inputs."""
    folder = tmp_path_factory.mktemp("telling")
    checkout = Checkout.make(folder, folder / "wheels").folder
    tell = "import os, sys; print(repr([sys.argv[1:], os.environ['KALYPSO_INPUTS']]))"
    (checkout / "kalypso_actions" / "__main__.py").write_text(tell)
    return Path(shutil.copytree(ACTIONS / "cd", checkout / "actions" / "cd"))


@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE)
def test_inputs_reach_the_command_unchanged(job: Job, telling: Path, text: str) -> None:
    wheels = telling.parents[1] / "wheels"
    ran = job.uses(telling, wheelhouse=str(wheels), environment=text, pre_deployment=text)
    assert ran.exit_code == 0, ran.log
    arguments, inputs = ast.literal_eval(ran.log.splitlines()[-1])
    assert arguments == ["cd"]
    read = json.loads(inputs)
    assert (read["environment"], read["pre-deployment"]) == (text, text)
    assert (read["mode"], read["app-id"]) == ("commit", "")
    assert harmless(job, ran)


@pytest.mark.parametrize("text", WITH_COMMANDS)
def test_refused_inputs_are_reported_and_nothing_runs(
    acme: Organisation, job: Job, text: str
) -> None:
    ran = job_of(acme, job).uses(ACTIONS / "cd", environment=text, mode=text)
    assert ran.exit_code == 2
    assert [level for level, _ in ran.annotations()] == ["error"]
    assert ran.outputs == {
        "changed": "false",
        "environment-commit": "",
        "pull-request-number": "",
        "pull-request-url": "",
        "waiting-for": "",
    }
    assert harmless(job, ran)


@pytest.mark.slow
def test_an_empty_input_is_one_that_was_not_given(acme: Organisation, job: Job) -> None:
    commit = main_commit(acme)
    ran = job_of(acme, job).uses(
        ACTIONS / "cd",
        environment="dev",
        commit=commit,
        mode="",
        allow_rollback="",
        token=acme.token,
    )
    assert ran.exit_code == 0, ran.log
    assert ran.outputs["changed"] == "true"


@pytest.mark.slow
def test_a_boolean_is_true_or_false(acme: Organisation, job: Job) -> None:
    ran = job_of(acme, job).uses(ACTIONS / "schedule", environment="dev", force="True")
    assert ran.exit_code == 2
    assert "is neither true nor false" in ran.annotations()[0][1]


# Outputs


@pytest.mark.slow
def test_outputs_that_a_following_step_reads(acme: Organisation, job: Job) -> None:
    job_of(acme, job)
    commit = main_commit(acme)
    cd = job.uses(ACTIONS / "cd", environment="dev", commit=commit)
    assert cd.outputs == {
        "changed": "true",
        "environment-commit": acme.head("dev"),
        "pull-request-number": "",
        "pull-request-url": "",
        "waiting-for": "",
    }
    schedule = job.uses(ACTIONS / "schedule", environment="dev", control_plane=CONTROL_PLANE)
    (pull,) = json.loads(schedule.outputs["pull-requests"])
    assert {**schedule.outputs, "digest": "", "pull-requests": ""} == {
        "changed": "true",
        "promoted": "true",
        "degraded": "false",
        "assignments": "2",
        "digest": "",
        "pull-requests": "",
        "pull-request-number": str(pull["number"]),
        "pull-request-url": pull["url"],
        "requeue-time": "",
    }
    assert (pull["repository"], pull["action"]) == (GITOPS, "created")
    assert schedule.summary.startswith("## kalypso schedule: ")
    merged = acme.merge(pull["number"])
    check = job.uses(
        ACTIONS / "check-promote",
        environment="dev",
        promoted_commit=commit,
        gitops_commit=merged,
        poll_interval="1s",
        timeout="30s",
    )
    assert check.exit_code == 0, check.log
    assert check.outputs["verdict"] == "compliant"
    assert json.loads(check.outputs["clusters"]) == {"compliant": 2}
    assert json.loads(check.outputs["promoted-to"]) == ["stage"]
    assert harmless(job, check)


def fails_to_promote(acme: Organisation, job: Job, merged: str, timeout: str) -> Ran:
    """Return the outputs of check-promote for a merge into dev that must not go on."""
    ran = job_of(acme, job).uses(
        ACTIONS / "check-promote",
        environment="dev",
        gitops_commit=merged,
        grace_period="0s",
        poll_interval="1s",
        timeout=timeout,
    )
    assert ran.exit_code == 1, ran.log
    return ran


def test_an_output_is_set_where_the_verdict_is_negative(acme: Organisation, job: Job) -> None:
    for kind in CLUSTER_TYPES:
        acme.sandbox.azure.change(f"dev-{kind}", branch="elsewhere")
    merged = merge(acme, None)
    ran = fails_to_promote(acme, job, merged, timeout="5s")
    assert ran.outputs["verdict"] == "none-targeted"


# Texts that other people write


@pytest.mark.slow
def test_names_and_messages_of_main_and_of_applications(acme: Organisation, job: Job) -> None:
    """Commit messages, branches, registrations, file names: all is text."""
    branch = "feature/$(touch${IFS}pwned)`touch${IFS}pwned`;'${{github.token}}"
    text = HOSTILE["lines"] + HOSTILE["commands"] + HOSTILE["substitution"]
    registrations = {
        "registrations/a.yaml": documents.registration("a", "ext::sh -c touch% pwned"),
        "registrations/b.yaml": documents.registration(
            "b", acme.url("acme/--upload-pack=touch pwned")
        ),
        "registrations/c.yaml": documents.registration("c", acme.url("acme/$(touch pwned)")),
        "registrations/$(touch pwned)`\n::error::x.yaml": documents.registration(
            "d", acme.url("acme/shop"), path="$(touch pwned)"
        ),
    }
    acme.sandbox.commit(CONTROL_PLANE, registrations, branch="main", message=text)
    commit = acme.head("main")
    assert commit
    acme.reset(branch, commit)
    push = JobContext(
        event="push",
        ref=f"refs/heads/{branch}",
        commit=commit,
        payload={"head_commit": {"message": text}},
    )
    job_of(acme, job, push)
    ci = job.uses(ACTIONS / "ci", start_cd="false")
    assert int(ci.outputs["warnings"]) + int(ci.outputs["problems"]) > 0
    assert harmless(job, ci)
    cd = job.uses(ACTIONS / "cd", environment="dev", commit=commit)
    assert harmless(job, cd)
    schedule = job.uses(ACTIONS / "schedule", environment="dev")
    assert schedule.outputs["degraded"] == "true"
    assert harmless(job, schedule)


@pytest.mark.slow
def test_messages_of_clusters(acme: Organisation, job: Job) -> None:
    message = HOSTILE["lines"] + HOSTILE["commands"] + HOSTILE["substitution"]
    merged = merge(acme, None)
    for kind in CLUSTER_TYPES:
        acme.cluster("dev", kind, behaviour="fail", failure={"message": message})
    ran = fails_to_promote(acme, job, merged, timeout="20s")
    assert ran.outputs["verdict"] == "failed"
    assert json.loads(ran.outputs["clusters"]) == {"failed": 2}
    assert harmless(job, ran)


# Set-up


def test_set_up_puts_kalypso_on_the_path_and_nothing_else(job: Job) -> None:
    python = job.shell("command -v python3").log
    ran = job.uses(ROOT)
    version = job.shell("kalypso --version")
    assert (ran.exit_code, version.exit_code) == (0, 0)
    assert ran.outputs["version"] == version.log.strip()
    assert job.shell("command -v python3").log == python
    path = job.variables["PATH"].split(":")[0]
    assert {file.name for file in Path(path).iterdir()} == {"kalypso", "kalypso.cmd"}
    imported = f'"{ran.outputs["python-path"]}" -I -c "import kalypso_actions"'
    assert job.shell(imported).exit_code == 0


@pytest.mark.slow
def test_set_up_runs_a_command_with_the_inputs_of_the_action(acme: Organisation, job: Job) -> None:
    ran = job_of(acme, job).uses(ROOT, run="poll --environments 'dev, stage'")
    assert ran.exit_code == 0, ran.log
    assert acme.dispatches()
    assert harmless(job, ran)


@pytest.mark.parametrize("text", WITH_COMMANDS)
def test_no_shell_reads_the_command_line(job: Job, text: str) -> None:
    ran = job.uses(ROOT, run=f"validate {text}")
    assert ran.exit_code in {0, 1, 2}
    assert harmless(job, ran)


@pytest.mark.parametrize(
    ("run", "exit_code"),
    [
        pytest.param("--version", 0, marks=pytest.mark.slow),
        ("validate 'a b'", 1),
        pytest.param("nothing", 2, marks=pytest.mark.slow),
        pytest.param("poll --x", 2, marks=pytest.mark.slow),
    ],
)
def test_the_exit_code_is_that_of_the_command(job: Job, run: str, exit_code: int) -> None:
    assert job.uses(ROOT, run=run).exit_code == exit_code


def test_a_wrong_command_line_is_annotated(job: Job) -> None:
    ran = job.uses(ROOT, run="validate 'a")
    assert ran.exit_code == 2
    assert ran.annotations() == [("error", "--run: No closing quotation: validate 'a")]
    assert ran.outputs == {"version": "", "python-path": ""}
