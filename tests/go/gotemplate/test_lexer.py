"""The items of texts."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kalypso_go.gotemplate.lexer import Item, ItemKind, lex, unicode_name
from tests.go.gotemplate.texts import TEMPLATES

LEFT, RIGHT, SPACE = "{{", "}}", " "


def pieces(text: str) -> list[tuple[str, str]]:
    """Return kinds and values, without the end."""
    items = list(lex(text))
    assert items[-1].kind in {ItemKind.EOF, ItemKind.ERROR}
    return [(item.kind.name, item.value) for item in items if item.kind is not ItemKind.EOF]


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("", []),
        ("plain } text {", ["plain } text {"]),
        ("a{{}}b", ["a", LEFT, RIGHT, "b"]),
        ("a {{- }} b", ["a", LEFT, RIGHT, " b"]),
        ("a {{ -}} b", ["a ", LEFT, RIGHT, "b"]),
        ("a {{  -}} b", ["a ", LEFT, SPACE, RIGHT, "b"]),
        (" \t\r\n{{- }}", [LEFT, RIGHT]),
        ("\u00a0{{- }}\v", ["\u00a0", LEFT, RIGHT, "\v"]),
        ("{{-3}}", [LEFT, "-3", RIGHT]),
        ("{{3 -3}}", [LEFT, "3", SPACE, "-3", RIGHT]),
        ("a{{/* b */}}c", ["a", "c"]),
        ("a {{- /* b */ -}} c", ["a", "c"]),
        ("{{/*}}*/}}", []),
        ("{{\n}}", [LEFT, "\n", RIGHT]),
    ],
)
def test_text_and_delimiters(text: str, values: list[str]) -> None:
    assert [value for _, value in pieces(text)] == values


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{{", "unclosed action"),
        ("{{ 1 \n", "unclosed action"),
        ("{{/* a", "unclosed comment"),
        ("{{/* a */ 1}}", "comment ends before closing delimiter"),
        ("{{ (1 }}", "unclosed left paren"),
        ("{{ 1) }}", "unexpected right paren"),
        ('{{ "a', "unterminated quoted string"),
        ('{{ "a\nb" }}', "unterminated quoted string"),
        ("{{ `a", "unterminated raw quoted string"),
        ("{{ 'a", "unterminated character constant"),
        ("{{ $x : 1 }}", "expected :="),
        ("{{ $x=1 }}", "bad character U+003D '='"),
        ("{{ .a+1 }}", "bad character U+002B '+'"),
        ("{{ print@ }}", "bad character U+0040 '@'"),
        ("{{ 1x }}", 'bad number syntax: "1x"'),
        ("{{ 1+2 }}", 'bad number syntax: "1+2"'),
        ("{{ 1+2ix }}", 'bad number syntax: "1+2ix"'),
        ("{{ ¤ }}", "unrecognized character in action: U+00A4 '¤'"),
        ("{{ \x01 }}", "unrecognized character in action: U+0001"),
        ("{{ \udcff }}", "unrecognized character in action: U+FFFD '�'"),
    ],
)
def test_errors_end_the_items(text: str, message: str) -> None:
    assert list(lex(text))[-1][::2] == (ItemKind.ERROR, message)


def test_break_and_continue_may_be_functions() -> None:
    items = list(lex("{{break}}{{continue}}", frozenset({"break", "if"})))
    assert [item.kind for item in items if item.value.islower()] == [
        ItemKind.IDENTIFIER,
        ItemKind.CONTINUE,
    ]


@pytest.mark.parametrize(
    ("item", "shown"),
    [
        (Item(ItemKind.EOF, 0, "EOF"), "EOF"),
        (Item(ItemKind.ERROR, 0, "unclosed action"), "unclosed action"),
        (Item(ItemKind.IF, 0, "if"), "<if>"),
        (Item(ItemKind.DOT, 0, "."), "<.>"),
        (Item(ItemKind.IDENTIFIER, 0, "short"), '"short"'),
        (Item(ItemKind.STRING, 0, '"a long one"'), '"\\"a long on"...'),
        (Item(ItemKind.FIELD, 0, ".ééééé"), '".ééééé"...'),
    ],
)
def test_items_in_errors(item: Item, shown: str) -> None:
    assert str(item) == shown


@pytest.mark.parametrize(
    ("rune", "shown"), [("a", "U+0061 'a'"), ("\n", "U+000A"), ("😀", "U+1F600 '😀'")]
)
def test_names_of_characters(rune: str, shown: str) -> None:
    assert unicode_name(rune) == shown


@given(st.text() | TEMPLATES)
def test_any_text_is_read_to_an_end(text: str) -> None:
    items = list(lex(text))
    assert items[-1].kind in {ItemKind.EOF, ItemKind.ERROR}
    for item in items[:-1]:
        assert text.startswith(item.value, item.position)
