"""Reading texts like yaml.v2; the recorded cases contain more."""

from __future__ import annotations

import math
from typing import Any

import pytest

from kalypso_go.goyaml import MAX_DEPTH, YAMLBoundError, YAMLError, parse
from kalypso_go.goyaml.keys import FloatKey, IntKey


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("", None),
        ("# nothing\n", None),
        ("---\n", None),
        ("x", "x"),
        ("5", 5),
        ("a: 1", {"a": 1}),
        ("a: 1\nb:\n  c: [d, {e: f}]\n", {"a": 1, "b": {"c": ["d", {"e": "f"}]}}),
        ("- a\n-\n- - b\n  - c\n- d: e\n  f: g\n", ["a", None, ["b", "c"], {"d": "e", "f": "g"}]),
        ("a:\n- b\n- c\nd:\n", {"a": ["b", "c"], "d": None}),
        ("? a\n: b\n? c\n", {"a": "b", "c": None}),
        ("{a, b: , c: d}", {"a": None, "b": None, "c": "d"}),
        ("[a: b, c]", [{"a": "b"}, "c"]),
        ("a: 1\n---\nb: 2\n", {"a": 1}),
        ("a: 1\n...\n}\n", {"a": 1}),
        ("%YAML 1.1\n---\na\n", "a"),
        ("\ufeffa: 1", {"a": 1}),
        ("[]: x", []),
        ("&a &b c", None),
    ],
)
def test_structure(text: str, value: object) -> None:
    assert parse(text) == value


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("plain: a  b\n  c\n\n  d # no\n", "a  b c\nd"),
        ("plain: a#b\n", "a#b"),
        ("plain: http://h:1/p\n", "http://h:1/p"),
        ("single: 'it''s\n  two\n\n\n  lines '\n", "it's two\n\nlines "),
        ('double: "a\\tb\\x41\\u00e9\\U0001F600\\\n   c\\N"\n', "a\tbAé\U0001f600c\x85"),
        ('double: "a \\\n  \\ b"\n', "a  b"),
        ("literal: |\n  a\n   b\n\n  c\n\n", "a\n b\n\nc\n"),
        ("strip: |-\n  a\n\n", "a"),
        ("keep: |+\n  a\n\n", "a\n\n"),
        ("indented: |2\n    a\n   b\n", "  a\n b\n"),
        ("folded: >\n  a\n  b\n\n  c\n   d\n  e\n", "a b\nc\n d\ne\n"),
        ("folded: >-1\n  a\n", " a"),
        ("empty: |\n", ""),
        ("crlf: |\r\n  a\r\n  b\r\n", "a\nb\n"),
        ("separator: a\u2028  b\n", "a\u2028b"),
    ],
)
def test_scalars(text: str, value: str) -> None:
    assert isinstance(mapping := parse(text), dict)
    assert [*mapping.values()] == [value]


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("a: &x [1]\nb: *x\n", {"a": [1], "b": [1]}),
        ("a: &x 1\nb: &x 2\nc: *x\n", {"a": 1, "b": 2, "c": 2}),
        ("&k a: 1\nb: *k\n", {"a": 1, "b": "a"}),
        ("a: &x\nb: *x\n", {"a": None, "b": None}),
        ("- &x {a: 1, b: 2}\n- {a: 0, <<: *x}\n", [{"a": 1, "b": 2}, {"a": 1, "b": 2}]),
        ("<<: {a: 1}\na: 2\n", {"a": 2}),
        ("<<: [{a: 1}, {a: 2, b: 2}]\n", {"a": 1, "b": 2}),
        ("'<<': 1\n", {"<<": 1}),
        ("!!merge <<: {a: 1}\n", {"a": 1}),
        ("- <<\n", ["<<"]),
        ("!!str 5: !!int '5'\n", {"5": 5}),
        ("! 5: !custom 5\n", {"5": "5"}),
        ("%TAG !e! tag:yaml.org,2002:\n---\n!e!str 5\n", "5"),
        ("!<tag:yaml.org,2002:str> 5", "5"),
        ("!!%73tr 5", "5"),
        ("!!map [1]\n", [1]),
    ],
)
def test_aliases_merges_and_tags(text: str, value: object) -> None:
    assert parse(text) == value


def test_each_alias_gives_a_copy() -> None:
    parsed: Any = parse("a: &x [1]\nb: *x\n")
    parsed["a"].append(2)
    assert parsed["b"] == [1]


@pytest.mark.parametrize(
    ("text", "line", "problem"),
    [
        ("a: 1\nb: '\n", 2, "found unexpected end of stream"),
        ("a: '\n---\n", 1, "found unexpected document indicator"),
        ("a: [1\nb: 2\n", 2, "did not find expected ',' or ']'"),
        ("{a: 1", 2, "did not find expected ',' or '}'"),
        ("- a\nb: 1\n", 2, "did not find expected '-' indicator"),
        ("a: 1\n- b\n", 2, "did not find expected key"),
        ("a: 1\n b: 2\n", 2, "mapping values are not allowed"),
        ("a: - b\n", 1, "block sequence entries are not allowed"),
        ("a: ? b\n", 1, "mapping keys are not allowed"),
        ("a: 1\nb\nc: 2\n", 2, "could not find expected ':'"),
        ("a:\n\tb: 1\n", 2, "cannot start any token"),
        ("@a", 1, "cannot start any token"),
        ("a: |\n\tb\n", 2, "tab character where an indentation space"),
        ("a: b\n\tc\n", 2, "tab character that violates indentation"),
        ("a: |0\n", 1, "indentation indicator equal to 0"),
        ("a: | b\n", 1, "expected comment or line break"),
        ('"\\/"', 1, "unknown escape"),
        ('"\\x4g"', 1, "hexdecimal"),
        ('"\\ud800"', 1, "invalid Unicode"),
        ("%YAML 1.2\n---\na\n", 1, "incompatible YAML document"),
        ("%YAML 1.1\n%YAML 1.1\n---\n", 2, "duplicate"),
        ("%YAML 111.1\n---\n", 1, "version number"),
        ("%OTHER x\n---\n", 1, "unknown directive name"),
        ("%TAG x y\n---\n", 1, "tag handle"),
        ("%TAG ! y\na\n", 2, "expected <document start>"),
        ("!e!x y", 1, "undefined tag handle"),
        ("!!", 1, "tag URI"),
        ("!<> y", 1, "tag URI"),
        ("!<a y", 1, "expected '>'"),
        ("!a,b{ y", 1, "whitespace or line break"),
        ("!%4 x", 1, "URI escaped octet"),
        ("!%ff x", 1, "UTF-8 octet"),
        ("& a", 1, "alphabetic or numeric"),
        ("&a{} b", 1, "alphabetic or numeric"),
        ("- &a &b c", 1, "did not find expected '-' indicator"),
        ("*a", 1, "unknown anchor 'a' referenced"),
        ("&a [*a]", 1, "anchor 'a' value contains itself"),
        ("&a {b: {<<: *a}}", 1, "anchor 'a' value contains itself"),
        ("<<: text", 1, "map merge requires map"),
        ("x: &x [1]\n<<: *x\n", 2, "map merge requires map"),
        ("<<: [{a: 1}, b]", 1, "map merge requires map"),
        ("{a: 1,\n [1]: 2}", 2, "invalid map key"),
        ("? [1]\n: a\n", 1, "invalid map key"),
        ("? {a: b}\n", 1, "invalid map key"),
        ("x: &x [1]\n? *x\n", 2, "invalid map key"),
        ("[? : x]", 1, "did not find expected ',' or ']'"),
        ("- []: x\n", 1, "did not find expected '-' indicator"),
        ("a: !!int x\n", 1, "cannot decode !!str `x` as a !!int"),
        ("a: 1\nb: \x01", 2, "control characters are not allowed"),
        ("\udcff", 1, "control characters are not allowed"),
    ],
)
def test_refused(text: str, line: int, problem: str) -> None:
    with pytest.raises(YAMLError) as caught:
        parse(text)
    assert problem in caught.value.message
    assert caught.value.line == line


def test_keys_are_as_distinct_as_in_go() -> None:
    parsed: Any = parse("1: i\n1.0: f\ntrue: b\n'1': s\n0: zero\nno: f\n~: nil\n2: i\n2.0: f\n")
    assert list(parsed.values()) == ["i", "f", "b", "s", "zero", "f", "nil", "i", "f"]
    assert [type(key) for key in parsed] == [
        *(IntKey, FloatKey, bool, str, IntKey, bool, type(None), int, FloatKey)
    ]
    assert parsed[IntKey(1)] == "i"
    assert parsed[FloatKey(1)] == "f"
    assert parsed[True] == "b"
    assert parsed[2] == "i"


def test_equal_keys_of_one_kind_are_one_key() -> None:
    parsed: Any = parse("a: 1\na: 2\n1: first\n0x1: last\n")
    assert parsed == {"a": 2, IntKey(1): "last"}


def test_zero_and_minus_zero_are_one_key_the_last() -> None:
    parsed: Any = parse("0.0: p\n-0.0: m\n")
    assert [math.copysign(1, key) for key in parsed] == [-1.0]


def test_every_not_a_number_is_a_key_of_its_own() -> None:
    parsed: Any = parse(".nan: 1\n.NaN: 2\n")
    assert list(parsed.values()) == [1, 2]


@pytest.mark.parametrize("opening", ["[", "{a: ", "- ", "? ", "[{a: "])
def test_deep_nesting_is_an_error_of_its_own(opening: str) -> None:
    with pytest.raises(YAMLBoundError, match=f"more than {MAX_DEPTH} levels"):
        parse(opening * 5000)


def test_nesting_up_to_the_bound() -> None:
    value = parse("[" * MAX_DEPTH + "]" * MAX_DEPTH)
    depth = 0
    while isinstance(value, list):
        depth += 1
        value = value[0] if value else None
    assert depth == MAX_DEPTH


def test_aliases_cannot_nest_deeper_than_the_bound() -> None:
    text = "- &a0 " + "[" * 60 + "]" * 60 + "\n- &a1 " + "[" * 60 + "*a0" + "]" * 60 + "\n"
    with pytest.raises(YAMLBoundError, match=f"more than {MAX_DEPTH} levels"):
        parse(text)


def test_excessive_aliases_are_refused() -> None:
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x, x]"]
    lines += [f"a{i}: &a{i} [{', '.join([f'*a{i - 1}'] * 10)}]" for i in range(1, 9)]
    with pytest.raises(YAMLError, match="document contains excessive aliasing"):
        parse("\n".join(lines))


def test_long_simple_keys_end_after_1024_characters() -> None:
    assert parse(f"{'k' * 1024}: v") == {"k" * 1024: "v"}
    with pytest.raises(YAMLError, match="mapping values are not allowed"):
        parse(f"{'k' * 1025}: v")
