"""Untrusted text on a terminal."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kalypso_actions.report.escaping import escape_line


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain, ünïcode 😀", "plain, ünïcode 😀"),
        ("\x1b[31mred", "\\x1b[31mred"),
        ("two\nlines\r", "two\\nlines\\r"),
        ("right-to-left \u202e override", "right-to-left \\u202e override"),
        ("no-break\u00a0space", "no-break\u00a0space"),
        ("a byte \udcff, no text", "a byte \\xff, no text"),
    ],
)
def test_printable(text: str, shown: str) -> None:
    assert escape_line(text) == shown


@given(st.text())
def test_nothing_that_a_terminal_obeys(text: str) -> None:
    shown = escape_line(text)
    assert not any(ord(character) < 32 or 127 <= ord(character) < 160 for character in shown)
    assert len(shown.splitlines()) <= 1
