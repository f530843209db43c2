"""Problems on a terminal: texts of repositories and servers stay text."""

from __future__ import annotations

import io

from rich.console import Console

from kalypso_actions.errors import Location, Problem
from kalypso_actions.report.documents import ProblemEntry
from kalypso_actions.report.terminal import print_findings


def shown(*problems: Problem) -> str:
    stream = io.StringIO()
    print_findings(Console(file=stream, width=200), (), ProblemEntry.all_of(problems))
    return stream.getvalue()


def test_place_message_and_advice() -> None:
    where = Location("https://github.com/acme/fleet", "a.yaml", 3)
    assert shown(Problem("wrong\n\nvery wrong", where, "do better")) == (
        "problem a.yaml:3 (https://github.com/acme/fleet): wrong\n    very wrong\n    → do better\n"
    )


def test_nothing_that_is_quoted_is_a_command_for_the_runner() -> None:
    hostile = "a\n::stop-commands::x\nb ##[add-mask]c\r::error::d\x1b[31m"
    said = shown(Problem(hostile, Location(hostile, hostile), hostile))
    assert "stop-commands" in said
    assert "##[" not in said
    assert "\x1b" not in said
    assert not any(line.lstrip().startswith("::") for line in said.splitlines())
