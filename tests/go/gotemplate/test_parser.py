"""The nodes of texts, shown as Go's errors show them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kalypso_go.gotemplate.builtins import BUILTINS
from kalypso_go.gotemplate.errors import Source, TemplateError
from kalypso_go.gotemplate.nodes import Action, Body, Chain, Field, If, Number, Pipe, Variable
from kalypso_go.gotemplate.parser import Names, parse_trees
from tests.go.gotemplate.texts import PARSABLE, TEMPLATES

DEPTH = 60


def trees(text: str, depth: int = DEPTH) -> dict[str, Body]:
    return parse_trees(Source("t", text), Names(BUILTINS, {"now": "there is no clock"}), depth)


def main(text: str) -> Body:
    return trees(text)["t"]


def pipe(text: str) -> Pipe:
    (action,) = main(f"{{{{{text}}}}}").nodes
    assert isinstance(action, Action)
    return action.pipe


@pytest.mark.parametrize(
    "text",
    [
        "",
        "text",
        "{{.}}",
        "{{.A}}",
        "{{.A.B}}",
        "{{$}}",
        "{{$.A.B}}",
        "{{$x := 1}}{{$x.A}}",
        "{{$x := 1}}{{$x = 2}}",
        "{{1}}",
        '{{"a\\n"}}',
        "{{`a`}}",
        "{{'x'}}",
        "{{true}}",
        "{{print nil}}",
        "{{print 1 .A $}}",
        "{{print 1 | printf 2}}",
        "{{print (print 1) (.A)}}",
        "{{(print 1).A.B}}",
        "{{print.A}}",
        "{{if .A}}a{{end}}",
        "{{if .A}}a{{else}}b{{end}}",
        "{{if $x := .A}}{{$x}}{{end}}",
        "{{with .A}}a{{else}}b{{end}}",
        "{{range .A}}a{{end}}",
        "{{range .A}}a{{else}}b{{end}}",
        "{{range $x := .A}}{{$x}}{{end}}",
        "{{range $i, $x := .A}}{{$i}}{{$x}}{{end}}",
        "{{$x := 1}}{{range $x = .A}}{{end}}",
        "{{range .A}}{{break}}{{continue}}{{end}}",
        '{{template "a"}}',
        '{{template "a b" .A}}',
    ],
)
def test_trees_read_as_written(text: str) -> None:
    assert str(main(text)) == text


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("{{ .A }}", "{{.A}}"),
        ("{{\n.A\n}}", "{{.A}}"),
        ("a {{- 1 -}} b", "a{{1}}b"),
        ("a{{/* comment */}}b", "ab"),
        ("{{$x:=1}}", "{{$x := 1}}"),
        ("{{ print  1   2 }}", "{{print 1 2}}"),
        ("{{ 1|print|print }}", "{{1 | print | print}}"),
        ("{{ .A | }}", "{{.A}}"),
        ("{{ (.A) }}", "{{(.A)}}"),
        ("{{ ((1)) }}", "{{((1))}}"),
        ("{{ (.A).B }}", "{{(.A).B}}"),
        ("{{if 1}}a{{else if 2}}b{{else}}c{{end}}", "{{if 1}}a{{else}}{{if 2}}b{{else}}c{{end}}{{end}}"),
        ("{{with 1}}a{{else with 2}}b{{end}}", "{{with 1}}a{{else}}{{with 2}}b{{end}}{{end}}"),
        ('{{block "a" .B}}b{{end}}', '{{template "a" .B}}'),
        ('{{define "a"}}b{{end}}c', "c"),
        ("{{template `a\tb`}}", '{{template "a\\tb"}}'),
    ],
)  # fmt: skip
def test_trees_in_their_own_form(text: str, shown: str) -> None:
    assert str(main(text)) == shown


def test_definitions_stand_apart() -> None:
    text = '{{define "a"}}1{{end}}2{{block "b" .}}3{{end}}'
    assert {name: str(body) for name, body in trees(text).items()} == {
        "a": "1",
        "b": "3",
        "t": '2{{template "b" .}}',
    }


@pytest.mark.parametrize("text", ["", " \n", "{{/* c */}}"])
def test_an_empty_definition_replaces_nothing(text: str) -> None:
    both = f'{{{{define "a"}}}}1{{{{end}}}}{{{{define "a"}}}}{text}{{{{end}}}}'
    assert str(trees(both)["a"]) == "1"


def test_fields_of_fields_are_one_node_where_the_last_begin() -> None:
    assert pipe(".A.B.C").commands[0].arguments[0] == Field(4, ("A", "B", "C"))
    assert pipe("$.B.C").commands[0].arguments[0] == Variable(3, ("$", "B", "C"))


def test_fields_of_anything_else_are_a_chain() -> None:
    (chain,) = pipe("print.A.B").commands[0].arguments
    assert isinstance(chain, Chain)
    assert chain.names == ("A", "B")


def test_else_if_is_one_node() -> None:
    (node,) = main("{{if 1}}a{{else if 2}}b{{else if 3}}c{{else}}d{{end}}").nodes
    assert isinstance(node, If)
    assert [str(case.pipe) for case in node.cases] == ["1", "2", "3"]


@pytest.mark.parametrize(
    ("text", "integer", "unsigned", "floating", "value"),
    [
        ("1", 1, 1, 1.0, None),
        ("-1", -1, None, -1.0, None),
        ("-0", 0, 0, 0.0, None),
        ("+5", 5, None, 5.0, None),
        ("0x1F", 31, 31, 31.0, None),
        ("017", 15, 15, 15.0, None),
        ("0b1_01", 5, 5, 5.0, None),
        ("1_000", 1000, 1000, 1000.0, None),
        ("1e3", 1000, 1000, 1000.0, None),
        ("1.5", None, None, 1.5, None),
        ("0x1p-1", None, None, 0.5, None),
        ("9223372036854775808", None, 1 << 63, float(1 << 63), None),
        ("1e19", None, 10**19, 1e19, None),
        ("1e300", None, None, 1e300, None),
        ("2i", None, None, None, 2j),
        ("0i", 0, 0, 0.0, 0j),
        ("1+2i", None, None, None, 1 + 2j),
        ("3+0i", 3, 3, 3.0, 3 + 0j),
        ("'a'", 97, 97, 97.0, None),
        ("'\\u00e9'", 233, 233, 233.0, None),
    ],
)
def test_numbers_are_every_type_that_holds_them(
    text: str,
    integer: int | None,
    unsigned: int | None,
    floating: float | None,
    value: complex | None,
) -> None:
    expected = Number(2, text, integer, unsigned, floating, value)
    assert pipe(text).commands[0].arguments[0] == expected


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("\n{{", "t:2: unclosed action"),
        ("{{\n1 ", "t:2: unclosed action started at t:1"),
        ("{{\n'", "t:2: unterminated character constant in action started at t:1"),
        ("{{}}", "t:1: missing value for command"),
        ("{{if}}", "t:1: missing value for if"),
        ("{{if 1}}", "t:1: unexpected EOF"),
        ("{{end}}", "t:1: unexpected {{end}}"),
        ("{{else}}", "t:1: unexpected {{else}}"),
        ("{{if 1}}{{else}}{{else}}{{end}}", "t:1: expected end; found {{else}}"),
        ("{{if 1}}{{else with 1}}{{end}}", "t:1: unexpected <with> in input"),
        ("{{else 1}}", 't:1: unexpected "1" in else'),
        ("{{end 1}}", 't:1: unexpected "1" in end'),
        ("{{break}}", "t:1: {{break}} outside {{range}}"),
        ("{{range 1}}{{continue 1}}", 't:1: unexpected "1" in {{continue}}'),
        ("{{1 | 2}}", "t:1: non executable command in pipeline stage 2"),
        ("{{print | nil}}", "t:1: non executable command in pipeline stage 2"),
        ("{{| print}}", 't:1: unexpected "|" in command'),
        ("{{print ()}}", "t:1: missing value for parenthesized pipeline"),
        ("{{print = 1}}", 't:1: unexpected "=" in operand'),
        ("{{1.a}}", 't:1: bad number syntax: "1.a"'),
        ('{{"a".b}}', 't:1: unexpected . after term "\\"a\\""'),
        ("{{nope}}", 't:1: function "nope" not defined'),
        ("{{now}}", 't:1: function "now" not defined: there is no clock'),
        ("{{$x}}", 't:1: undefined variable "$x"'),
        ("{{$x, $y := 1}}", "t:1: too many declarations in command"),
        ("{{range $x, 1}}", "t:1: range can only initialize variables"),
        ("{{range $x, $y, $z := 1}}", "t:1: too many declarations in range"),
        ("{{18446744073709551616}}", 't:1: integer overflow: "18446744073709551616"'),
        ("{{1e400}}", 't:1: illegal number syntax: "1e400"'),
        ("{{''}}", "t:1: invalid syntax"),
        ("{{'ab'}}", "t:1: malformed character constant: 'ab'"),
        ('{{"\\q"}}', "t:1: invalid syntax"),
        ("{{template}}", 't:1: unexpected "}}" in template clause'),
        ("{{define}}", 't:1: unexpected "}}" in define clause'),
        ("{{if 1}}{{define `a`}}{{end}}", "t:1: unexpected <define> in command"),
        ("{{define `a`}}1{{end}}{{define `a`}}2{{end}}", 't:1: template: multiple definition of template "a"'),
        ("{{define `a`}}\n{{else}}", "t:2: unexpected {{else}} in define clause"),
        ("{{block `a` .}}\n{{else}}", "t:1: unexpected {{else}} in block clause"),
    ],
)  # fmt: skip
def test_errors(text: str, message: str) -> None:
    with pytest.raises(TemplateError) as caught:
        trees(text)
    assert str(caught.value) == f"template: {message}"


def test_an_error_knows_its_place() -> None:
    with pytest.raises(TemplateError) as caught:
        trees("é\n  é{{ nope }}")
    error = caught.value
    assert (error.name, error.line, error.column) == ("t", 2, 7)
    assert error.detail == 'function "nope" not defined'


def test_expressions_nest_so_deep() -> None:
    assert str(main("{{" + "(" * 3 + "1" + ")" * 3 + "}}"))
    with pytest.raises(TemplateError, match=r"t:1: max expression depth exceeded \(3\)"):
        trees("{{" + "(" * 4 + "1" + ")" * 4 + "}}", depth=3)


def test_controls_nest_so_deep() -> None:
    with pytest.raises(TemplateError, match=r"t:1: max nesting depth exceeded \(3\)"):
        trees("{{if 1}}{{range 1}}{{with 1}}{{if 1}}", depth=3)


def test_one_after_the_other_is_no_nesting() -> None:
    assert str(trees("{{if 1}}{{else if 2}}{{else if 3}}{{end}}" * 4, depth=1)["t"])


def failure(text: str) -> TemplateError | None:
    try:
        trees(text)
    except TemplateError as error:
        return error
    return None


@pytest.mark.parametrize(
    ("text", "block"),
    [
        ("a {{if 1}} b", "{{if 1}} b"),
        ("{{if 1}}{{range 2}}{{end}}", "{{if 1}}{{range"),
        ("{{if 1}}{{- range 2}}", "{{- range 2}}"),
        ("{{with 1}}{{else}}", "{{with 1}}"),
        ("{{if 1}}{{else if 2}}", "{{if 1}}"),
        ('{{define "a"}}{{if 1}}{{end}}', "{{define"),
        ('{{define "a"}}{{end}}{{block "b" .}}x', "{{block"),
        ("{{if 1}}{{end}}{{end}}", ""),
        ("{{if 1", ""),
    ],
)
def test_a_block_without_an_end_is_known(text: str, block: str) -> None:
    error = failure(text)
    assert error
    assert (text[error.opened :] if error.opened >= 0 else "").startswith(block)
    assert (error.opened >= 0) == bool(block)


@given(st.text() | TEMPLATES)
def test_any_text_gives_trees_or_a_located_error(text: str) -> None:
    error = failure(text)
    if error is not None:
        assert 1 <= error.line <= text.count("\n") + 1
        assert error.message == f"template: t:{error.line}: {error.detail}"


@given(PARSABLE | TEMPLATES)
def test_a_tree_as_text_is_the_same_tree(text: str) -> None:
    if failure(text) is None:
        for body in trees(text).values():
            assert str(main(str(body))) == str(body)


@given(PARSABLE)
def test_what_is_made_to_parse_does(text: str) -> None:
    assert failure(text) is None
