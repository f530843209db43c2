"""Unified diffs, compared with git's."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kalypso_actions.comparison import unified, unified_diff
from kalypso_actions.model.differences import FileDiff


def diff(before: str, after: str) -> str:
    hunks = unified.hunks(before.encode(), after.encode())
    return unified_diff(FileDiff("a.yaml", "modified", hunks))


CASES = {
    "a line": ("a\nb\nc\n", "a\nB\nc\n"),
    "two hunks": ("".join(f"{n}\n" for n in range(30)), "".join(f"{n % 20}\n" for n in range(30))),
    "no final newline": ("a\nb", "a\nc\n"),
    "a new file": ("", "a\n"),
    "carriage returns": ("a\r\nb\r\n", "a\nb\r\n"),
}


@pytest.mark.parametrize("case", CASES)
def test_as_git_writes_it(case: str, tmp_path: Path) -> None:
    before, after = CASES[case]
    (tmp_path / "before").write_bytes(before.encode())
    (tmp_path / "after").write_bytes(after.encode())
    command = ["git", "diff", "--no-index", "--no-color", "before", "after"]
    result = subprocess.run(command, cwd=tmp_path, capture_output=True, check=False)
    hunks = result.stdout.decode().partition("\n@@ ")[2].split("\n")
    ours = diff(before, after).partition("\n@@ ")[2].split("\n")
    # git names the line before a hunk, too.
    assert [line.partition(" @@")[0] for line in ours] == [
        line.partition(" @@")[0] for line in hunks
    ]


LINES = st.lists(st.sampled_from(["a\n", "b\n", "c\n"]), max_size=12)


@given(LINES, LINES, LINES, LINES)
def test_equal_ends_change_no_difference(
    start: list[str], old: list[str], new: list[str], end: list[str]
) -> None:
    """The diff turns one text into the other, whatever surrounds the changed lines."""
    before, after = [*start, *old, *end], [*start, *new, *end]
    text = diff("".join(before), "".join(after))
    assert applied(before, text.split("\n")[2:-1]) == after


def applied(before: list[str], lines: list[str]) -> list[str]:
    """Apply the hunks of a diff, and check the lines that it names."""
    result, at = [], 0
    for line in lines:
        sign, rest = line[:1], f"{line[1:]}\n"
        if sign == "@":
            first, _, length = line.split()[1].lstrip("-").partition(",")
            start = int(first) - (0 if length == "0" else 1)
            result += before[at:start]
            at = start
        elif sign == "+":
            result.append(rest)
        else:
            assert before[at] == rest
            result += [rest] if sign == " " else []
            at += 1
    return result + before[at:]


TEXTS = st.lists(st.sampled_from(["a", "b", "c"]), max_size=12).map("\n".join)


@given(TEXTS, TEXTS)
def test_it_leads_from_one_text_to_the_other(before: str, after: str) -> None:
    lines = diff(before, after).split("\n")[2:]
    added = sum(line.startswith("+") for line in lines)
    removed = sum(line.startswith("-") for line in lines)
    lengths = [
        text.count("\n") + bool(text and not text.endswith("\n")) for text in (before, after)
    ]
    assert added - removed == lengths[1] - lengths[0]
    assert (before == after) == (lines == [""])


def test_a_large_change_is_one_hunk(monkeypatch: pytest.MonkeyPatch) -> None:
    before, after = "x\n" * 5 + "a\nb\nc\n" + "y\n" * 5, "x\n" * 5 + "a\nB\nd\ne\n" + "y\n" * 5
    monkeypatch.setattr(unified, "MOST_PAIRS", 3)
    assert diff(before, after).splitlines()[2:] == [
        "@@ -4,8 +4,9 @@",
        *[" x", " x", " a", "-b", "-c", "+B", "+d", "+e", " y", " y", " y"],
    ]


def test_bytes_that_are_no_text() -> None:
    file = FileDiff("a", "added", unified.hunks(None, b"\xff"))
    assert unified_diff(file, "dev/") == "--- /dev/null\n+++ b/dev/a\nBinary files differ\n"
