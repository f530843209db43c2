"""Kalypso's own template functions, called from templates; the expected results are Go's."""

from __future__ import annotations

from typing import Any

import pytest

from kalypso_actions.rendering.data import TemplateData, to_template_value
from kalypso_actions.rendering.functions import FUNCTIONS, REFUSED
from kalypso_go import gotemplate, goyaml
from kalypso_go.gotemplate import Limits, TemplateError
from kalypso_go.gotemplate.values import ANY_MAP, UINT64, YAML_MAP, GoInt, GoMap, type_of

LOG = "level: info\nsinks:\n- name: x\n  v: 1\n"


def data(**config: object) -> TemplateData:
    return TemplateData(
        target="t",
        namespace="ns",
        environment="dev",
        workspace="ws",
        workload="wl",
        labels={"a": "b"},
        manifests={"repo": "r"},
        cluster_type="ct",
        config=config or {"LOG": goyaml.parse(LOG), "HOSTS": ["a", "b"], "Z": "00501"},
    )


def rendered(text: str, limits: Limits = gotemplate.DEFAULT_LIMITS, **config: object) -> str:
    template = gotemplate.parse(text, functions=FUNCTIONS, refused=REFUSED)
    return template.execute(data(**config).go, limits)


@pytest.mark.parametrize(
    ("text", "output"),
    [
        (
            "{{ toYaml . }}",
            "deploymenttargetname: t\nnamespace: ns\nenvironment: dev\nworkspace: ws\n"
            "workload: wl\nlabels:\n    a: b\nmanifests:\n    repo: r\nclustertype: ct\n"
            "configdata:\n    HOSTS:\n        - a\n        - b\n    LOG:\n        level: info\n"
            '        sinks:\n            - name: x\n              v: 1\n    Z: "00501"',
        ),
        (
            "{{ stringify .ConfigData }}",
            "HOSTS: |\n    - a\n    - b\nLOG:\n    level: info\n    sinks:\n        - name: x\n"
            '          v: 1\nZ: "00501"',
        ),
        ("{{ stringify .Labels }}", "a: b"),
        ("{{ stringify .ConfigData.HOSTS }}", "- a\n- b"),
        ('{{ stringify (dict "a" (until 2)) }}', "a:\n    - 0\n    - 1"),
        ('{{ stringify (dict "d" (dict "x" 1)) }}', "d: |\n    x: 1"),
        (
            '{{ stringify (dict "l" (list 1 "b") "m" (dict "k" (list)) "s" "yes" "e" (list) "n" nil) }}',
            'e: |\n    []\nl: |\n    - 1\n    - b\nm: |\n    k: []\n"n": null\ns: "yes"',
        ),
        ("{{ toYaml .ConfigData.NOPE }}", "null"),
        ("{{ toYaml .Labels }}", "a: b"),
        ('{{ toYaml "x\\n" }}', "|\n    x"),
        ('{{ toYaml "" }}', '""'),
        ('{{ toYaml (index "abc" 1) }}', "98"),
        ('{{ toYaml (semver "1.2.3") }}', "{}"),
        ('{{ toYaml (semver "1.2.3").Major }}', "1"),
        ('{{ toYaml (toDate "2006-01-02" "2020-05-06") }}', "2020-05-06T00:00:00Z"),
        ('{{ toYaml (toDate "2006-01-02" "2020-05-06").Month }}', "5"),
        (
            '{{ toYaml ((toDate "2006" "2021").Sub (toDate "2006" "2020")) }}',
            "8784h0m0s",
        ),
        ("{{ hash . }}", "11948219079285091650"),
        ("{{ hash .ConfigData }}", "8658390088692119898"),
        ('{{ hash (semver "1.2.3") }}', "10502685333455939899"),
        ('{{ hash (toDate "2006-01-02" "2020-05-06") }}', "7507769144720422322"),
        ('{{ hash (index "abc" 1) }}', "12638153115695167421"),
        ("{{ hash 1.5 }} {{ hash nil }}", "12161883048204943186 12161962213042174405"),
        ('{{ unquote "  \'\\"x\\"\' " }}', '"x"'),
        ('{{ unquote "\\u00a0\\"\\"\'x\'\\"" }}', "x"),
        ("{{ unquote 5 }}{{ unquote nil }}{{ unquote .Labels }}", ""),
    ],
)
def test_results(text: str, output: str) -> None:
    assert rendered(text) == output


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("{{ toYaml 1i }}", "1:3: .*error calling toYaml: cannot marshal type: complex128"),
        ("{{ stringify 1i }}", "error calling stringify: cannot marshal type: complex128"),
        ("{{ hash 1i }}", "error calling hash: unknown kind to hash: complex128"),
        ("{{ toYaml }}", "wrong number of args for toYaml: want 1 got 0"),
        ("{{ env }}", "env"),
        ('{{ $m := dict }}{{ $_ := set $m "m" $m }}{{ toYaml $m }}', "more than 100 levels"),
        ('{{ $m := dict }}{{ $_ := set $m "m" $m }}{{ hash $m }}', "values may nest 100 levels"),
    ],
)
def test_errors_have_a_place(text: str, problem: str) -> None:
    with pytest.raises(TemplateError, match=problem):
        rendered(text)


def test_the_size_of_yaml_is_bounded() -> None:
    limits = Limits(output_bytes=1000)
    config = {"K": ["x" * 600] * 2}
    with pytest.raises(TemplateError, match=r"toYaml: .*the YAML would have more than 1000 bytes"):
        rendered("{{ $x := toYaml .ConfigData }}", limits, **config)


def test_the_work_of_hash_is_bounded() -> None:
    with pytest.raises(TemplateError, match="hash goes beyond the limit"):
        rendered("{{ hash .ConfigData }}", Limits(work=100_000), K=["x" * 200_000])


def test_a_small_value_that_contains_itself_many_times() -> None:
    shared: list[object] = ["x"]
    for _ in range(60):
        shared = [shared, shared]
    template = gotemplate.parse("{{ hash .K }}{{ toYaml .K }}", functions=FUNCTIONS)
    with pytest.raises(TemplateError, match="hash goes beyond the limit"):
        template.execute({"K": shared}, Limits(work=1_000_000))
    template = gotemplate.parse("{{ toYaml .K }}", functions=FUNCTIONS)
    with pytest.raises(TemplateError, match="more than 100000 bytes"):
        template.execute({"K": shared}, Limits(output_bytes=100_000))


def test_sprigs_functions_are_available() -> None:
    assert rendered('{{ "x" | upper }}') == "X"
    assert {"toYaml", "stringify", "hash", "unquote", "upper"} <= set(FUNCTIONS)
    assert not set(FUNCTIONS) & set(REFUSED)


def test_configuration_has_the_types_of_yaml_v2() -> None:
    value: Any = to_template_value(goyaml.parse("a: [1, 2.5, {b: ~}]\nb: 18446744073709551615\n"))
    assert type_of(value) == YAML_MAP
    assert type(value["a"]) is list
    assert type_of(value["a"][2]) == YAML_MAP
    assert value == {"a": [1, 2.5, {"b": None}], "b": 2**64 - 1}
    assert type_of(value["b"]) == UINT64


def test_configuration_is_copied() -> None:
    parsed: Any = goyaml.parse("a: [1, {b: 2}]\n")
    copy: Any = to_template_value(parsed)
    copy["a"][1]["b"] = 3
    copy["a"].append(4)
    assert parsed == {"a": [1, {"b": 2}]}


def test_keys_are_plain_values() -> None:
    value: Any = to_template_value(
        goyaml.parse("1: i\n2.0: f\nno: b\n~: n\n18446744073709551615: u\n")
    )
    assert [type(key) for key in value] == [int, float, bool, type(None), GoInt]
    assert value[1] == "i"
    assert rendered("{{ index .ConfigData.K 1 }}", K=goyaml.parse("1: i\n")) == "i"


MIXED = "{1: int, '1': str, 1.0: float, true: bool, 18446744073709551615: uint, a: s, ~: nil}"


@pytest.mark.parametrize(
    ("text", "output"),
    [
        ("{{ index .ConfigData.M 1 }} {{ index .ConfigData.M true }}", "int bool"),
        ("{{ index .ConfigData.M 1.0 }} {{ index .ConfigData.M `1` }}", "float str"),
        ("{{ index .ConfigData.M nil }} {{ index .ConfigData.M false }}", "nil <no value>"),
        ("{{ range $k, $v := .ConfigData.M }}{{ if eq $v `int` }}{{ eq $k 1 }}{{ end }}{{ end }}", "true"),
        ("{{ range $k, $v := .ConfigData.M }}{{ printf `%T ` $k }}{{ end }}", "<nil> string string uint64 int float64 bool "),
        ("{{ toYaml .ConfigData.M }}", 'true: bool\n1: int\n1: float\n18446744073709551615: uint\nnull: nil\n"1": str\na: s'),
    ],
    ids=["whole number and boolean", "float and text", "nil and none", "loop", "types", "yaml"],
)  # fmt: skip
def test_keys_of_several_types(text: str, output: str) -> None:
    assert rendered(text, M=goyaml.parse(MIXED)) == output


def test_scalars_stay_unchanged() -> None:
    assert [to_template_value(value) for value in ("x", None, True, 5, 1.5)] == [
        *("x", None, True, 5, 1.5)
    ]
    assert type(to_template_value({})) is GoMap
    assert type_of({}) == ANY_MAP
