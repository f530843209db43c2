"""Diffs on a terminal."""

from __future__ import annotations

from io import StringIO

from rich.console import Console

from kalypso_actions.report.diff_document import diff_lines, shown_diffs, stat_lines
from kalypso_actions.report.documents import FileDiffEntry


def console(*, colours: bool = False, width: int = 60) -> Console:
    return Console(
        file=StringIO(),
        width=width,
        force_terminal=colours,
        color_system="standard" if colours else None,
    )


def entry(path: str, insertions: int, deletions: int, diff: str = "") -> FileDiffEntry:
    return FileDiffEntry(
        path=path, change="modified", insertions=insertions, deletions=deletions, diff=diff
    )


def test_bars_fit_the_terminal() -> None:
    long = "a/" * 40 + "file.yaml"
    lines = [*stat_lines(console(), [entry(long, 3000, 1), entry("b", 1, 0)])]
    assert all(len(line) <= 60 for line in lines[:2])
    assert lines[0].endswith("a/file.yaml | 3001 " + "+" * 19 + "-")
    assert lines[1].endswith("| " + "   1 +")


def test_names_and_lines_cannot_write_to_the_terminal() -> None:
    hostile = entry("a\x1b[2Jb", 1, 0, "--- a/a\x1b[2Jb\n+++ b/b\n@@ -0,0 +1 @@\n+\x1b]0;x\x07\r\n")
    for line in shown_diffs(console(), [hostile], stat=True, lines=True):
        assert line.isprintable()


def test_colours_are_those_of_git() -> None:
    diff = "--- a/a\n+++ b/a\n@@ -1 +1 @@\n c\n--- old\n+new\n"
    lines = [*diff_lines(console(colours=True), [entry("a", 1, 1, diff)])]
    assert [line.partition("m")[0] for line in lines] == [
        "\x1b[1",
        "\x1b[1",
        "\x1b[36",
        " c",
        "\x1b[31",
        "\x1b[32",
    ]
