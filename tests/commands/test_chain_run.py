"""A command of the chain in a job: its inputs, and the report of its result."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from io import StringIO
from pathlib import Path

import pytest

from kalypso_actions.clients.process import Programs
from kalypso_actions.commands.registry import ChainCommand
from kalypso_actions.commands.shared.context import CommandContext, Runtime
from kalypso_actions.commands.shared.result import CommandResult
from kalypso_actions.commands.shared.run import run_command
from kalypso_actions.errors import KalypsoError, MissingExtraError, Problem, UsageError
from kalypso_actions.inputs.chain import CdInputs
from kalypso_actions.model.processes import no_progress
from kalypso_actions.report.chain_document import CdDocument
from kalypso_actions.report.documents import ProblemEntry
from kalypso_actions.runner import Runner
from tests.commands.chain.organisation import NOON

COMMIT = "1" * 40
GIVEN = {"environment": "dev", "commit": COMMIT}
DONE = CommandResult(CdDocument(environment="dev", action="written"), "## kalypso cd: done")


@dataclass(frozen=True, slots=True, kw_only=True)
class Replaced(ChainCommand):
    """A command with another function."""

    replacement: Callable[[CdInputs, CommandContext], CommandResult]

    @property
    def function(self) -> Callable[[CdInputs, CommandContext], CommandResult]:
        """The replacement."""
        return self.replacement


class Job:
    """A job of acme/control-plane, and its report."""

    def __init__(
        self,
        folder: Path,
        variables: Mapping[str, str] | None = None,
        installer: Path | None = None,
    ) -> None:
        self.stream = StringIO()
        self.folder = folder
        self.installer = installer
        self.environment = {
            "GITHUB_ACTIONS": "true",
            "GITHUB_REPOSITORY": "acme/control-plane",
            "GITHUB_OUTPUT": str(folder / "outputs"),
            "GITHUB_STEP_SUMMARY": str(folder / "summary"),
            "GITHUB_TOKEN": "of-the-job",
            **(variables or {}),
        }

    def run(
        self,
        command: Callable[[CdInputs, CommandContext], CommandResult],
        **options: str,
    ) -> tuple[CommandResult, int]:
        """Run a command with these options."""
        runtime = Runtime(
            environment=self.environment,
            programs=Programs(self.environment),
            runner=Runner(self.environment, self.stream),
            progress=no_progress,
            log=lambda _: None,
            now=lambda: NOON,
            sleep=lambda _: None,
            installer=self.installer,
        )
        return run_command(Replaced("cd", "", (), replacement=command), options, runtime)

    def content(self, name: str) -> str:
        """Return the content of one of the files of the step."""
        return (self.folder / name).read_text()


def test_the_result_of_a_command_is_reported(tmp_path: Path) -> None:
    seen: list[tuple[CdInputs, CommandContext]] = []

    def command(inputs: CdInputs, context: CommandContext) -> CommandResult:
        seen.append((inputs, context))
        return DONE

    job = Job(tmp_path)
    assert job.run(command, **GIVEN) == (DONE, 0)
    ((inputs, context),) = seen
    assert (inputs.environment, inputs.commit) == ("dev", COMMIT)
    assert context.runtime.job.repository == context.control_plane == "acme/control-plane"
    assert job.stream.getvalue() == "::add-mask::of-the-job\n"
    assert job.content("summary") == "## kalypso cd: done\n\n"
    assert "changed<<" in job.content("outputs")


def test_notes_annotate_nothing(tmp_path: Path) -> None:
    note = ProblemEntry(message="it may be so", where=None, advice="")
    outcome = CommandResult(CdDocument(notes=(note,)), "## kalypso cd: done")
    job = Job(tmp_path)
    assert job.run(lambda *_: outcome, **GIVEN) == (outcome, 0)
    assert job.stream.getvalue() == "::add-mask::of-the-job\n"


def test_a_negative_outcome_is_exit_code_1(tmp_path: Path) -> None:
    problem = ProblemEntry(message="the command failed", where=None, advice="correct it")
    outcome = CommandResult(CdDocument(problems=(problem,)), "## kalypso cd: no", failed=True)
    job = Job(tmp_path)
    assert job.run(lambda *_: outcome, **GIVEN) == (outcome, 1)
    assert "::error title=kalypso cd::the command failed%0Acorrect it\n" in job.stream.getvalue()


@pytest.mark.parametrize(
    ("error", "exit_code"), [(KalypsoError("it is gone"), 1), (UsageError("it is none"), 2)]
)
def test_an_error_is_reported_as_any_other_outcome(
    tmp_path: Path, error: KalypsoError, exit_code: int
) -> None:
    def command(inputs: CdInputs, context: CommandContext) -> CommandResult:
        raise error

    job = Job(tmp_path)
    outcome, code = job.run(command, **GIVEN)
    assert (code, outcome.failed) == (exit_code, True)
    assert isinstance(outcome.document, CdDocument)
    assert outcome.document.environment == "dev"
    assert [problem.finding() for problem in outcome.document.problems] == [Problem(str(error))]
    assert f"- {error}" in job.content("summary")
    assert str(error) in job.stream.getvalue()


@pytest.mark.parametrize(
    ("script", "exit_code", "message"),
    [
        pytest.param("", 0, "", id="installed"),
        pytest.param(
            "raise SystemExit('no wheel')", 1, "cannot be installed: no wheel", id="failed"
        ),
        pytest.param(None, 2, "needs a package", id="outside of an action"),
    ],
)
def test_an_extra_is_installed_when_a_command_needs_it(
    tmp_path: Path, script: str | None, exit_code: int, message: str
) -> None:
    record = tmp_path / "record"

    def command(inputs: CdInputs, context: CommandContext) -> CommandResult:
        if not record.exists():
            raise MissingExtraError("it needs a package", "placement", "install it")
        return DONE

    installer = None
    if script is not None:
        installer = tmp_path / "install.py"
        read = "[*sys.argv[1:], os.environ['KALYPSO_INPUTS'], os.environ.get('GITHUB_TOKEN')]"
        write = f"pathlib.Path({str(record)!r}).write_text(json.dumps({read}))"
        installer.write_text(f"import json, os, pathlib, sys\n{script}\n{write}\n")
    job = Job(tmp_path, installer=installer)
    outcome, code = job.run(command, **GIVEN, wheelhouse="wheels")
    assert (code, message in job.stream.getvalue()) == (exit_code, True), outcome.summary
    if exit_code == 0:
        assert json.loads(record.read_text()) == ["placement", '{"wheelhouse": "wheels"}', None]


@pytest.mark.parametrize(
    ("variables", "options", "exit_code", "message"),
    [
        ({}, {"environment": "dev"}, 2, "--commit is needed"),
        ({"KALYPSO_INPUTS": "["}, GIVEN, 2, "is not JSON"),
        ({"GITHUB_TOKEN": ""}, GIVEN, 2, "no token is given"),
        ({"GITHUB_EVENT_PATH": "/absent"}, GIVEN, 1, "cannot be read"),
    ],
)
def test_wrong_inputs_are_reported_too(
    tmp_path: Path,
    variables: dict[str, str],
    options: dict[str, str],
    exit_code: int,
    message: str,
) -> None:
    job = Job(tmp_path, variables)
    outcome, code = job.run(lambda *_: DONE, **options)
    assert code == exit_code
    assert message in outcome.document.problems[0].message
    assert "::error" in job.stream.getvalue()
