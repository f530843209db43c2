"""No Jinja2 template hangs or fills the memory: an error names the limit."""

from __future__ import annotations

import tracemalloc
from dataclasses import replace

import pytest

from kalypso_go.gotemplate import DEFAULT_LIMITS
from tests.rendering.jinja_rendering import SMALL, attempt, failure, rendered

LONG = "{% set x = 'a' * 90000 %}"
DOUBLING = (
    "{% set ns = namespace(v=[0, 'a'], w=(0, 1)) %}"
    "{% for i in range(90) %}{% set ns.v = [ns.v, ns.v] %}{% set ns.w = (ns.w, ns.w) %}{% endfor %}"
)
NESTING = (
    "{% set ns = namespace(v=[0]) %}{% for i in range(200) %}{% set ns.v = [ns.v] %}{% endfor %}"
)


@pytest.mark.parametrize(
    "expression",
    [
        "'x' * 10 ** 9",
        "10 ** 9 * 'x'",
        "[0] * 10 ** 9",
        "(0, 1) * 10 ** 9",
        "('x' * 99999) + ('x' * 99999)",
        "('x' * 99999) ~ ('x' * 99999)",
        "'%1000000000d' % 1",
        "'%1000000000d'|format(1)",
        "'%.1000000000f' % 1.5",
        "'%*d' % (1000000000, 1)",
        "'%-*d' % (-1000000000, 1)",
        "'%.*f' % (1000000000, 1.5)",
        "'%(a)1000000000s' % {'a': 1}",
        "('%s' * 9) % (x, x, x, x, x, x, x, x, x)",
        "'{:>1000000000}'.format(1)",
        "'{:.1000000000f}'.format(1.5)",
        "'{:>{}}'.format(1, 1000000000)",
        "'{0}{0}'.format(x)",
        "'{a}{a}'.format_map({'a': x})",
        "'a'.center(10 ** 9)",
        "'a'.ljust(10 ** 9)",
        "'a'.rjust(10 ** 9, 'x')",
        "'a'.zfill(10 ** 9)",
        "'\t'.expandtabs(10 ** 9)",
        "'a'.join([x, x, x])",
        "x.join('abc')",
        "x.replace('a', 'bc')",
        "x.replace('', x)",
        "'a'|center(10 ** 9)",
        "'a\nb'|indent(10 ** 9)",
        "'a\nb'|indent(x)|indent(x)",
        "[x, x, x]|join",
        "['a', 'b', 'c']|join(x)",
        "x|replace('a', 'bc')",
        "x|escape|replace('a', '<')|escape",
        "x|urlencode",
        "x|wordwrap(1, wrapstring='abc')",
        "x|tojson",
        "[x, x]|string",
        "[x, x] ~ ''",
        "[[[1]]]|tojson(indent=10 ** 9)",
        "2 ** (10 ** 9)",
        "(2 ** 4000) * (2 ** 4000)",
        "(2 ** 4000) ** 2",
        "[2 ** 4095, 2 ** 4095]|sum",
        "'9'|replace('9', '9' * 4000)|int",
        "range(10 ** 9)",
        "range(20000)|list",
        "range(9999)|list + range(9999)|list",
        "x|list",
        "[1]|batch(10 ** 9, 0)",
        "[1]|slice(10 ** 9)",
        "dict(a=range(9999)|list, b=range(9999)|list)",
        "dict(*[range(9999)|list])|length + range(9999)|length",
        "joiner(*range(20000))",
        "toYaml([x, x])",
    ],
)
def test_a_value_that_would_be_too_large(expression: str) -> None:
    tracemalloc.start()
    error = failure(f"{LONG}{{{{ {expression} }}}}", limits=SMALL)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert "limit" in error.message
    assert error.line
    assert peak < 50_000_000


@pytest.mark.parametrize(
    ("template", "message"),
    [
        pytest.param(
            "{% for a in range(999) %}{% for b in range(999) %}{% endfor %}{% endfor %}",
            "10000 iterations",
            id="nested loops",
        ),
        pytest.param(
            "{% for a in range(99) %}{% for b in range(999) if false %}{% endfor %}{% endfor %}",
            "10000 iterations",
            id="conditions of loops",
        ),
        pytest.param(
            "{% for a in range(999) %}{{ range(999)|map('string')|join }}{% endfor %}",
            "limit",
            id="iterations in filters",
        ),
        pytest.param(
            "{% for a in range(9999) %}{{ 'x' * 99 }}{% endfor %}",
            "the output goes beyond the limit",
            id="output of expressions",
        ),
        pytest.param(
            "{% for a in range(9999) %}" + "x" * 99 + "{% endfor %}",
            "the output goes beyond the limit",
            id="output of text",
        ),
        pytest.param(
            "{% set x %}{% for a in range(9999) %}" + "x" * 99 + "{% endfor %}{% endset %}",
            "the text of a block",
            id="block",
        ),
        pytest.param(
            "{% macro m() %}{{ m() }}{% endmacro %}{{ m() }}",
            "more than 100 deep",
            id="macro that calls itself",
        ),
        pytest.param(
            "{% macro n() %}{{ caller() }}{% endmacro %}{% macro m() %}{% call n() %}{{ m() }}{% endcall %}{% endmacro %}{{ m() }}",
            "more than 100 deep",
            id="macro that its caller calls",
        ),
        pytest.param(
            "{% for x in [1] recursive %}{{ loop([1]) }}{% endfor %}",
            "more than 100 deep",
            id="recursive loop",
        ),
        pytest.param(
            "{% macro m(n) %}{% if n %}{{ m(n - 1) }}{{ m(n - 1) }}{% endif %}{% endmacro %}{{ m(60) }}",
            "10000 iterations",
            id="macro that calls itself twice",
        ),
        pytest.param(
            "{% macro m(f) %}{% for i in range(99) %}{{ f() }}{% endfor %}{% endmacro %}"
            "{% macro n() %}{{ m(o) }}{% endmacro %}{% macro o() %}{{ m(n) }}{% endmacro %}{{ n() }}",
            "more than 100 deep",
            id="macros that call one another",
        ),
        pytest.param(
            "{% for i in range(9999) %}"
            + "{% set y = [1, 2, 3, 4, 5, 6, 7, 8, 9] %}" * 20
            + "{% endfor %}",
            "a loop goes beyond the limit",
            id="long body of a loop",
        ),
        pytest.param(
            "{% set ns = namespace(v=[]) %}{% for i in range(9999) %}{% set ns.v = ns.v + [i] %}{% endfor %}",
            "limit",
            id="growing list",
        ),
        pytest.param(NESTING + "{{ ns.v }}", "nested more than 100 levels", id="deep list"),
        pytest.param(
            LONG + "{{ x[:40000]|wordwrap(1) }}",
            "the filter wordwrap goes beyond",
            id="long words wrapped",
        ),
        pytest.param("{{ 5|round(-10 ** 9) }}", "the precision is beyond 308", id="precision"),
        pytest.param("{{ 'x'|round(8, 'floor') }}", "a text cannot be rounded", id="text rounded"),
        pytest.param("{{ [[1]]|sum(start=[]) }}", "a sum starts with a number", id="sum of lists"),
        pytest.param(
            "{{ '%1000000000d' is divisibleby 1 }}", "a text is not a number", id="text divided"
        ),
        pytest.param("{{ '%1000000000d' is odd }}", "a text is not a number", id="odd text"),
    ],
)
def test_a_template_that_would_not_end(template: str, message: str) -> None:
    assert message in failure(template, limits=SMALL).message


@pytest.mark.parametrize(
    ("statement", "message"),
    [
        ("{% set y = x[1:] %}", "a slice goes beyond the limit"),
        ("{% set y = x.upper() %}", "a method of a text goes beyond"),
        ("{% set y = x.split('b') %}", "goes beyond the limit"),
        ("{% set y = x|upper %}", "the filter upper goes beyond"),
        ("{% if x ~ 'a' == x %}{% endif %}", "goes beyond the limit"),
    ],
)
def test_reading_a_long_text_again_and_again(statement: str, message: str) -> None:
    template = f"{LONG}{{% for i in range(999) %}}{statement}{{% endfor %}}"
    assert message in failure(template, limits=SMALL).message


@pytest.mark.parametrize(
    "expression",
    [
        *("ns.v", "ns.v|tojson", "ns.v|toYaml", "ns.v|sort", "ns.v|map('string')"),
        *("'%s' % (ns.v,)", "'%s' % ns.v", "'{}'.format(ns.v)"),
        *("ns.v == ns.v", "1 in ns.v", "ns.v is eq ns.v", "ns.v is in [ns.v]"),
        *("[ns.v, ns.v]|unique", "[ns.v, ns.v]|max", "{'a': ns.v}|dictsort", "ns.v.index(1)"),
        *("{ns.w: 1}", "{}[ns.w]", "{}.get(ns.w)", "dict([(ns.w, 1)])"),
    ],
)
def test_a_small_value_that_contains_itself_many_times(expression: str) -> None:
    assert (
        "with everything in it"
        in failure(f"{DOUBLING}{{{{ {expression} }}}}", limits=SMALL).message
    )


def test_a_loop_that_compares_such_a_value() -> None:
    loop = "{% for x in [1] %}{{ loop.changed(ns.v) }}{% endfor %}"
    assert "with everything in it" in failure(DOUBLING + loop, limits=SMALL).message


@pytest.mark.parametrize(
    ("template", "message"),
    [
        pytest.param(
            "{{ " + "(" * 300 + "1" + ")" * 300 + " }}", "nested too deeply", id="parentheses"
        ),
        pytest.param("{{ 1" + " + 1" * 300 + " }}", "nested more than 60 deep", id="sums"),
        pytest.param("{{ 1" + "|int" * 300 + " }}", "nested more than 60 deep", id="filters"),
        pytest.param(
            "\n" + "{% if 1 %}" * 99 + "{% endif %}" * 99, "nested more than 60 deep", id="ifs"
        ),
        pytest.param(
            "{% for a in [1] %}" * 17 + "{% endfor %}" * 17,
            "loops are nested more than 16 deep",
            id="loops",
        ),
        pytest.param("{{ a }}" * 30_000, "more than 30000 elements", id="elements"),
        pytest.param("x" * (1 << 18) + "x", "more than 262144 bytes", id="bytes"),
    ],
)
def test_a_template_that_is_too_large(template: str, message: str) -> None:
    assert message in failure(template).message


@pytest.mark.parametrize(
    "template",
    [
        "{% for a in range(9000) %}{% endfor %}",
        "{% for a in [1] %}" * 16 + "{% endfor %}" * 16,
        "{{ 1" + " + 1" * 55 + " }}",
        "{% macro m(n) %}{% if n %}{{ m(n - 1) }}{% endif %}{% endmacro %}{{ m(98) }}",
        "{{ 'x' * 99000 }}",
        "{{ 2 ** 4095 > 0 }}",
        "{{ '%5000d' % 1 }}",
        "{% for a in range(2000) %}{{ ConfigData.replicas }}{{ 'a' == Namespace }}{% endfor %}",
    ],
)
def test_templates_within_the_limits(template: str) -> None:
    assert isinstance(attempt(template, limits=SMALL), str)


def test_limits_are_per_rendering() -> None:
    template = "{% for a in range(900) %}x{% endfor %}"
    limits = replace(DEFAULT_LIMITS, output_bytes=1000, iterations=1000)
    assert [len(rendered(template, limits=limits)) for _ in range(3)] == [900, 900, 900]


def test_the_output_is_counted_in_bytes() -> None:
    limits = replace(DEFAULT_LIMITS, output_bytes=10)
    assert rendered("é" * 5, limits=limits) == "é" * 5
    assert (
        failure("a\n" + "é" * 5, limits=limits).message
        == "the output goes beyond the limit of 10 bytes"
    )


def test_the_line_of_an_output_that_is_too_long() -> None:
    template = "a\n{% for i in range(99) %}\n{{ i }}\n{% endfor %}\n"
    assert failure(template, limits=replace(DEFAULT_LIMITS, output_bytes=20)).line in {2, 3}
