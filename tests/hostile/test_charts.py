"""A chart or configs that take time, memory, output, files of the machine, or its environment."""

from __future__ import annotations

import sys

import pytest

from tests.hostile.chart_attacks import rendered_chart, rendered_schema, rendered_values
from tests.hostile.conftest import Attack
from tests.planning.application.applications import find_program

LINUX = pytest.mark.skipif(sys.platform != "linux", reason="only Linux bounds memory from outside")

LOOP = "{{ range until 100000 }}{{ range until 100000 }}{{ end }}{{ end }}"


@pytest.fixture(autouse=True)
def _helm() -> None:
    find_program("helm")


@LINUX
@pytest.mark.parametrize(
    ("template", "words"),
    [
        pytest.param(LOOP, "did not finish within 4 seconds", id="loops"),
        pytest.param(f"{{{{ tpl {LOOP!r} . }}}}".replace("'", "`"), "4 seconds", id="in a text"),
        pytest.param(
            '{{ define "x" }}{{ include "x" . }}{{ end }}{{ include "x" . }}',
            "nested reference",
            id="recursion",
        ),
        pytest.param("{{ range until 2000000000 }}{{ end }}", "1024 MB", id="a long list"),
        pytest.param(
            '{{ $x := "0123456789" }}{{ range until 40 }}{{ $x = print $x $x }}{{ end }}{{ $x }}',
            "1024 MB",
            id="a bomb",
        ),
        pytest.param('{{ repeat 70000000 "x" }}', "more than 67108864 bytes", id="much output"),
    ],
)
def test_a_chart_is_bounded(attack: Attack, template: str, words: str) -> None:
    timeout = "4s" if "4 seconds" in words else "60s"
    assert words in attack(rendered_chart, template, timeout, seconds=15, megabytes=1400).text


@pytest.mark.parametrize(
    "template",
    [
        '{{ .Files.Get "/etc/passwd" }}',
        '{{ .Files.Get "../../../../../../etc/passwd" }}',
        '{{ range $path, $_ := .Files.Glob "/etc/*" }}{{ $path }}{{ end }}',
        '{{ lookup "v1" "Secret" "" "" }}',
        '{{ getHostByName "localhost" }}',
    ],
    ids=["a file", "a file above", "a folder", "the cluster", "the network"],
)
def test_a_chart_sees_nothing_of_the_machine(attack: Attack, template: str) -> None:
    text = attack(rendered_chart, template).text
    assert all(secret not in text for secret in ("root:", "/etc/hosts", "127.0.0.1"))


def test_a_template_has_no_function_for_the_environment(attack: Attack) -> None:
    for name in ("env", "expandenv"):
        text = attack(rendered_chart, f'{{{{ {name} "PATH" }}}}').text
        assert f'function "{name}" not defined' in text


@pytest.mark.parametrize("packed", [False, True], ids=["the chart", "a packed dependency"])
@pytest.mark.parametrize(
    "reference", ["file:///etc/passwd", "http://127.0.0.1:8080/metadata", "../../etc/hostname"]
)
def test_a_schema_refers_to_nothing_else(attack: Attack, reference: str, packed: bool) -> None:
    """helm itself loads such references, also from servers of the machine."""
    text = attack(rendered_schema, reference, packed).text
    assert f"the schema refers to {reference}" in text
    assert text.startswith("[('chart-schema-reference', 'helm/")
    assert "failing loading" not in text


@pytest.mark.parametrize(
    "template",
    [
        "{{ " * 300_000,
        "{{ 1 }}a" * 3_000 + "\n" + "aaaaaaaa: {" * 2_000,
        '{{ print "' * 50_000,
        "{" * 500_000,
        "$A" * 200_000,
    ],
    ids=["open actions", "a line of actions", "open texts", "braces", "dollars"],
)
def test_our_own_checks_take_little_time(attack: Attack, template: str) -> None:
    attack(rendered_chart, template)


def test_aliases_of_values_are_bounded(attack: Attack) -> None:
    rows = [
        f"{chr(98 + i)}: &{chr(98 + i)} [{','.join(['*' + chr(97 + i)] * 10)}]" for i in range(9)
    ]
    bomb = "\n".join(["a: &a [1,1,1,1,1,1,1,1,1,1]", *rows])
    assert "expanded aliases" in attack(rendered_values, bomb).text
