"""The query language: its results, and the refusal of everything else."""

from __future__ import annotations

import contextlib
from collections.abc import Mapping, Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kalypso_sandbox.azure import kql

Row = Mapping[str, Any]

ROWS: Sequence[Row] = [
    {"id": "b", "name": "Web", "size": 2, "note": None, "properties": {"a": {"b": "Dev"}}},
    {"id": "a", "name": "web-2", "size": 10, "note": "x", "properties": {"suspend": True}},
    {"id": "c", "name": "it's \\ here", "size": 1, "note": "", "properties": {"a": {"b": None}}},
]


def run(query: str, rows: Sequence[Row] = ROWS) -> Sequence[Row]:
    return kql.execute(kql.parse(f"t {query}"), rows, rows[0].keys()).rows


def ids(condition: str) -> str:
    return "".join(row["id"] for row in run(f"| where {condition}"))


@pytest.mark.parametrize(
    ("condition", "expected"),
    [
        ("id == 'a'", "a"),
        ('id == "a"', "a"),
        ("id == 'A'", ""),
        ("id =~ 'A'", "a"),
        ("id != 'a'", "bc"),
        ("size == 10", "a"),
        ("size == '10'", ""),
        ("tostring(size) == '10'", "a"),
        ("properties.suspend == true", "a"),
        ("tostring(properties.suspend) == 'true'", "a"),
        ("properties.a.b == 'Dev'", "b"),
        ("properties['a']['b'] == 'Dev'", "b"),
        ("properties.a.b.c == 'Dev'", ""),
        ("properties.a.b != 'Dev'", "ac"),
        ("tostring(properties.a.b) == ''", "ac"),
        ("tolower(properties.a.b) == 'dev'", "b"),
        ("tolower(tostring(name)) == 'web'", "b"),
        ('tostring(properties.a) == \'{"b":"Dev"}\'', "b"),
        ("note == ''", "c"),
        ("name contains 'EB'", "ba"),
        ("name has 'WEB'", "ba"),
        ("name has 'we'", ""),
        ("name has 'eb-2'", ""),
        ("name has '2'", "a"),
        ("name startswith 'WE'", "ba"),
        ("name startswith 'eb'", ""),
        ("name == 'it\\'s \\\\ here'", "c"),
        ('name == "it\'s \\\\ here"', "c"),
        ("id == '\\u0061'", "a"),
        ("id == 'a' or id == 'b' and size == 1", "a"),
        ("(id == 'a' or id == 'b') and size == 2", "b"),
        ("id == 'a' and size == 10 and note == 'x'", "a"),
        ("'a' == id // and a remark", "a"),
    ],
)
def test_conditions(condition: str, expected: str) -> None:
    assert ids(condition) == expected


@pytest.mark.parametrize(
    ("text", "term", "is_found"),
    [
        ("https://github.com/acme/fleet", "acme", True),
        ("https://github.com/acme/fleet", "github.com/acme", True),
        ("https://github.com/acme2/fleet", "acme", False),
        ("acme2 acme", "acme", True),
        ("a_b", "a", True),
        ("", "", True),
    ],
)
def test_has_looks_for_whole_words(text: str, term: str, is_found: bool) -> None:
    rows = [{"id": text}]
    assert run(f"| where id has '{term}'", rows) == (rows if is_found else [])


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("| project id | take 1", [{"id": "b"}]),
        ("| take 1 | project n = name, id", [{"n": "Web", "id": "b"}]),
        ("| take 1 | project x = tolower(name)", [{"x": "web"}]),
        ("| take 1 | project properties.a.b", [{"properties_a_b": "Dev"}]),
        ("| take 1 | project tostring(properties.a.b)", [{"properties_a_b": "Dev"}]),
        ("| take 1 | project x = 'y', z = 3", [{"x": "y", "z": 3}]),
        ("| take 1 | project note", [{"note": None}]),
        ("| limit 0", []),
    ],
)
def test_columns_and_counts(query: str, expected: list[Row]) -> None:
    assert run(query) == expected


@pytest.mark.parametrize(
    ("order", "expected"),
    [
        ("id asc", "abc"),
        ("id desc", "cba"),
        ("id", "cba"),
        ("size asc", "cba"),
        ("size desc", "abc"),
        ("tolower(name) asc", "cba"),
        ("name asc", "bca"),
        ("note asc", "bca"),
        ("note desc", "acb"),
        ("tostring(properties.a.b) asc, id desc", "cab"),
        ("tostring(properties.a.b) desc, id asc", "bac"),
    ],
)
def test_order(order: str, expected: str) -> None:
    assert "".join(row["id"] for row in run(f"| order by {order}")) == expected


def test_operations_follow_one_another() -> None:
    query = "| where size == 2 or size == 1 | order by size asc | project id | take 1"
    assert run(query) == [{"id": "c"}]


def test_tables_do_not_differ_by_case() -> None:
    assert kql.parse("KubernetesConfigurationResources").table == "kubernetesconfigurationresources"


@pytest.mark.parametrize(
    ("query", "limited", "all_dynamic"),
    [
        ("t", False, False),
        ("t | order by id asc", False, False),
        ("t | take 2", True, False),
        ("t | project properties", False, True),
        ("t | project id, properties", False, False),
    ],
)
def test_queries_that_have_pages(query: str, limited: bool, all_dynamic: bool) -> None:
    result = kql.execute(kql.parse(query), ROWS, ROWS[0].keys())
    assert (result.limited, result.all_dynamic) == (limited, all_dynamic)


@pytest.mark.parametrize(
    ("query", "line", "column", "token"),
    [
        ("where where", 1, 6, "where"),
        ("", 1, 0, "<EOF>"),
        ("t |", 1, 3, "<EOF>"),
        ("t | where", 1, 9, "<EOF>"),
        ("t | Where id == 'a'", 1, 4, "Where"),
        ("t | summarize count()", 1, 4, "summarize"),
        ("t\n| where id ~ 'a'", 2, 11, "~"),
        ("t\n| where id = 'a'", 2, 11, "="),
        ("t\n| where id !contains 'a'", 2, 11, "!"),
        ("t | where id in ('a')", 1, 13, "in"),
        ("t | where id", 1, 12, "<EOF>"),
        ("t | where id == 'a", 1, 16, "'"),
        ("t | where id == 'a\n'", 1, 16, "'"),
        ("t | where id == '\\x41'", 1, 16, "'\\x41'"),
        ("t | where (id == 'a'", 1, 20, "<EOF>"),
        ("t | where id == 'a')", 1, 19, ")"),
        ("t | where id == 'a' 'b'", 1, 20, "'b'"),
        ("t | where and == 'a' and", 1, 24, "<EOF>"),
        ("t | project", 1, 11, "<EOF>"),
        ("t | project id,", 1, 15, "<EOF>"),
        ("t | project 'x'", 1, 15, "<EOF>"),
        ("t | order id asc", 1, 10, "id"),
        ("t | order by id up", 1, 16, "up"),
        ("t | take x", 1, 9, "x"),
        ("t | take 1234567890123456789", 1, 27, "9"),
        ("t | where properties. == 'x'", 1, 22, "=="),
        ("t | where properties[0] == 'x'", 1, 21, "0"),
        ("t | where nowhere == 'a'", 1, 10, "nowhere"),
        ("t | project id | where size == 1", 1, 23, "size"),
        ("t | order by Id asc", 1, 13, "Id"),
        ("t | where id == 'a' and (id == 'b' or tostring(gone) == 'x')", 1, 47, "gone"),
    ],
)
def test_anything_else_is_refused_at_its_place(
    query: str, line: int, column: int, token: str
) -> None:
    with pytest.raises(kql.QueryError) as caught:
        kql.execute(kql.parse(query), ROWS, ROWS[0].keys())
    invalid, place = caught.value.details
    assert invalid["code"] == "InvalidQuery"
    assert place == {
        "code": "ParserFailure",
        "message": "ParserFailure",
        "line": line,
        "characterPositionInLine": column,
        "token": token,
    }


def test_unknown_functions_are_named() -> None:
    with pytest.raises(kql.QueryError) as caught:
        kql.parse("t | where toupper(id) == 'A'")
    assert caught.value.details[1] == {
        "code": "UnknownFunction",
        "message": "Unknown function: 'toupper'.",
    }


def quoted(text: str, quote: str = "'") -> str:
    """Quote a text as a client does."""
    return quote + text.replace("\\", "\\\\").replace(quote, f"\\{quote}") + quote


LINES = st.text(st.characters(exclude_characters="\r\n", exclude_categories=["Cs"]))


@given(LINES, st.sampled_from("'\""))
def test_escaped_texts_survive(text: str, quote: str) -> None:
    rows = [{"id": text}]
    condition = f"id == {quoted(text, quote)}"
    assert run(f"| where {condition}", rows) == rows
    assert run(f"| where {condition} and id == id", rows) == rows


@given(LINES, LINES)
def test_a_text_never_ends_where_it_should_not(text: str, other: str) -> None:
    rows = run(f"| where id == {quoted(text)}", [{"id": other}])
    assert bool(rows) == (text == other)


@given(st.text(st.sampled_from("t|where id=='\\\"(),.[]~!\n0 and or by asc tostring")))
def test_nonsense_is_refused_and_nothing_worse(text: str) -> None:
    with contextlib.suppress(kql.QueryError):
        kql.execute(kql.parse(f"t | {text}"), ROWS, ROWS[0].keys())
