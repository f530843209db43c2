"""Every filter, test and global of Jinja2 is kept or refused; those kept behave as in Jinja2."""

from __future__ import annotations

import jinja2
import pytest
from jinja2.defaults import DEFAULT_NAMESPACE
from jinja2.filters import FILTERS as JINJA_FILTERS
from jinja2.sandbox import ImmutableSandboxedEnvironment
from jinja2.tests import TESTS as JINJA_TESTS

from kalypso_actions.rendering.jinja.filters import FILTERS, REFUSED_FILTERS, REFUSED_TESTS, TESTS
from kalypso_actions.rendering.jinja.members import TEXT_METHODS
from tests.rendering.jinja_rendering import failure, rendered

CONFIG = {  # sorted, as templates see it
    "words": ["pear", "Apple", "fig", "apple"],
    "numbers": [3, 1, 2.5, True],
    "people": [
        {"age": 36, "city": {"code": "LON"}, "name": "Ada"},
        {"age": 7, "city": {"code": "par"}, "name": "Bob"},
        {"city": {"code": "lon"}, "name": "Cy"},
    ],
    "map": {"A": 1, "b": 2, "c": [1, {"d": None}]},
    "text": 'the quick brown\n\n<fox> jumps & "runs" over it\'s-own tail\t!',
    "empty": [],
}

AS_JINJA = [
    "abs: {{ -3|abs }} {{ -2.5|abs }}",
    "batch: {{ numbers|batch(3)|list }} {{ numbers|batch(3, 'x')|list }} {{ []|batch(2)|list }}",
    "capitalize: {{ 'heLLo wORLD'|capitalize }} {{ 5|capitalize }} {{ ''|capitalize }}",
    "center: [{{ 'abc'|center(9) }}] [{{ 'abc'|center(2) }}] {{ 'a'|center|length }}",
    "count: {{ numbers|count }} {{ 'abc'|length }} {{ map|length }}",
    "d: {{ nope|d }} {{ nope|d('x') }} {{ ''|default('x', true) }} {{ ''|default('x') }}",
    "default: {{ 0|default('x', boolean=true) }} {{ none|default('x') }}",
    "dictsort: {{ map|dictsort }} {{ {'b': 1, 'A': 2, 'c': 0}|dictsort(by='value', reverse=true) }}",
    "dictsort: {{ {'b': 1, 'A': 2, 'a': 0}|dictsort(true) }}",
    "e: {{ '<a href=\"x\">&\\'</a>'|e }} {{ 5|escape }} {{ '<'|forceescape }}",
    "filesizeformat: {{ 1|filesizeformat }} {{ 13000|filesizeformat }} {{ 1e30|filesizeformat(true) }}",
    "first: {{ numbers|first }} {{ 'abc'|first }} {{ map|first }}",
    "float: {{ '2.5'|float }} {{ 'x'|float }} {{ 'x'|float(1.5) }} {{ 3|float }} {{ none|float }}",
    "format: {{ '%s-%05.1f-%x-%%'|format('a', 2.25, 255) }} {{ '%(a)s'|format(a=1) }}",
    "groupby: {% for c, l in people|groupby('city.code') %}{{ c }}{{ l|map(attribute='name')|join }};{% endfor %}",
    "groupby: {% for g in people|groupby('age', default=0) %}{{ g.grouper }}{{ g.list|length }};{% endfor %}",
    "groupby: {{ people|groupby('city.code', case_sensitive=true)|length }} {{ people|groupby('name') }}",
    "indent: {{ 'a\n\nb'|indent }}|{{ 'a\n\nb'|indent(2, true, true) }}|{{ 'a\nb'|indent('> ', first=true) }}",
    "int: {{ '12'|int }} {{ '1f'|int(base=16) }} {{ 'x'|int }} {{ 'x'|int(7) }} {{ 4.9|int }} {{ '4.9'|int }}",
    "items: {{ map|items|list }}",
    "join: {{ words|join }} {{ words|join(', ') }} {{ people|join('-', attribute='name') }} {{ [1, none]|join(0) }}",
    "last: {{ numbers|last }} {{ 'abc'|last }}",
    "list: {{ 'abc'|list }} {{ map|list }} {{ range(3)|list }} {{ (1, 2)|list }}",
    "lower: {{ 'ABC'|lower }} {{ true|lower }}",
    "map: {{ words|map('upper')|list }} {{ people|map(attribute='city.code')|list }} {{ none|map('int')|list }}",
    "map: {{ people|map(attribute='age', default=0)|list }} {{ ['a', 'b']|map('center', 3)|list }}",
    "max: {{ numbers|max }} {{ words|max }} {{ words|max(case_sensitive=true) }}",
    "min: {{ numbers|min }} {{ words|min }} {{ people|min(attribute='city.code') }}",
    "reject: {{ [1, 2, 3]|reject('odd')|list }} {{ [0, 1]|reject|list }}",
    "rejectattr: {{ people|rejectattr('age', 'defined')|list }}",
    "replace: {{ 'aaa'|replace('a', 'b', 2) }} {{ 505|replace(5, 'x') }} {{ 'ab'|replace('', '-') }}",
    "reverse: {{ 'abc'|reverse }} {{ numbers|reverse|list }}",
    "round: {{ 42.55|round }} {{ 42.55|round(1, 'floor') }} {{ 42.51|round(1, 'ceil') }} {{ 5|round(-1) }}",
    "safe: {{ '<b>'|safe }} {{ 5|safe }}",
    "select: {{ [0, 1, 2]|select|list }} {{ [1, 2, 3]|select('gt', 1)|list }} {{ empty|select|list }}",
    "selectattr: {{ people|selectattr('age', 'defined')|map(attribute='name')|list }}",
    "selectattr: {{ people|selectattr('city.code', 'in', ['LON'])|list }}",
    "slice: {{ [1, 2, 3, 4]|slice(3)|list }} {{ [1, 2, 3, 4]|slice(3, 'x')|list }}",
    "sort: {{ words|sort }} {{ words|sort(case_sensitive=true) }} {{ numbers|sort(reverse=true) }}",
    "sort: {{ people|sort(attribute='city.code,name')|map(attribute='name')|list }}",
    "string: {{ 5|string }} {{ [1, 'a', none, 2.0]|string }} {{ map|string }}",
    "sum: {{ [1, 2.5]|sum }} {{ [{'a': 1}, {'a': 2}]|sum(attribute='a', start=10) }} {{ []|sum }}",
    'title: {{ "the quick (brown) fox\'s-tail"|title }}',
    "tojson: {{ map|tojson }} {{ '<&>\\''|tojson }} {{ map|tojson(indent=2) }} {{ 'é'|tojson }}",
    "trim: [{{ '  a '|trim }}] [{{ 'xxaxx'|trim('x') }}]",
    "truncate: {{ text|truncate(20) }} {{ text|truncate(20, true, '…', 0) }} {{ 'ab'|truncate(1, end='') }}",
    "unique: {{ words|unique|list }} {{ words|unique(true)|list }} {{ people|unique(attribute='age')|length if 0 }}",
    "upper: {{ 'straße'|upper }}",
    "urlencode: {{ 'a b/é?'|urlencode }} {{ {'a b': 'c&d', 'e': 1}|urlencode }} {{ [('a', '/')]|urlencode }}",
    "wordcount: {{ text|wordcount }} {{ ''|wordcount }}",
    "wordwrap: {{ text|wordwrap(10) }} {{ text|wordwrap(6, false, '|') }} {{ 'a-b-c'|wordwrap(2, break_on_hyphens=false) }}",
]

TESTS_AS_JINJA = [
    "{{ 1 == 1 }} {{ 1 is eq 1 }} {{ 1 is equalto 2 }} {{ 1 is ne 2 }}",
    "{{ 1 is lt 2 }} {{ 1 is lessthan 2 }} {{ 1 is le 1 }} {{ 2 is gt 1 }} {{ 2 is greaterthan 1 }} {{ 1 is ge 2 }}",
    "{{ [1, 2]|select('==', 1)|list }} {{ [1, 2]|select('!=', 1)|list }} {{ [1, 2, 3]|select('>', 1)|list }} {{ [1, 2, 3]|select('<', 2)|list }}",
    "{{ [1, 2, 3]|select('>=', 2)|list }} {{ [1, 2, 3]|select('<=', 2)|list }}",
    "{{ 1 is boolean }} {{ true is boolean }} {{ false is false }} {{ 1 is true }} {{ true is true }}",
    "{{ 1 is integer }} {{ true is integer }} {{ 1.5 is float }} {{ 1 is number }} {{ 'a' is string }}",
    "{{ none is none }} {{ 0 is none }} {{ nope is defined }} {{ nope is undefined }} {{ map is defined }}",
    "{{ 4 is even }} {{ 4 is odd }} {{ 9 is divisibleby 3 }} {{ 9 is divisibleby(2) }}",
    "{{ map is mapping }} {{ [] is mapping }} {{ 'a' is iterable }} {{ 5 is iterable }} {{ map is sequence }}",
    "{{ 'abc' is lower }} {{ 'ABC' is upper }} {{ 5 is upper }} {{ 'a' is in 'abc' }} {{ 4 is not in [1] }}",
]

METHODS_AS_JINJA = [
    "{{ 'aB c'.capitalize() }} {{ 'ß'.casefold() }} {{ 'aB'.lower() }} {{ 'aB'.swapcase() }} {{ 'a b'.title() }}",
    "{{ 'ab'.upper() }} {{ 'a'.center(5, '*') }} {{ 'a'.ljust(3) }}| {{ 'a'.rjust(3, '.') }} {{ '-5'.zfill(4) }}",
    "{{ 'abab'.count('ab') }} {{ 'abab'.find('b') }} {{ 'abab'.rfind('b') }} {{ 'ab'.index('b') }} {{ 'ab'.rindex('b') }}",
    "{{ 'ab'.startswith('a') }} {{ 'ab'.endswith(('x', 'b')) }} {{ 'a\tb'.expandtabs(4) }} {{ '-'.join(['a', 'b']) }}",
    "{{ ' a '.strip() }} {{ 'xa'.lstrip('x') }} {{ 'ax'.rstrip('x') }} {{ 'abc'.removeprefix('a') }} {{ 'abc'.removesuffix('c') }}",
    "{{ 'a.b.c'.split('.') }} {{ 'a.b.c'.rsplit('.', 1) }} {{ 'a\nb'.splitlines() }} {{ 'a=b'.partition('=') }} {{ 'a=b=c'.rpartition('=') }}",
    "{{ 'aaa'.replace('a', 'b', 2) }} {{ 'ab'.replace('', '.') }}",
    "{{ 'a1'.isalnum() }} {{ 'a'.isalpha() }} {{ 'é'.isascii() }} {{ '1'.isdecimal() }} {{ '²'.isdigit() }}",
    "{{ 'a1'.isidentifier() }} {{ 'a'.islower() }} {{ '½'.isnumeric() }} {{ '\\n'.isprintable() }} {{ ' '.isspace() }} {{ 'A'.istitle() }} {{ 'A'.isupper() }}",
    "{{ '{} {1} {a[x]} {b:>5}|{b!r:<4}|{:.2f}'.format(1, 2, a={'x': 3}, b='y') if 0 }}{{ '{0} {1:>3} {a[x]} {b!r}'.format(1, 2, a={'x': 3}, b='y') }}",
    "{{ '{:,} {:.2f} {:>{}} {{}}'.format(1234567, 2.5, 'x', 4) }} {{ '{a}'.format_map({'a': [1]}) }}",
    "{{ '%-5s|%+d|%e|%c|%r|%a|%5.1f' % ('a', 3, 1.5, 'x', 'é', 'é', 2.25) }} {{ '%s' % [1, 2] }} {{ '%%' % () }}",
    "{{ map.get('b') }} {{ map.get('x', 1) }} {{ map.keys()|list }} {{ map.values()|list }} {{ map.items()|list }}",
    "{{ [1, 2, 1].count(1) }} {{ [1, 2, 1].index(2) }} {{ (1, 2).index(2) }}",
]


@pytest.mark.parametrize("template", AS_JINJA + TESTS_AS_JINJA + METHODS_AS_JINJA)
def test_the_same_results_as_jinja(template: str) -> None:
    environment = ImmutableSandboxedEnvironment(undefined=jinja2.StrictUndefined)
    setup = "".join(f"{{% set {name} = ConfigData.{name} %}}" for name in CONFIG)
    expected = environment.from_string(template).render(CONFIG)
    assert rendered(setup + template, CONFIG) == expected


def test_every_filter_and_test_of_jinja_is_kept_or_refused() -> None:
    assert {*FILTERS, *REFUSED_FILTERS} == {*JINJA_FILTERS}
    assert {*TESTS, *REFUSED_TESTS} == {*JINJA_TESTS}


def test_every_global_of_jinja_is_known() -> None:
    for name in DEFAULT_NAMESPACE:
        assert "is not data" in failure(f"{{{{ {name} }}}}").message


def test_every_filter_is_compared_with_jinja() -> None:
    assert [name for name in FILTERS if not any(f"|{name}" in case for case in AS_JINJA)] == []


def test_every_text_method_is_compared_with_jinja() -> None:
    cases = "".join(METHODS_AS_JINJA)
    assert {name for name in TEXT_METHODS if f".{name}(" in cases} == TEXT_METHODS


@pytest.mark.parametrize("name", REFUSED_FILTERS)
def test_refused_filters_say_why(name: str) -> None:
    error = failure(f"\n{{{{ ['a']|{name} }}}}")
    assert error.line == 2
    assert error.message == f"the filter {name!r} does not exist here: {REFUSED_FILTERS[name]}"


@pytest.mark.parametrize("name", REFUSED_TESTS)
def test_refused_tests_say_why(name: str) -> None:
    error = failure(f"\n{{{{ 1 is {name} }}}}")
    assert error.line == 2
    assert error.message == f"the test {name!r} does not exist here: {REFUSED_TESTS[name]}"


def test_lipsum_says_why() -> None:
    message = "lipsum does not exist here: the same sources must always give the same manifests"
    assert failure("{{ lipsum() }}").message == message


@pytest.mark.parametrize(
    ("template", "expected"),
    [
        ("{{ [1, 2, 3]|select('odd') }}", "[1, 3]"),
        ("{{ ['a']|map('upper') }}", "['A']"),
        ("{% if [2]|select('odd') %}some{% else %}none{% endif %}", "none"),
        ("{{ [1, 2, 3]|batch(2)|length }}", "2"),
        ("{% set odd = [1, 2, 3]|select('odd') %}{{ odd|sum }}{{ odd|sum }}", "44"),
        (
            "{{ [2, 1]|reverse }} {{ {'a': 1}|items }} {{ {'a': 1}.keys() }}",
            "[1, 2] [('a', 1)] ['a']",
        ),
    ],
)
def test_lists_instead_of_generators(template: str, expected: str) -> None:
    assert rendered(template) == expected


@pytest.mark.parametrize("name", [name for name in FILTERS if name not in {"d", "default"}])
def test_no_filter_takes_undefined_values(name: str) -> None:
    arguments = {"batch": 2, "groupby": "'a'", "replace": "'a', 'b'", "slice": 2}.get(name, "")
    error = failure(f"{{{{ nope|{name}({arguments}) }}}}")
    assert error.message == "'nope' is undefined"


def test_keys_with_the_names_of_methods() -> None:
    assert (
        rendered("{{ ConfigData.x.pop }}{{ ConfigData.x.copy }}", {"x": {"pop": 1, "copy": 2}})
        == "12"
    )
    assert rendered("{{ ConfigData.x['items'] }}", {"x": {"items": 3}}) == "3"
