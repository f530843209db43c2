"""Excerpts: a line of a template with a mark."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from kalypso_actions.report.excerpts import excerpt


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
