"""Go's strings: quoting and unquoting, bytes, runes and classes of characters."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kalypso_go.gotemplate.characters import is_digit, is_letter, is_print
from kalypso_go.gotemplate.text import (
    byte_length,
    can_backquote,
    from_bytes,
    normal,
    quote,
    quote_json,
    quote_rune,
    to_bytes,
    to_runes,
    unquote,
    unquote_char,
)

GO_STRINGS = st.binary().map(from_bytes) | st.text(st.characters(exclude_categories=["Cs"]))


@pytest.mark.parametrize(
    ("text", "quoted"),
    [
        ("", '""'),
        ("a'b", '"a\'b"'),
        ('"\\', r'"\"\\"'),
        ("\a\b\f\n\r\t\v", r'"\a\b\f\n\r\t\v"'),
        ("\0\x1f\x7f", r'"\x00\x1f\x7f"'),
        ("é☺😀", '"é☺😀"'),
        ("\u00a0\u2028\ufeff", r'"\u00a0\u2028\ufeff"'),
        ("\U000e0001", r'"\U000e0001"'),
        ("\U0001fae8", '"🫨"'),
        ("\udc80\udcff", r'"\x80\xff"'),
        ("\udcc3\udca9", '"é"'),
    ],
)
def test_quote(text: str, quoted: str) -> None:
    assert quote(text) == quoted


def test_quote_to_ascii() -> None:
    assert quote("é😀\ufffd", ascii_only=True) == r'"\u00e9\U0001f600\ufffd"'


@pytest.mark.parametrize(
    ("code", "quoted"),
    [(97, "'a'"), (39, r"'\''"), (34, "'\"'"), (10, r"'\n'"), (0xD800, "'�'"), (-1, "'�'")],
)
def test_quote_rune(code: int, quoted: str) -> None:
    assert quote_rune(code) == quoted


@pytest.mark.parametrize(
    ("text", "possible"),
    [("a\tb é", True), ("a`", False), ("\n", False), ("\x7f", False), ("\ufeff", False), ("\udcff", False)],
)  # fmt: skip
def test_can_backquote(text: str, possible: bool) -> None:
    assert can_backquote(text) is possible


@pytest.mark.parametrize(
    ("literal", "text"),
    [
        ('"a b"', "a b"),
        (r'"\a\b\f\n\r\t\v\\\""', '\a\b\f\n\r\t\v\\"'),
        (r'"\x41\101\u00e9\U0001F600"', "AAé😀"),
        (r'"\xff"', "\udcff"),
        (r'"\xc3\xa9"', "é"),
        ("`a\\n\r\nb`", "a\\n\nb"),
    ],
)
def test_unquote(literal: str, text: str) -> None:
    assert unquote(literal) == text


@pytest.mark.parametrize(
    "literal",
    [
        r'"\q"',
        r'"\x4"',
        r'"\u12"',
        r'"\ud800"',
        r'"\U00110000"',
        r'"\400"',
        r'"\8"',
        r'"\'"',
        '"\\',
    ],
)
def test_unquote_refuses(literal: str) -> None:
    with pytest.raises(ValueError, match="invalid syntax"):
        unquote(literal if literal.endswith('"') else literal + '"')


@pytest.mark.parametrize(
    ("literal", "code"),
    [("'a'", 97), (r"'\''", 39), (r"'\x80'", 128), (r"'\u00e9'", 233), ("'😀'", 0x1F600), ("'\udcff'", 0xFFFD)],
)  # fmt: skip
def test_unquote_char(literal: str, code: int) -> None:
    assert unquote_char(literal) == code


@pytest.mark.parametrize(
    ("literal", "message"),
    [("''", "invalid syntax"), ("'ab'", "malformed character constant: 'ab'"), (r"'\"'", "invalid syntax")],
)  # fmt: skip
def test_unquote_char_refuses(literal: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        unquote_char(literal)


@given(GO_STRINGS)
def test_what_is_quoted_reads_back(text: str) -> None:
    assert unquote(quote(text)) == normal(text)
    assert unquote(quote(text, ascii_only=True)) == normal(text)


@given(st.binary())
def test_bytes_are_kept(data: bytes) -> None:
    assert to_bytes(from_bytes(data)) == data
    assert byte_length(from_bytes(data)) == len(data)


def test_runes_of_bytes_that_are_no_text() -> None:
    assert to_runes("a\udcff\udcc3\udca9") == "a\ufffdé"


@pytest.mark.parametrize(
    ("rune", "classes"),
    [("a", "letter print"), ("1", "digit print"), ("_", "print"), ("é", "letter print"), ("٣", "digit print"),
     ("²", "print"), (" ", "print"), ("\u00a0", ""), ("\x7f", ""), ("\U0001fae8", "print"), ("\udcff", "")],
)  # fmt: skip
def test_characters(rune: str, classes: str) -> None:
    tables = {"letter": is_letter, "digit": is_digit, "print": is_print}
    assert " ".join(name for name, contains in tables.items() if contains(rune)) == classes


@pytest.mark.parametrize(
    ("text", "json_text"),
    [
        ("a/é", '"a/é"'),
        ('"\\\n\x01', r'"\"\\\n\u0001"'),
        ("<a> & \u2028", r'"\u003ca\u003e \u0026 \u2028"'),
        ("\udcff", r'"\ufffd"'),
    ],
    ids=["plain", "control", "html", "no-utf8"],
)
def test_quote_json(text: str, json_text: str) -> None:
    assert quote_json(text) == json_text


@given(st.text())
def test_what_is_quoted_for_json_reads_back(text: str) -> None:
    assert json.loads(quote_json(text)) == text
