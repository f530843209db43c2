"""The timeline of the demo, on terminals of any width, with any texts."""

from __future__ import annotations

from io import StringIO

import pytest
from rich.console import Console

from kalypso_actions.report.demo_document import (
    DemoDocument,
    DemoRepositoryEntry,
    DemoStepEntry,
    Timeline,
    print_end,
)
from kalypso_actions.report.documents import ProblemEntry

STEPS = [
    DemoStepEntry(
        act="One thing",
        at="2026-03-01T12:00:00Z",
        who="people",
        text="merge it",
        details=("a.yaml",),
    ),
    DemoStepEntry(
        act="One thing",
        at="2026-03-01T12:01:05Z",
        who="check-promote",
        environment="dev",
        text="deployed to [bold]dev[/bold]",
        ending="compliant",
        details=("compliant 0/8 → 8/8",),
        folder="/tmp/kept/runs/06-check-promote-dev",
    ),
    DemoStepEntry(
        act="Another",
        at="2026-03-01T13:00:00Z",
        who="cd",
        environment="stage",
        text="\x1b[31mno",
        as_expected=False,
        folder="C:\\kept\\runs\\07-cd-stage",
    ),
]
END = DemoDocument(
    dir="/tmp/kept it",
    url="http://127.0.0.1:4711",
    repositories=(
        DemoRepositoryEntry(name="acme/gitops", path="/tmp/kept it/repositories/acme/gitops.git"),
    ),
)


def shown(
    width: int, *, document: DemoDocument = END, colours: bool = False, program: str = "kalypso"
) -> str:
    console = Console(file=StringIO(), width=width, force_terminal=colours)
    timeline = Timeline(console)
    for step in STEPS:
        timeline.show(step)
    print_end(console, document, program)
    assert isinstance(console.file, StringIO)
    lines = console.file.getvalue().splitlines()
    assert lines == [line.rstrip() for line in lines]
    return "\n".join(lines)


def test_steps_stand_under_their_acts() -> None:
    text = shown(70)
    assert text.partition("\n\n")[2].partition("\n\nWhere")[0] == (
        "1. One thing ─────────────────────────────────────────────────────────\n"
        "00:00      people                 merge it\n"
        "                                  a.yaml\n"
        "01:05  06  check-promote   dev    deployed to [bold]dev[/bold]\n"
        "                                  compliant 0/8 → 8/8\n"
        "\n"
        "2. Another ───────────────────────────────────────────────────────────\n"
        "60:00  07  cd              stage  \\x1b[31mno"
    )


@pytest.mark.parametrize("width", [80, 100, 200])
def test_nothing_is_wider_than_the_terminal_but_what_is_copied(width: int) -> None:
    too_wide = [line for line in shown(width).splitlines() if len(line) > width]
    assert all(line.startswith(("git clone", "kalypso")) for line in too_wide)


def test_the_end_says_where_everything_is() -> None:
    text = shown(80)
    assert "ls '/tmp/kept it'/runs/*" in text
    assert "git clone -b dev '/tmp/kept it/repositories/acme/gitops.git'" in text
    assert "kalypso sandbox --dir '/tmp/kept it' --port 4711" in text
    assert text.endswith("Every step ended as expected.")
    assert "\n'/my tools/kalypso' sandbox --dir" in shown(80, program="/my tools/kalypso")


def test_the_end_says_what_went_wrong() -> None:
    problem = ProblemEntry(message="cd ended otherwise", where=None, advice="see runs/07")
    text = shown(80, document=END.model_copy(update={"problems": (problem,)}))
    assert text.endswith("problem: cd ended otherwise\n    → see runs/07")


def test_no_word_of_a_repository_reaches_the_terminal_as_a_command() -> None:
    assert "\x1b[31mno" not in shown(80, colours=True)
