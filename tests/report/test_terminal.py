"""Problems on a terminal: texts of repositories and servers stay text."""

from __future__ import annotations

import io
from collections.abc import Sequence

from rich.console import Console

from kalypso_actions.errors import Location, Problem
from kalypso_actions.report.documents import ProblemEntry
from kalypso_actions.report.terminal import NO_FILES, Files, print_findings


class Disk:
    """One file in the folder `here`, of the repository `fleet`."""

    def __init__(self, text: str) -> None:
        self._text = text

    def path(self, where: Location) -> str:
        return f"here/{where.path}" if where.repository == "fleet" else ""

    def text(self, where: Location) -> str:
        return self._text if where.repository == "fleet" else ""


def shown(*problems: Problem, warnings: Sequence[Problem] = (), files: Files = NO_FILES) -> str:
    stream = io.StringIO()
    print_findings(
        Console(file=stream, width=200),
        ProblemEntry.all_of(warnings),
        ProblemEntry.all_of(problems),
        files,
    )
    return stream.getvalue()


def test_place_message_and_advice() -> None:
    where = Location("https://github.com/acme/fleet", "a.yaml", 3)
    assert shown(Problem("wrong\n\nvery wrong", where, "do better")) == (
        "problem a.yaml:3 (https://github.com/acme/fleet): wrong\n    very wrong\n    → do better\n"
    )


def test_a_list_is_aligned() -> None:
    """Upstream indents only the first refused value."""
    assert shown(Problem("refused: \n - a is required\n- b is required")) == (
        "problem: refused: \n    - a is required\n    - b is required\n"
    )


def test_nothing_that_is_quoted_is_a_command_for_the_runner() -> None:
    hostile = "a\n::stop-commands::x\nb ##[add-mask]c\r::error::d\x1b[31m"
    said = shown(Problem(hostile, Location(hostile, hostile), hostile))
    assert "stop-commands" in said
    assert "##[" not in said
    assert "\x1b" not in said
    assert not any(line.lstrip().startswith("::") for line in said.splitlines())


def test_a_file_at_hand_shows_the_line() -> None:
    where = Location("fleet", "a.yaml", 2, 3, "dev", "0" * 40)
    assert shown(Problem("wrong", where, "do better", "code"), files=Disk("a:\n  b: c\n")) == (
        "problem here/a.yaml:2:3: wrong [code]\n    2 |   b: c\n      |   ^\n    → do better\n"
    )


def test_a_file_elsewhere_names_repository_and_branch() -> None:
    where = Location("https://github.com/acme/other", "a.yaml", 2, 3, "dev", "0" * 40)
    said = shown(Problem("wrong", where), files=Disk("x\n"))
    assert said == "problem a.yaml:2:3 (https://github.com/acme/other, branch dev): wrong\n"


def test_findings_of_a_file_follow_each_other_and_problems_come_last() -> None:
    a, b, c = (Location("r", name, 5) for name in ("a.yaml", "b.yaml", "c.yaml"))
    said = shown(
        Problem("P1", b),
        Problem("P2", Location("r", "a.yaml", 2)),
        Problem("P3", Location("r", "b.yaml", 1)),
        warnings=[Problem("W1", a), Problem("W2", c)],
    )
    assert [line[-2:] for line in said.splitlines()] == ["W2", "", "P2", "W1", "", "P3", "P1"]


def test_a_line_is_no_command_for_the_runner() -> None:
    said = shown(
        Problem("wrong", Location("fleet", "a", 1, 1)), files=Disk("##[add-mask]x\x1b[31m\n")
    )
    assert "##[" not in said
    assert "\x1b" not in said


def test_of_many_findings_of_one_kind_at_one_line_some_are_shown() -> None:
    where = Location("fleet", "templates.yaml", 3)
    failures = [
        Problem(f"app{n} on edge: failed", where, "why", "template-failed") for n in range(9)
    ]
    other = Problem("other", where, "", "template-no-value")
    lines = shown(*failures, other).splitlines()
    assert sum("failed [" in line for line in lines) == 1
    assert "    also app1 on edge, app2 on edge, app3 on edge and 5 more" in lines
    assert any("other" in line for line in lines)
    elsewhere = [Problem(f"server {n} failed", Location("fleet")) for n in range(9)]
    assert shown(*elsewhere).count("failed") == 9
