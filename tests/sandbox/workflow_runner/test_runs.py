"""Runs of workflows: the environment of their jobs, their logs and results."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from kalypso_actions.clients.github import GitHub, GitHubServer, TokenAuth
from kalypso_actions.clients.github.workflows import dispatch
from kalypso_actions.commands.demo.scenario_runner import InProcess
from kalypso_actions.commands.shared.context import CommandContext
from kalypso_actions.commands.shared.result import CommandResult
from kalypso_actions.errors import KalypsoError, Problem
from kalypso_actions.inputs.chain import CdInputs
from kalypso_actions.report.chain_document import CdDocument
from kalypso_actions.runner import Runner
from kalypso_sandbox import Sandbox
from kalypso_sandbox.store import Environment
from kalypso_sandbox.workflow_runner.clock import Clock
from kalypso_sandbox.workflow_runner.runs import LATENCY, JobLog, RunnerEnvironment, WorkflowRunner
from tests.commands.chain.organisation import NOON
from tests.git_repositories import programs

FLEET = "acme/fleet"
COMMIT = "1" * 40

CD = """\
on:
  workflow_dispatch:
    inputs: {environment: {required: true}, rollback: {}}
permissions: {contents: write, id-token: write}
jobs:
  cd:
    steps:
      - uses: kalypso-actions/kalypso-actions/actions/cd@v0
        with:
          environment: ${{ inputs.environment }}
          commit: ${{ vars.COMMIT }}
          allow-rollback: ${{ inputs.rollback }}
      - uses: kalypso-actions/kalypso-actions/actions/cd@v0
        with: {environment: stage, commit: "${{ github.sha }}", token: "${{ secrets.OTHER }}"}
"""
VERIFIED = """\
on: push
permissions: {}
jobs:
  cd:
    needs: [verify]
    environment: {name: "${{ github.ref_name }}"}
    permissions: {id-token: write}
    steps:
      - uses: kalypso-actions/kalypso-actions/actions/cd@v0
        with: {environment: "${{ vars.NAME }}", commit: "${{ vars.COMMIT }}"}
  verify:
    steps:
      - uses: kalypso-actions/kalypso-actions/actions/cd@v0
        with: {environment: dev, commit: "${{ vars.COMMIT }}", verify-only: true}
"""
MACHINE = {
    "PATH": os.environ["PATH"],
    "GITHUB_TOKEN": "of the job around",
    "GITHUB_RUN_ATTEMPT": "3",
    "AZURE_CLIENT_ID": "of the job around",
}


class Command:
    """A fake of cd: records its calls, and ends as configured."""

    def __init__(self) -> None:
        self.runs: list[tuple[CdInputs, CommandContext]] = []
        self.failed = False

    def __call__(self, inputs: CdInputs, context: CommandContext) -> CommandResult:
        """Record the run."""
        self.runs.append((inputs, context))
        context.runtime.log(f"the token is {inputs.token.get_secret_value()}")
        context.runtime.sleep(60)
        return CommandResult(CdDocument(changed=True), "## kalypso cd: done", self.failed)


@pytest.fixture
def command(monkeypatch: pytest.MonkeyPatch) -> Command:
    made = Command()
    monkeypatch.setattr("kalypso_actions.commands.cd.cd", made)
    return made


@pytest.fixture
def sandbox(tmp_path: Path) -> Iterator[Sandbox]:
    clock = Clock(NOON)
    with Sandbox(tmp_path / "sandbox", programs(), now=clock) as made:
        made.create_repository(FLEET, {".github/workflows/cd.yaml": CD})
        made.repository(FLEET).variables["COMMIT"] = COMMIT
        yield made


@pytest.fixture
def made(sandbox: Sandbox, tmp_path: Path) -> WorkflowRunner:
    clock = Clock(NOON)
    secrets = {"OTHER": "github_pat_other"}
    return WorkflowRunner(sandbox, clock, MACHINE, secrets, tmp_path / "runs", InProcess(clock))


def start(sandbox: Sandbox, made: WorkflowRunner) -> Any:
    """Start cd as a person, and return the run that is due."""
    environment = RunnerEnvironment(sandbox, MACHINE).environment()
    auth = TokenAuth(sandbox.create_token(owner="acme"))
    server = GitHubServer.of_environment(environment)
    github = GitHub(server, auth, environment, made.clock.sleep, made.clock)
    dispatch(github, FLEET, "cd.yaml", ref="main", inputs={"environment": "dev"})
    (run,) = made.pending_runs()
    return run


def test_steps_get_the_inputs_of_their_file(
    sandbox: Sandbox, command: Command, made: WorkflowRunner
) -> None:
    run = start(sandbox, made)
    done = made.run(run)
    shown = [(run.command, run.environment, run.exit_code) for run in done]
    assert shown == [("cd", "dev", 0), ("cd", "stage", 0)]
    (first, _), (second, _) = command.runs
    assert (first.environment, first.commit, first.allow_rollback) == ("dev", COMMIT, False)
    assert (second.environment, second.commit) == ("stage", sandbox.git(FLEET).head("main"))
    assert second.token.get_secret_value() == "github_pat_other"
    assert made.pending_runs() == []


def test_a_job_s_token_has_the_permissions_of_its_file(
    sandbox: Sandbox, command: Command, made: WorkflowRunner
) -> None:
    made.run(start(sandbox, made))
    token = command.runs[0][0].token.get_secret_value()
    assert token.startswith("ghs_")
    known = sandbox.store.tokens.values()
    of_jobs = [identity for identity in known if identity.kind == "actions"]
    scopes = [(identity.repositories, identity.permissions) for identity in of_jobs]
    assert scopes == [([FLEET], {"metadata": "read", "contents": "write"})] * 2


def test_a_job_knows_what_started_it_and_nothing_of_the_job_around(
    sandbox: Sandbox, command: Command, made: WorkflowRunner
) -> None:
    made.run(start(sandbox, made))
    runtime = command.runs[0][1].runtime
    assert runtime.job.event_name == "workflow_dispatch"
    assert runtime.job.event["inputs"] == {"environment": "dev", "rollback": ""}
    assert runtime.job.commit == sandbox.git(FLEET).head("main")
    assert runtime.job.attempt == 1
    assert runtime.job.run_url.endswith(f"/{sandbox.repository(FLEET).runs[0].id}")
    assert "ACTIONS_ID_TOKEN_REQUEST_URL" in runtime.environment
    assert "of the job around" not in runtime.environment.values()


def test_each_step_leaves_its_files_without_any_secret(
    sandbox: Sandbox, command: Command, made: WorkflowRunner, tmp_path: Path
) -> None:
    first, second = made.run(start(sandbox, made))
    assert first.folder == tmp_path / "runs" / "01-cd-dev"
    assert second.folder.name == "01-cd-stage"
    assert (first.folder / "summary.md").read_text() == "## kalypso cd: done\n\n"
    assert "changed<<" in (first.folder / "outputs.txt").read_text()
    assert first.lines[0].startswith("the token is ghs_")
    logged = (first.folder / "log.txt").read_text()
    assert f"12:00:{LATENCY}  the token is ***" in logged
    assert "ghs_" not in logged


def test_a_job_comes_after_those_that_it_needs_and_sees_its_environment(
    sandbox: Sandbox, command: Command, made: WorkflowRunner
) -> None:
    dev = Environment(id=1, name="Dev", created_at=NOON, variables={"NAME": "of-dev"})
    sandbox.repository(FLEET).environments["dev"] = dev
    sandbox.commit(FLEET, {".github/workflows/verified.yaml": VERIFIED}, branch="dev")
    (run,) = made.pending_runs()
    verify, deploy = made.run(run)
    assert [job.environment for job, _ in command.runs] == ["dev", "of-dev"]
    assert (verify.is_verified, deploy.is_verified) == (True, False)
    assert (verify.folder.name, deploy.folder.name) == ("01-cd-dev-verify", "01-cd-of-dev")
    variables = [context.runtime.environment for _, context in command.runs]
    assert ["ACTIONS_ID_TOKEN_REQUEST_URL" in variable for variable in variables] == [False, True]


def test_a_false_condition_ends_the_run(
    sandbox: Sandbox, command: Command, made: WorkflowRunner
) -> None:
    command.failed = True
    sandbox.commit(FLEET, {".github/workflows/verified.yaml": VERIFIED}, branch="dev")
    (run,) = made.pending_runs()
    (verify,) = made.run(run)
    assert (verify.exit_code, verify.is_verified) == (1, False)


@pytest.mark.parametrize("fails", [True, False])
def test_the_first_step_that_fails_is_the_last(
    sandbox: Sandbox, command: Command, made: WorkflowRunner, fails: bool
) -> None:
    command.failed = fails
    done = made.run(start(sandbox, made))
    assert [run.exit_code for run in done] == ([1] if fails else [0, 0])
    (record,) = sandbox.repository(FLEET).runs
    assert (record.status, record.conclusion) == ("completed", "failure" if fails else "success")


@pytest.mark.parametrize(
    "step", ["uses: acme/x/actions/fly@v0", "uses: acme/x@v0, with: {run: fly}"]
)
def test_unsupported_syntax_is_an_error(sandbox: Sandbox, made: WorkflowRunner, step: str) -> None:
    content = f"on: push\njobs: {{one: {{steps: [{{{step}}}]}}}}\n"
    sandbox.commit(FLEET, {".github/workflows/start.yaml": content}, branch="dev")
    (run,) = made.pending_runs()
    with pytest.raises(KalypsoError, match="there is no action 'fly'"):
        made.run(run)


def test_secrets_are_hidden_after_they_are_masked(tmp_path: Path) -> None:
    file = tmp_path / "log.txt"
    with JobLog(file) as log:
        runner = Runner({"GITHUB_ACTIONS": "true"}, log)
        log.write_line("before hush-hush", NOON)
        runner.mask("hush-hush")
        runner.mask("hush")
        log.write_line("after hush-hush, and hush", NOON)
        runner.annotate([Problem("hush is wrong", advice="say 100% less")], "kalypso ci")
    assert file.read_text() == (
        "12:00:00  before hush-hush\n"
        "12:00:00  after ***, and ***\n"
        "error: *** is wrong\n"
        "say 100% less\n"
    )


def test_a_line_may_be_written_in_parts(tmp_path: Path) -> None:
    file = tmp_path / "log.txt"
    with JobLog(file) as log:
        for part in ("::add-", "mask::hush", "\nit is ", "hush\n"):
            log.write(part)
    assert file.read_text() == "it is ***\n"
