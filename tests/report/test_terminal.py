"""Findings on a terminal: texts of repositories and servers stay text."""

from __future__ import annotations

import io
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len
from rich.console import Console

from kalypso_actions.errors import Finding, Location
from kalypso_actions.report.terminal import NO_FILES, Files, excerpt, print_findings


class Disk:
    """One file in the folder `here`, of the repository `fleet`."""

    def __init__(self, text: str) -> None:
        self._text = text

    def path(self, where: Location) -> str:
        return f"here/{where.path}" if where.repository == "fleet" else ""

    def text(self, where: Location) -> str:
        return self._text if where.repository == "fleet" else ""


def shown(*findings: Finding, files: Files = NO_FILES) -> str:
    stream = io.StringIO()
    print_findings(Console(file=stream, width=200), findings, files)
    return stream.getvalue()


def test_place_message_and_advice() -> None:
    where = Location("https://github.com/acme/fleet", "a.yaml", 3)
    assert shown(Finding("wrong\n\nvery wrong", where, "do better")) == (
        "problem a.yaml:3 (https://github.com/acme/fleet): wrong\n    very wrong\n    → do better\n"
    )


def test_a_list_is_aligned() -> None:
    """Upstream indents only the first refused value."""
    assert shown(Finding("refused: \n - a is required\n- b is required")) == (
        "problem: refused: \n    - a is required\n    - b is required\n"
    )


def test_nothing_that_is_quoted_is_a_command_for_the_runner() -> None:
    hostile = "a\n::stop-commands::x\nb ##[add-mask]c\r::error::d\x1b[31m"
    said = shown(Finding(hostile, Location(hostile, hostile), hostile))
    assert "stop-commands" in said
    assert "##[" not in said
    assert "\x1b" not in said
    assert not any(line.lstrip().startswith("::") for line in said.splitlines())


def test_a_file_at_hand_shows_the_line() -> None:
    where = Location("fleet", "a.yaml", 2, 3, "dev", "0" * 40)
    assert shown(Finding("wrong", where, "do better", "code"), files=Disk("a:\n  b: c\n")) == (
        "problem here/a.yaml:2:3: wrong [code]\n    2 |   b: c\n      |   ^\n    → do better\n"
    )


def test_the_line_of_a_secret_is_not_shown() -> None:
    """Nor is it for other findings at that line."""
    where = Location("fleet", "a.yaml", 2, 3, "dev", "0" * 40)
    secret = Finding("looks like a secret", where, "revoke it", "config-secret", level="warning")
    other = Finding("wrong", Location("fleet", "a.yaml", 2, 5, "dev", "0" * 40), code="code")
    said = shown(secret, other, files=Disk("a:\n  b: hunter22\n"))
    assert "a.yaml:2:3: looks like a secret" in said
    assert "a.yaml:2:5: wrong" in said
    assert "hunter22" not in said


def test_a_file_elsewhere_names_repository_and_branch() -> None:
    where = Location("https://github.com/acme/other", "a.yaml", 2, 3, "dev", "0" * 40)
    said = shown(Finding("wrong", where), files=Disk("x\n"))
    assert said == "problem a.yaml:2:3 (https://github.com/acme/other, branch dev): wrong\n"


def test_findings_of_a_file_follow_each_other_and_problems_come_last() -> None:
    a, b, c = (Location("r", name, 5) for name in ("a.yaml", "b.yaml", "c.yaml"))
    said = shown(
        Finding("P1", b),
        Finding("P2", Location("r", "a.yaml", 2)),
        Finding("P3", Location("r", "b.yaml", 1)),
        Finding("W1", a, level="warning"),
        Finding("W2", c, level="warning"),
    )
    assert [line[-2:] for line in said.splitlines()] == ["W2", "", "P2", "W1", "", "P3", "P1"]


def test_notes_and_acknowledged_warnings_come_first() -> None:
    said = shown(
        Finding("P", Location("r", "a.yaml", 2)),
        Finding("A", Location("r", "b.yaml", 3), "repair it", reason="until May", level="warning"),
        Finding("N", Location("r", "c.yaml", 4), "look", level="note"),
    )
    assert said == (
        "note c.yaml:4 (r): N\n    → look\n"
        "acknowledged b.yaml:3 (r): A\n    → until May\n"
        "problem a.yaml:2 (r): P\n"
    )


def test_a_line_is_no_command_for_the_runner() -> None:
    said = shown(
        Finding("wrong", Location("fleet", "a", 1, 1)), files=Disk("##[add-mask]x\x1b[31m\n")
    )
    assert "##[" not in said
    assert "\x1b" not in said


def test_of_many_findings_of_one_kind_at_one_line_some_are_shown() -> None:
    where = Location("fleet", "templates.yaml", 3)
    failures = [
        Finding(f"app{n} on edge: failed", where, "why", "template-failed") for n in range(9)
    ]
    other = Finding("other", where, "", "template-no-value")
    lines = shown(*failures, other).splitlines()
    assert sum("failed [" in line for line in lines) == 1
    assert "    also app1 on edge, app2 on edge, app3 on edge and 5 more" in lines
    assert any("other" in line for line in lines)
    elsewhere = [Finding(f"server {n} failed", Location("fleet")) for n in range(9)]
    assert shown(*elsewhere).count("failed") == 9


@pytest.mark.parametrize(
    ("text", "line", "column", "number", "expected"),
    [
        ("a: {{ x }}", 1, 7, 1, "1 | a: {{ x }}\n  |       ^"),
        ("a\nb: x", 2, 4, 12, "12 | b: x\n   |    ^"),
        ("a\r\nb: x\r\n", 2, 1, 2, "2 | b: x\n  | ^"),
        ("\tb: x", 1, 2, 1, "1 |  b: x\n  |  ^"),
        ("日本: x", 1, 5, 1, "1 | 日本: x\n  |       ^"),
        ("a\x1bb: x", 1, 3, 1, "1 | a\\x1bb: x\n  |      ^"),
        ("  a: x  ", 1, 0, 1, "1 |   a: x\n  |   ^^^^"),
        ("abc", 1, 99, 1, "1 | abc\n  |    ^"),
        ("", 1, 0, 1, "1 | \n  | ^"),
        ("abc", 2, 1, 2, ""),
        ("abc", 0, 0, 0, ""),
    ],
)
def test_excerpt(text: str, line: int, column: int, number: int, expected: str) -> None:
    assert excerpt(text, line, column, number) == expected


def test_long_lines_are_cut_around_the_place() -> None:
    text = "a" * 500 + "!" + "b" * 500
    shown, mark = excerpt(text, 1, 501, 1).splitlines()
    assert shown[mark.index("^")] == "!"
    assert len(shown) < 130


@given(st.text(max_size=300), st.integers(0, 5), st.integers(0, 400))
def test_the_mark_lies_within_the_line(text: str, line: int, column: int) -> None:
    shown = excerpt(text, line, column, line)
    if shown:
        first, second = shown.split("\n")
        assert cell_len(second) <= cell_len(first) + 1
        assert "^" in second


def test_a_file_with_thousands_of_findings() -> None:
    """Splitting the file for each of them would take 40 s."""
    lines = [f"- name: target-{number}" for number in range(40_000)]
    findings = [Finding("bad", Location("fleet", "a.yaml", line)) for line in range(1, 40_000, 8)]
    start = time.process_time()
    text = shown(*findings, files=Disk("\n".join(lines)))
    assert time.process_time() - start < 10
    assert text.count("| - name: target-") == len(findings)
