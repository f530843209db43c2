"""Jinja2 manifests: their data, their output, and the places of their errors."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from kalypso_actions.model.kinds import ENGINE_ANNOTATION
from kalypso_actions.platform_config import parse_value
from kalypso_actions.rendering import template_faults
from kalypso_actions.rendering.functions import FUNCTIONS
from kalypso_actions.rendering.jinja.manifests import JinjaManifest
from kalypso_actions.rendering.manifests import ManifestError
from kalypso_go.gotemplate import DEFAULT_LIMITS, Budget
from kalypso_go.gotemplate.values import GoMap
from tests import builders
from tests.rendering.jinja_rendering import SMALL, attempt, failure, rendered, template_data

CONFIG = {
    "replicas": "3",
    "hosts": ["a.test", "b.test", 7],
    "limits": {"memory": "1Gi", "cpu": {"max": 2, "min": 0.5}, "burst": True, "none": None},
}


@pytest.mark.parametrize(
    ("template", "expected"),
    [
        ("{{ DeploymentTargetName }} {{ Namespace }}", "hello-world dev-large-hello-world"),
        ("{{ Environment }} {{ Workspace }} {{ Workload }}", "dev team hello"),
        ("{{ ClusterType }}", "large"),
        ("{{ Labels }}", "{'edge': 'true', 'tier': 'front'}"),
        ("{{ Labels.tier }} {{ Labels['edge'] }}", "front true"),
        ("{{ Manifests.repo }} {{ Manifests.get('tag', 'none') }}", "https://git.test/hello none"),
        ("{{ ConfigData.replicas|int + 1 }}", "4"),
        ("{{ ConfigData.limits.cpu.max }}", "2"),
        ("{{ ConfigData.limits.burst }} {{ ConfigData.limits.none }}", "True None"),
        ("{{ ConfigData.hosts[1] }} {{ ConfigData.hosts|length }}", "b.test 3"),
        ("{% for key in ConfigData %}{{ key }} {% endfor %}", "hosts limits replicas "),
        ("{% for key in ConfigData.limits %}{{ key }} {% endfor %}", "burst cpu memory none "),
        ("{% for k, v in Labels.items() %}{{ k }}={{ v }};{% endfor %}", "edge=true;tier=front;"),
    ],
)
def test_the_data_of_an_assignment(template: str, expected: str) -> None:
    assert rendered(template, CONFIG) == expected


def test_mappings_are_sorted_by_their_keys() -> None:
    mixed = {"x": {"b": 1, 10: "ten", "a": 2, 9: "nine", None: 0, True: 1}}
    backwards = {"x": dict(reversed(mixed["x"].items()))}
    assert rendered("{{ ConfigData.x|list }}", mixed) == "[None, True, 9, 10, 'a', 'b']"
    assert rendered("{{ ConfigData.x }}", backwards) == rendered("{{ ConfigData.x }}", mixed)


@pytest.mark.parametrize(
    ("template", "expected"),
    [
        ("a\n", "a\n"),
        ("a: {{ 1 }}\n\n", "a: 1\n\n"),
        ("a\r\nb\r\n", "a\nb\n"),
        ("{% if 1 %}\nx\n{% endif %}\n", "\nx\n\n"),
        ("{%- if 1 -%}\nx\n{%- endif -%}\n", "x"),
        ("{{ '<a>&\"' }}", '<a>&"'),
        ("{{ '{{ 1 }}' }}", "{{ 1 }}"),
        ("{% raw %}{{ .Values.x }}{% endraw %}", "{{ .Values.x }}"),
        ("{# nothing #}x", "x"),
        ("é✓{{ '\U0001f600' }}", "é✓\U0001f600"),
        ("{{ nope|default('x') }} {{ nope is defined }}", "x False"),
        ("{{ ConfigData.nope|d(1) }}{{ 'a' if ConfigData.nope is undefined }}", "1a"),
        ("[{{ 'x' if 1 > 2 }}]", "[]"),
        (
            "{% macro m(a, b='2') %}<{{ a }}{{ b }}>{% endmacro %}{{ m(1) }}{{ m(1, b=3) }}",
            "<12><13>",
        ),
        (
            "{% macro each(items) %}{% for i in items %}{{ caller(i) }}{% endfor %}{% endmacro %}"
            "{% call(i) each([1, 2]) %}<{{ i }}>{% endcall %}",
            "<1><2>",
        ),
        (
            "{% for x in [1, [2, [3]]] recursive %}"
            "{% if x is sequence %}[{{ loop(x) }}]{% else %}{{ x }}{% endif %}{% endfor %}",
            "1[2[3]]",
        ),
        (
            "{% for x in 'ab' %}{{ loop.index }}{{ x }}{{ '' if loop.last else ',' }}{% endfor %}",
            "1a,2b",
        ),
        ("{% for x in [] %}{% else %}none{% endfor %}", "none"),
        ("{% for x in range(6) if x is odd %}{{ x }}{{ loop.length }}{% endfor %}", "133353"),
        ("{% for x in [1, 1, 2] %}{{ loop.changed(x) }} {% endfor %}", "True False True "),
        ("{% for x in [1, 2, 3] %}{{ loop.cycle('a', 'b') }}{% endfor %}", "aba"),
        (
            "{% set ns = namespace(n=1) %}{% for i in [2, 3] %}{% set ns.n = ns.n + i %}{% endfor %}{{ ns.n }}",
            "6",
        ),
        ("{% set block %}a{{ 1 }}{% endset %}{{ block|upper }}", "A1"),
        ("{% filter indent(2) %}a\nb{% endfilter %}", "a\n  b"),
        ("{% with a = 1 %}{{ a }}{% endwith %}", "1"),
        ("{% set c = cycler('a', 'b') %}{{ c.next() }}{{ c.next() }}{{ c.current }}", "aba"),
        ("{% set j = joiner('; ') %}{{ j() }}{{ j() }}", "; "),
        ("{{ dict(a=1, **{'b': 2}) }} {{ dict([('a', 1)]).a }}", "{'a': 1, 'b': 2} 1"),
        ("{{ 'abc'[1:] }}{{ [1, 2, 3][::-1] }}{{ 'abc'[-1] }}", "bc[3, 2, 1]c"),
        ("{{ 7 // 2 }} {{ 7 % 4 }} {{ 2 ** 5 }} {{ 7 / 2 }} {{ -7 }}", "3 3 32 3.5 -7"),
        ("{{ 'a' ~ 1 ~ none }} {{ 'ab' * 2 }} {{ [1] + [2] }}", "a1None abab [1, 2]"),
        ("{{ 1 < 2 <= 2 }} {{ 'a' in 'abc' }} {{ 3 not in [1, 2] }}", "True True True"),
    ],
)
def test_the_language(template: str, expected: str) -> None:
    assert rendered(template) == expected


def test_output_is_not_rendered_again() -> None:
    assert rendered("{{ ConfigData.x }}", {"x": "{{ Namespace }}"}) == "{{ Namespace }}"


def test_a_byte_that_is_not_utf8_is_kept() -> None:
    assert rendered("{{ ConfigData.x }}", {"x": "a\udcff"}) == "a\udcff"


@pytest.mark.parametrize("name", ["toYaml", "stringify", "hash", "unquote"])
@pytest.mark.parametrize(
    "value",
    [CONFIG, {}, {"a": ["x", 1]}, {"q": '"quoted"'}, {"n": {"b": [1, 2], 3: 2**63}}],
    ids=["config", "empty", "list", "quoted", "nested"],
)
def test_own_functions_return_the_same_as_in_go_templates(
    name: str, value: dict[str, object]
) -> None:
    data = template_data(value)
    function = FUNCTIONS[name]
    config = data.go.fields["ConfigData"]
    assert isinstance(config, GoMap)
    for path, argument in [
        ("ConfigData", config),
        *((f"ConfigData.{k}", v) for k, v in config.items()),
    ]:
        arguments = (Budget(DEFAULT_LIMITS), argument) if function.takes_budget else (argument,)
        expected = str(function.call(*arguments))
        assert rendered(f"{{{{ {name}({path}) }}}}", value) == expected
        assert rendered(f"{{{{ {path}|{name} }}}}", value) == expected


@pytest.mark.parametrize(
    ("template", "line", "column", "message"),
    [
        ("{{ nope }}", 1, 4, "'nope' is undefined"),
        ("a\n\nb: {{ nope }} nope", 3, 0, "'nope' is undefined"),
        ("a\r\n{{ nope }}", 2, 4, "'nope' is undefined"),
        (
            "{% for x in [1] %}\n{{ x }}\n{{ x.y.z }}\n{% endfor %}",
            3,
            6,
            "a number has no attribute 'y'",
        ),
        ("\n{{ ConfigData.nope }}", 2, 15, "a mapping has no key 'nope'"),
        ("{{ ConfigData['nope'] }}", 1, 16, "a mapping has no key 'nope'"),
        ("{{ [1][3] }}", 1, 0, "a list has no element 3"),
        ("\n{{ [nope] }}", 2, 5, "'nope' is undefined"),
        ("{% macro m(x) %}\n{{ x + 1 }}\n{% endmacro %}\n{{ m('a') }}", 2, 0, "a text + a number"),
        ("{% if true %}\n{% set x = 1 // 0 %}\n{% endif %}", 2, 0, "by zero"),
        ("\n{{ [1]|join(1, 2, 3) }}", 2, 0, "join() takes from 2 to 4 positional arguments"),
        ("\n{{ 'a'|indent('x', y=1) }}", 2, 0, "unexpected keyword argument 'y'"),
        ("\n{{ 'a'|upper(1) }}", 2, 0, "upper() takes 1 positional argument but 2 were given"),
        ("\n{{ [1]|first(2) }}", 2, 0, "first() takes 2 positional arguments but 3 were given"),
        ("\n{{ 1 is odd(2) }}", 2, 0, "odd() takes 1 positional argument but 2 were given"),
        ("\n{{ 1 is eq }}", 2, 0, "eq() missing 1 required positional argument: 'other'"),
        ("\n{{ 'a'|truncate(1) }}", 2, 0, "expected length >= 3, got 1"),
        ("\n{{ 'abc' % 1 }}", 2, 0, "not all arguments converted"),
        ("\n{{ '%(a)s' % {} }}", 2, 0, "there is no 'a'"),
        ("\n{{ 10.0 ** 400 }}", 2, 0, "a number is too large"),
        ("\n{{ (-8) ** 0.5 }}", 2, 0, "a complex number"),
        ("\n{{ 'a'() }}", 2, 0, "is not safely callable"),
        ("\n{{ Namespace.nope() }}", 2, 14, "a text has no attribute 'nope'"),
        ("\n{{ '\\ud800' }}", 2, 0, "half a character: '\\ud800'"),
        ("\n{{ toYaml(1, 2) }}", 2, 0, "toYaml() takes 1 positional argument but 2 were given"),
        ("\n{{ 2 ** 70 // 1 |hash }}", 2, 0, ""),
        ("\n{{ (2 ** 70)|toYaml }}", 2, 0, "Go has no integer as large as 1180591620717411303424"),
        ("a\n{{ b", 2, 0, "unexpected end of template"),
        ("a\n{% endfor %}", 2, 0, "Encountered unknown tag 'endfor'"),
        ("\n{{ 1 | nofilter }}", 2, 0, "No filter named 'nofilter'"),
        (
            "\n{% if 0 %}{{ 1|uper }}{% endif %}",
            2,
            0,
            "No filter named 'uper'. Did you mean 'upper'?",
        ),
        ("\n{{ 1 is od }}", 2, 0, "No test named 'od'. Did you mean 'odd'?"),
        ("\n{{ [1]|map('nofilter') }}", 2, 0, "No filter named 'nofilter'"),
        ("\n{% macro m(a, a) %}{% endmacro %}", 2, 0, "duplicate "),
        ("\n\n{{ dict(a=1, a=2) }}", 3, 0, "keyword argument repeated: a"),
        ("\n{{ [1][0:1, 2] }}", 2, 0, "only one slice"),
        ("\n{% include 'x' %}", 2, 0, "there are no other templates to include"),
        ("\n{% extends 'x' %}", 2, 0, "there are no other templates to extend"),
        ("\n{% import 'x' as y %}", 2, 0, "there are no other templates to import"),
        ("\n{% from 'x' import y %}", 2, 0, "there are no other templates to import from"),
        ("\n{% block a %}{% endblock %}", 2, 0, "blocks are for templates that extend one another"),
        ("\n{% autoescape true %}{% endautoescape %}", 2, 0, "nothing is escaped automatically"),
        ("{{ 9" + "0" * 5000 + " }}", 0, 0, "Exceeds the limit"),
    ],
)
def test_errors_have_a_place(template: str, line: int, column: int, message: str) -> None:
    error = failure(template)
    assert (error.line, error.column) == (line, column)
    assert message in error.message


@pytest.mark.parametrize(
    "template",
    [
        "{{ ''.__class__ }}",
        "{{ ''['__class__'] }}",
        "{{ ''.join.__self__ }}",
        "{{ ''|attr('__class__') }}",
        "{{ ['']|map(attribute='__class__')|list }}",
        "{{ '{0.__class__}'.format(1) }}",
        "{{ '{x.__class__}'.format_map({'x': 1}) }}",
        "{{ range.__init__ }}",
        "{{ range.run }}",
        "{{ self.__init__ }}",
        "{{ self._TemplateReference__context }}",
        "{{ namespace._Namespace__attrs }}",
        "{% macro m() %}{% endmacro %}{{ m._func }}",
        "{% for x in [1] %}{{ loop._iterable }}{% endfor %}",
        "{% for x in [1] %}{{ loop.__init__ }}{% endfor %}",
        "{{ Labels.update({'x': 'y'}) }}",
        "{{ Labels.pop('tier') }}",
        "{{ ConfigData.hosts.append(1) }}",
        "{{ 'x'.encode() }}",
        "{{ dict.fromkeys }}",
        "{{ dict['a'] }}",
        "{{ cycler.mro }}",
        "{% set Labels.tier = 1 %}",
    ],
)
def test_there_is_no_way_out_of_the_data(template: str) -> None:
    assert failure(template, CONFIG).message


@pytest.mark.parametrize(
    "value",
    ["range", "toYaml", "cycler(1)", "joiner", "namespace(a=1)", "''.join", "self"],
)
def test_only_data_can_be_printed(value: str) -> None:
    """Python would print an address, which differs from run to run."""
    for template in (f"{{{{ {value} }}}}", f"{{{{ [{value}] }}}}", f"{{{{ '%s' % {value} }}}}"):
        assert "is not data" in failure(template).message
    assert "is not data" in failure(f"{{{{ '{{}}'.format({value}) }}}}").message


@pytest.mark.parametrize(
    "template", ["a\n{{ nope }}", "a\n{{ 1|nofilter }}", "\n{{ dict(a=1, a=2) }}"]
)
def test_errors_have_the_text_of_the_template(template: str) -> None:
    assert failure(template).text == template


def test_a_mapping_that_python_cannot_represent() -> None:
    config = {"x": parse_value("{1: a, true: b}")}
    assert "keys that only Go can tell apart" in failure("{{ ConfigData.x }}", config).message


def test_faults_are_reported_without_rendering() -> None:
    jinja = {ENGINE_ANNOTATION: "jinja2"}
    faulty = builders.template(
        "t", "a\nb\n{{ 1|nofilter }}\n", "ok", {"kind": "X"}, annotations=jinja
    )
    faults = list(template_faults(faulty))
    assert [fault.where.line for fault in faults if fault.where] == [10, 10]
    assert "No filter named 'nofilter'" in faults[0].message
    assert "an object is not a Jinja2 template" in faults[1].message


def test_renderings_are_independent() -> None:
    manifest = JinjaManifest(
        "{% set c = cycler('a', 'b') %}{{ c.next() }}"
        "{% set ns = namespace(l=ConfigData.hosts) %}{% set ns.l = ns.l + ['x'] %}{{ ns.l|length }}"
    )
    data = template_data(CONFIG)
    assert [manifest.render(data) for _ in range(3)] == ["a4"] * 3
    assert CONFIG["hosts"] == ["a.test", "b.test", 7]


def test_one_manifest_renders_in_several_threads() -> None:
    manifest = JinjaManifest("{% for i in range(ConfigData.n|int) %}{{ i }},{% endfor %}")
    sizes = [n % 7 * 100 for n in range(40)]
    with ThreadPoolExecutor(8) as pool:
        outputs = list(pool.map(lambda n: manifest.render(template_data({"n": str(n)})), sizes))
    assert outputs == ["".join(f"{i}," for i in range(n)) for n in sizes]


FRAGMENTS = st.sampled_from(
    [
        *("{{ ", " }}", "{%- ", "{% ", " %}", " -%}", "{#", "#}", "{% raw %}", "{% endraw %}"),
        *("{% for x in ", "{% endfor %}", "{% if ", "{% else %}", "{% elif ", "{% endif %}"),
        *("{% macro m(a) %}", "{% endmacro %}", "{% set x = ", "{% set x %}", "{% endset %}"),
        *("{% call m() %}", "{% endcall %}", "{% filter upper %}", "{% endfilter %}", "m(x)"),
        *("x", "Labels", "ConfigData", "nope", "loop", "range(9)", "self", "namespace()"),
        *("1", "0", "-1", "2.5", "'a'", "'%s'", "'{}'", "none", "true", "[1, 2]", "{'a': 1}"),
        *(" + ", " - ", " * ", " / ", " // ", " ** ", " % ", " ~ ", " == ", " < ", " in ", " is "),
        *(" and ", " or ", "not ", " if ", " else ", "(", ")", "[", "]", ":", ",", "|", "."),
        *("|list", "|join", "|map('upper')", "|sort", "|int", "|tojson", "|toYaml", "|default(1)"),
        *("|batch(2)", "|groupby('a')", "|format(1)", "|indent", "|sum", "|round", ".items()"),
        *(".format(x)", ".join(x)", "[1:]", " defined", " odd", " recursive", "\n", " ", "é"),
    ]
)


@given(st.lists(FRAGMENTS, max_size=30).map("".join) | st.text(max_size=80))
@example("{{ " + "(" * 500 + "1" + ")" * 500 + " }}")
@example("{{ " + "-" * 5000 + "1 }}")
@example("{{ 1" + " + 1" * 5000 + " }}")
@example("{% if 1 %}" * 200 + "{% endif %}" * 200)
@example("{% for a in [1] %}" * 30 + "{% endfor %}" * 30)
@example("{% if 0 %}" + "{% elif 0 %}" * 9000 + "{% endif %}")
@example("{{ x" + ".a" * 300 + " }}")
@example("{{ 1" + "|int" * 300 + " }}")
def test_any_text_gives_output_or_an_error_with_a_line(text: str) -> None:
    result = attempt(text, CONFIG, SMALL)
    if isinstance(result, ManifestError):
        assert result.message
        assert 0 <= result.line <= text.count("\n") + text.count("\r") + 1
