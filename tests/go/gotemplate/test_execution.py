"""Execution beyond the oracle's cases: values of all Go types, methods, threads, reuse."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest
from hypothesis import given

from kalypso_go import gotemplate
from kalypso_go.gotemplate import Function, TemplateError
from kalypso_go.gotemplate.values import ANY, NO_VALUE, STRING
from tests.go.gotemplate.data import FUNCTIONS, data, failure, render
from tests.go.gotemplate.texts import PARSABLE


@pytest.mark.parametrize(
    ("text", "output"),
    [
        # Fields, entries, methods
        ("{{.Point.X}} {{.Point.Sum}} {{.Pointer.Y}} {{.Pointer.Sum}}", "1 3 4 7"),
        ("{{.Point.Plus 1}} {{.Point.Plus 1 2 3}} {{2 | .Point.Plus 1}}", "4 9 6"),
        ("{{(.Point).Plus (.Point.Sum)}} {{$p := .Point}}{{$p.Plus 4}}", "6 7"),
        ("{{.Point.Plus ($n := 1)}}{{$n}}", "41"),
        ("{{.Config.nope.more}} {{.Config.null}} {{.Parsed.null}}", "<no value> <no value> <no value>"),
        ("{{.Config.nope.more 1}}", "<no value>"),
        # How values print
        ("{{.Point}} {{.Pointer}}", "{1 2 1} <3,4>"),
        ("{{print .Pointer .Point}}", "<3,4> {1 2 1}"),
        ('{{printf "%v %+v" .Point .Point}}', "{1 2 1} {X:1 Y:2 secret:1}"),
        ('{{printf "%d" .Pointer}}', "&{3 4 1}"),
        ('{{printf "%T %T %T" .Long .Byte .Call}}', "int64 uint8 func(int) int"),
        ("{{.Words}} {{.Numbers}} {{.Long}} {{.Byte}} {{.Half}}", "[a b] [3 1 2] -7 200 0.5"),
        # Arguments
        ("{{number .Config.n}} {{number 0x1F}} {{number 2.0}}", "6 32 3"),
        ("{{byte 300}} {{byte .Byte}}", "44 200"),
        ("{{half 3}} {{half .Half}}", "1.5 0.25"),
        ("{{negate false}} {{.Yes | negate}}", "true false"),
        ("{{words .Words}} {{words nil}} {{words .Labels.nope}}", "2 0 0"),
        ("{{keys .Config}} {{keys nil}}", "4 keys 0 keys"),
        ('{{joined ","}}|{{joined "," "a"}}|{{"c" | joined "," "a" "b"}}', "|a|a,b,c"),
        ("{{any nil}} {{any .Labels.nope}} {{any .Config.null}}", "<no value> <no value> <no value>"),
        # call
        ("{{call .Call 1}} {{2 | call .Call}} {{call (any .Call) 3}}", "2 3 4"),
        ("{{call .Call .Byte}}", "201"),
        # Loops
        ("{{range .Words}}[{{.}}]{{end}}{{range .Numbers}}({{.}}){{end}}", "[a][b](3)(1)(2)"),
        ('{{range .Byte}}{{if eq . 3}}{{break}}{{end}}{{printf "%T" .}} {{end}}', "uint8 uint8 uint8 "),
        ("{{range $k, $v := .Parsed}}{{$k}}={{$v}} {{end}}", "k=v null=<no value> "),
        # Variables that and, or may skip
        ("{{$x := 0}}{{range 2}}{{or . ($x := 9)}}{{$x}} {{end}}{{$x}}", "99 10 0"),
        ("{{$x := 0}}{{or 1 ($x := 9)}}{{or 0 ($x := 8)}}{{$x}}{{or 1 ($x := 7)}}{{$x}}", "18818"),
        ("{{$x := 0}}{{if or 1 ($x := 9)}}{{$x}}{{end}}{{with or 0 ($x := 8)}}{{$x}}{{end}}", "08"),
    ],
)  # fmt: skip
def test_output(text: str, output: str) -> None:
    assert render(text) == output


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{{.Point.Z}}", "1:8: executing \"t\" at <.Point.Z>: can't evaluate field Z in type shapes.Point"),
        ("{{.Pointer.Z}}", "1:10: executing \"t\" at <.Pointer.Z>: can't evaluate field Z in type *shapes.Point"),
        ("{{.Point.secret}}", "1:8: executing \"t\" at <.Point.secret>: secret is an unexported field of struct type shapes.Point"),
        ("{{.Point.X 1}}", "1:8: executing \"t\" at <.Point.X>: X has arguments but cannot be invoked as function"),
        ("{{.Point.Sum 1}}", "1:8: executing \"t\" at <.Point.Sum>: wrong number of args for Sum: want 0 got 1"),
        ("{{.Point.Plus}}", "1:8: executing \"t\" at <.Point.Plus>: wrong number of args for Plus: want at least 1 got 0"),
        ("{{.Point.Plus 1 \"a\"}}", "1:16: executing \"t\" at <\"a\">: expected integer; found \"a\""),
        ("{{.Point.Plus .Name}}", "1:14: executing \"t\" at <.Name>: wrong type for value; expected int; got string"),
        ("{{.Point.Fail}}", "1:8: executing \"t\" at <.Point.Fail>: error calling Fail: no such point"),
        ("{{.Point.Twice}}", "1:8: executing \"t\" at <.Point.Twice>: function Twice has 3 return values; should be 1 or 2"),
        ("{{.Config.null.x}}", "1:9: executing \"t\" at <.Config.null.x>: nil pointer evaluating interface {}.x"),
        ("{{.Config.n.x}}", "1:9: executing \"t\" at <.Config.n.x>: can't evaluate field x in type interface {}"),
        ("{{nothing.x}}", "1:2: executing \"t\" at <nothing>: nil pointer evaluating interface {}.x"),
        ("{{range .Config.list}}{{.x}}{{end}}", "1:24: executing \"t\" at <.x>: can't evaluate field x in type interface {}"),
        ("{{range .Words}}{{.x}}{{end}}", "1:18: executing \"t\" at <.x>: can't evaluate field x in type string"),
        ("{{range $x := .Config.list}}{{$x.y}}{{end}}", "1:32: executing \"t\" at <$x.y>: can't evaluate field y in type interface {}"),
        ("{{range $x := .Config.list}}{{$x = 1}}{{$x.y}}{{end}}", "1:42: executing \"t\" at <$x.y>: can't evaluate field y in type int"),
        ("{{$x := 1}}{{range $x = .Config.list}}{{$x.y}}{{end}}", "1:42: executing \"t\" at <$x.y>: can't evaluate field y in type interface {}"),
        ("{{range $k, $v := .Parsed}}{{$k.y}}{{end}}", "1:31: executing \"t\" at <$k.y>: can't evaluate field y in type interface {}"),
        ("{{range $k, $v := .Labels}}{{$k.y}}{{end}}", "1:31: executing \"t\" at <$k.y>: can't evaluate field y in type string"),
        ("{{with .Config.n}}{{.x}}{{end}}", "1:20: executing \"t\" at <.x>: can't evaluate field x in type int"),
        ("{{text .Config.null}}", "1:14: executing \"t\" at <.Config.null>: wrong type for value; expected string; got interface {}"),
        ("{{text .Config.nope}}", "1:14: executing \"t\" at <.Config.nope>: invalid value; expected string"),
        ("{{text (index .Config \"null\")}}", "1:22: executing \"t\" at <\"null\">: invalid value; expected string"),
        ("{{.Config.n | text}}", "1:14: executing \"t\" at <text>: wrong type for value; expected string; got int"),
        ("{{words .Numbers}}", "1:8: executing \"t\" at <.Numbers>: wrong type for value; expected []string; got []int"),
        ("{{words 1}}", "1:8: executing \"t\" at <1>: can't handle 1 for arg of type []string"),
        ("{{byte -1}}", "1:7: executing \"t\" at <-1>: expected unsigned integer; found -1"),
        ("{{half \"1\"}}", "1:7: executing \"t\" at <\"1\">: expected float; found \"1\""),
        ("{{negate 1}}", "1:9: executing \"t\" at <1>: expected bool; found 1"),
        ("{{any 9223372036854775808}}", "1:6: executing \"t\" at <9223372036854775808>: 9223372036854775808 overflows int"),
        ("{{fail \"why\"}}", "1:2: executing \"t\" at <fail \"why\">: error calling fail: why"),
        ("{{\"why\" | fail}}", "1:10: executing \"t\" at <fail>: error calling fail: why"),
        ("{{.Call}}", "1:2: executing \"t\" at <{{.Call}}>: can't print {{.Call}} of type func(int) int"),
        ("{{call .Call}}", "1:2: executing \"t\" at <call .Call>: error calling call: wrong number of args for .Call: got 0 want 1"),
        ("{{call .Call \"a\"}}", "1:2: executing \"t\" at <call .Call \"a\">: error calling call: arg 0: value has type string; should be int"),
        ("{{call .Call nil}}", "1:2: executing \"t\" at <call .Call nil>: error calling call: arg 0: value is nil; should be of type int"),
        ("{{range .Pointer}}{{end}}", "1:8: executing \"t\" at <.Pointer>: range can't iterate over {3 4 1}"),
        ("{{range or 0 .Name}}{{end}}", "1:13: executing \"t\" at <.Name>: range can't iterate over web"),
        ("{{range or .Name 0}}{{end}}", "1:11: executing \"t\" at <.Name>: range can't iterate over web"),
        ("{{index .Numbers 18446744073709551615}}", "1:17: executing \"t\" at <18446744073709551615>: 18446744073709551615 overflows int"),
        ("{{eq .Point .Pointer}}", "1:2: executing \"t\" at <eq .Point .Pointer>: error calling eq: non-comparable types {%!s(int=1) %!s(int=2) %!s(int=1)}: shapes.Point, *shapes.Point: <3,4>"),
    ],
)  # fmt: skip
def test_error(text: str, message: str) -> None:
    assert failure(text) == message


def test_an_error_knows_its_place() -> None:
    with pytest.raises(TemplateError) as caught:
        render("é\n  é{{.Nope}}")
    error = caught.value
    assert error.message == (
        'template: t:2:6: executing "t" at <.Nope>: '
        "can't evaluate field Nope in type scheduler.dataType"
    )
    assert (error.name, error.line, error.column) == ("t", 2, 6)
    assert error.detail.startswith('executing "t" at <.Nope>: ')


def test_a_function_of_the_same_name_replaces_gos_own() -> None:
    both = Function("and", lambda *values: len(values), (ANY,), variadic=True)
    assert gotemplate.parse("{{and 0 1 2}}", functions={"and": both}).execute(None) == "3"


def test_without_functions_there_are_gos_own() -> None:
    assert gotemplate.parse('{{print 1 | printf "%s"}}').execute(None) == "1"


@pytest.mark.parametrize("dot", [None, NO_VALUE])
def test_no_data(dot: object) -> None:
    assert gotemplate.parse("{{.}} {{.a.b}}").execute(dot) == "<no value> <no value>"


def test_bytes_that_make_a_character_together_become_it() -> None:
    assert gotemplate.parse('{{"\\xc3"}}{{"\\xa9"}}').execute(None) == "é"


def test_bytes_that_are_no_text_are_kept() -> None:
    assert gotemplate.parse('{{"\\xff"}}').execute(None) == "\udcff"


def test_a_template_is_executed_many_times() -> None:
    template = gotemplate.parse("{{$x := .}}{{range 2}}{{$x}}{{end}}")
    assert [template.execute(dot) for dot in ("a", "b", "a")] == ["aa", "bb", "aa"]


def test_threads_share_a_template() -> None:
    template = gotemplate.parse(
        '{{define "a"}}{{$y := .}}{{or 0 ($z := $y)}}{{$z}}{{end}}'
        '{{$x := .}}{{range 20}}{{template "a" $x}}{{end}}'
    )
    with ThreadPoolExecutor(4) as pool:
        outputs = pool.map(template.execute, range(100))
        assert list(outputs) == [f"{number}{number}" * 20 for number in range(100)]


def test_functions_receive_the_arguments_of_templates() -> None:
    received: list[object] = []
    keep = Function("keep", lambda *values: received.extend(values), (STRING, ANY), variadic=True)
    template = gotemplate.parse('{{.none | keep "a" 1 nil . .none}}', functions={"keep": keep})
    template.execute({})
    assert received == ["a", 1, None, {}, None, None]


@given(PARSABLE)
def test_any_template_renders_or_fails_with_a_located_error(text: str) -> None:
    template = gotemplate.parse(text, name="t", functions=FUNCTIONS)
    try:
        output = template.execute(data())
    except TemplateError as error:
        output = error.message
        located = error.line > 0 and error.column > 0
    else:
        located = True
    assert located
    assert isinstance(output, str)
