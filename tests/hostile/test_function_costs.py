"""Every function, filter, test and method ends at the budget of an assignment within its bounds.

A template calls each one until the budget is spent, with large and with small values. The tables of
names are those of the engines: no new function can be forgotten.
"""

from __future__ import annotations

import itertools
import os
from collections.abc import Iterable, Mapping
from typing import Final

import pytest

from kalypso_actions.rendering.functions import FUNCTIONS
from kalypso_actions.rendering.jinja.filters import FILTERS, TESTS
from kalypso_actions.rendering.jinja.manifests import OWN_FUNCTIONS
from kalypso_actions.rendering.jinja.members import TEXT_METHODS
from kalypso_actions.rendering.jinja.sandbox import Sandbox
from kalypso_go.gotemplate import DEFAULT_LIMITS, Function
from kalypso_go.gotemplate.builtins import BUILTINS
from tests.hostile.attacks import execute_each, render_each, render_go
from tests.hostile.conftest import Attack

GO_SHAPES: Final = {
    "mixed text": '{{$t := repeat 20000 "xY <é"}}{{$l := until 2000}}{{$m := dict "a" $t}}',
    "long list": '{{$t := repeat 100000 "x"}}{{$l := splitList "" (repeat 20000 "x")}}{{$m := dict "a" $l}}',
    "one large text": '{{$t := repeat 1900000 "a"}}{{$l := list $t}}{{$m := dict "a" 1}}',
    "digits": '{{$t := repeat 5000 "1,"}}{{$l := list 1.5 2 3}}{{$m := dict "a" 1}}',
    "words": '{{$t := repeat 20000 "a "}}{{$l := splitList "" (repeat 10000 "é")}}'
    '{{$m := dict "a" $l "b" $l}}',
    "small": '{{$t := "a-B"}}{{$l := list 1 "a"}}{{$m := dict "a" 1}}',
    "date": '{{$t := "2006-01-02T15:04:05Z07:00"}}{{$l := list "1.2.3" "~1" "x"}}'
    '{{$m := dict "scheme" "a" "host" "b"}}',
    "deep": "{{$l := list 1}}{{range until 10}}{{$l = list $l $l}}{{end}}"
    '{{$m := dict "a" 1}}{{range until 10}}{{$m = dict "a" $m "b" $m}}{{end}}{{$t := toJson $m}}',
}
JINJA_SHAPES: Final = {
    "text": "{% set t = 'xY <é' * 20000 %}{% set l = range(2000)|list %}{% set m = {'a': t} %}",
    "words": "{% set t = 'a ' * 20000 %}{% set l = ['b', 'a'] * 2000 %}{% set m = {'a': l} %}",
    "small": "{% set t = 'a-B' %}{% set l = [1, 2] %}{% set m = {'a': 1} %}",
}
GO_FUNCTIONS: Final = {**BUILTINS, **FUNCTIONS}

SHARE = int(os.environ.get("KALYPSO_HOSTILE_SHARE", "4"))
"""`make hostile` spends a fourth of the budget on each call; the nightly run spends all of it."""

QUICK, SPENT = DEFAULT_LIMITS.work // 64, DEFAULT_LIMITS.work // SHARE
"""The budgets: `make test` spends less on fewer shapes."""

ONE_CALL = 0.6
"""Seconds that a single call may take beyond its share of the budget's five."""


def arguments(function: Function) -> list[str]:
    """Return lists of arguments of the types that a function accepts."""
    parameters = [*function.parameters, *function.parameters[-1:] * function.variadic]
    choices = {
        "string": ["$t"],
        "int": ["1", "7"],
        "float64": ["1.5"],
        "map": ["$m"],
        "slice": ["$l"],
        "bool": ["true"],
    }
    each = [choices.get(parameter.kind, ["$t", "$l", "$m"]) for parameter in parameters]
    count = max(map(len, each), default=1)
    return [" ".join(values[i % len(values)] for values in each) for i in range(count)]


def go_templates(names: Iterable[str], shapes: Mapping[str, str]) -> dict[str, str]:
    return {
        f"{name} {given} ({shape})": f"{before}{{{{range 1000000}}}}{{{{$z := {name} {given}}}}}{{{{end}}}}"
        for name in names
        for given in arguments(GO_FUNCTIONS[name])
        for shape, before in shapes.items()
    }


GIVEN: Final = ("", "(t)", "('a', 'b')", "(7)", "(l)", "(m)")


def calls(values: str = "tlm", more: Iterable[str] = GIVEN) -> Iterable[str]:
    """Yield an expression for each filter, test, method and global of Jinja2, for each value."""
    for name, value, given in itertools.product({*FILTERS, *OWN_FUNCTIONS}, values, more):
        yield f"{value}|{name}{given}"
    for name, value, given in itertools.product(TESTS, values, more):
        yield f"{value} is {name}{given}"
    for name, given in itertools.product(TEXT_METHODS, more):
        yield f"t.{name}{given or '()'}"
    for name, given in itertools.product(Sandbox(OWN_FUNCTIONS).globals, more):
        yield f"{name}{given or '()'}"


def jinja_templates(expressions: Iterable[str], shapes: Mapping[str, str]) -> dict[str, str]:
    return {
        f"{call} ({shape})": f"{before}{{% for i in range(900000) %}}{{% set z = {call} %}}{{% endfor %}}"
        for call in expressions
        for shape, before in shapes.items()
    }


def some(shapes: Mapping[str, str], *names: str) -> dict[str, str]:
    return {name: shapes[name] for name in names}


def test_each_function_of_go_templates_spends_its_time(attack: Attack) -> None:
    texts = go_templates(sorted(GO_FUNCTIONS), some(GO_SHAPES, "digits"))
    cost = attack(execute_each, texts, QUICK, seconds=60)
    assert float(cost.text.split()[0]) < ONE_CALL, cost.text


def test_each_name_of_jinja2_spends_its_time(attack: Attack) -> None:
    cost = attack(
        render_each,
        jinja_templates(calls("t", ("",)), some(JINJA_SHAPES, "text")),
        QUICK,
        seconds=60,
    )
    assert float(cost.text.split()[0]) < ONE_CALL, cost.text


@pytest.mark.parametrize("name", ["quote", "swapcase", "title", "toYaml"])
@pytest.mark.parametrize("part", ["a", '"', "a "])
def test_a_large_text_takes_little_memory(attack: Attack, name: str, part: str) -> None:
    length = DEFAULT_LIMITS.output_bytes // len(part)
    attack(render_go, f"{{{{ {name} (repeat {length} `{part}`) }}}}", {})


@pytest.mark.parametrize("name", sorted(GO_FUNCTIONS))
def test_a_function_of_go_templates(attack: Attack, name: str) -> None:
    texts = go_templates([name], GO_SHAPES)
    cost = attack(execute_each, texts, SPENT, seconds=5 * len(texts))
    assert float(cost.text.split()[0]) < 5 / SHARE, cost.text


@pytest.mark.parametrize("shape", JINJA_SHAPES)
def test_the_names_of_jinja2(attack: Attack, shape: str) -> None:
    budget = DEFAULT_LIMITS.work // 32
    texts = jinja_templates(calls(), some(JINJA_SHAPES, shape))
    cost = attack(render_each, texts, budget, seconds=110)
    assert float(cost.text.split()[0]) < 5 / 32 + ONE_CALL, cost.text
