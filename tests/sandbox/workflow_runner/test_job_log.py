"""The log of a step, as GitHub shows it."""

from __future__ import annotations

from pathlib import Path

from kalypso_actions.errors import Problem
from kalypso_actions.runner import Runner
from kalypso_sandbox.workflow_runner.runs import JobLog
from tests.commands.chain.organisation import NOON


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
