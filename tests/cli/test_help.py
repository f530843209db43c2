"""Help and completion."""

from __future__ import annotations

from pathlib import Path

import pytest

from kalypso_actions.cli.command_list import COMMANDS
from tests.command_line import call_kalypso, start_kalypso
from tests.git_repositories import commit_branch

ENVIRONMENT = """\
apiVersion: scheduler.kalypso.io/v1alpha1
kind: Environment
metadata: {{name: {name}}}
spec: {{controlPlane: {{repo: any, branch: {name}, path: .}}}}
"""


@pytest.mark.parametrize("arguments", [["help", "render"], ["render", "-h"]], ids=str)
def test_the_help_of_a_command(arguments: list[str]) -> None:
    assert call_kalypso(*arguments).stdout == call_kalypso("render", "--help").stdout


def test_help_alone_lists_the_commands() -> None:
    for arguments in (["help"], ["-h"]):
        done = call_kalypso(*arguments)
        assert done.returncode == 0
        assert all(name in done.stdout for name, each in COMMANDS.items() if not each.hidden)


def test_help_of_an_unknown_command() -> None:
    done = call_kalypso("help", "rendr")
    assert done.returncode == 2
    assert "No such command 'rendr'" in done.stderr


@pytest.mark.parametrize(
    ("words", "completed"),
    [
        ("kalypso render ", ["dev", "stage"]),
        ("kalypso render --environment s", ["stage"]),
        ("kalypso schedule --environment d", ["dev"]),
        ("kalypso templ", ["template"]),
    ],
)
def test_completion(tmp_path: Path, words: str, completed: list[str]) -> None:
    files = {f"{name}.yaml": ENVIRONMENT.format(name=name) for name in ("dev", "stage")}
    commit_branch(tmp_path / "clone", files)
    variables = {
        "_KALYPSO_COMPLETE": "complete_bash",
        "COMP_WORDS": words,
        "COMP_CWORD": str(words.count(" ")),
    }
    done = start_kalypso(variables=variables, folder=tmp_path / "clone")
    assert (done.stdout.split(), done.stderr) == (completed, "")


def test_completion_outside_of_a_clone_is_silent(tmp_path: Path) -> None:
    variables = {
        "_KALYPSO_COMPLETE": "complete_bash",
        "COMP_WORDS": "kalypso render ",
        "COMP_CWORD": "2",
    }
    done = start_kalypso(variables=variables, folder=tmp_path)
    assert (done.stdout.strip(), done.stderr) == ("", "")
