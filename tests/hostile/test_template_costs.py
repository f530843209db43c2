"""No Template takes an assignment more than 5 s of the processor and 128 MB."""

from __future__ import annotations

import pytest

from tests.breaks import breaks, turned
from tests.hostile.attacks import render_go, render_jinja
from tests.hostile.conftest import Attack

BIG = '{{ $b := repeat 2000000 "x" }}'
ACTIONS = "{{1}}" * 50_000


@breaks(
    "the parts of a split text do not count before they exist",
    turned(
        "kalypso_go.gotemplate.sprig.strings.split_text",
        "parts_of_all if count < 0 else min(count, parts_of_all)",
        "0",
    ),
)
@pytest.mark.parametrize(
    "text",
    [
        pytest.param(BIG + '{{ $a := split "" $b }}{{ len $a }}', id="split"),
        pytest.param(BIG + '{{ $a := splitList "" $b }}{{ len $a }}', id="splitList"),
        pytest.param('{{ $a := splitList "" (repeat 1000000 "ж") }}', id="splitList of runes"),
        pytest.param('{{ $b := repeat 2000000 "<" }}{{ js $b | len }}', id="js"),
        pytest.param("{{ toJson (until 2000000) | len }}", id="until"),
        pytest.param('{{ $b := repeat 1000000 "x " }}{{ wrap 1 $b | len }}', id="wrap"),
        pytest.param(
            '{{ $a := splitList "" (repeat 100000 "x") }}'
            '{{ range $i := until 100000 }}{{ $m := dict "a" $a }}{{ $_ := merge $m $m }}{{ end }}',
            id="merge",
        ),
        pytest.param(
            "{{ $a := list }}{{ range until 100 }}"
            '{{ $a = append $a (repeat 2000000 "x") }}{{ end }}',
            id="kept values",
        ),
        pytest.param(
            "".join(f'{{{{ $v{i} := printf "%999999d" 1 }}}}' for i in range(500)), id="kept widths"
        ),
    ],
)
def test_a_large_value_of_a_small_template_ends_at_the_limit(attack: Attack, text: str) -> None:
    assert "limit" in attack(render_go, text, {}, megabytes=64).text


def test_a_text_that_is_a_template_is_parsed_within_the_budget(attack: Attack) -> None:
    cost = attack(render_go, "{{ .Manifests.x }}", {"x": "{{1}}" * 200_000})
    assert "goes beyond the limit" in cost.text


def test_a_text_that_is_a_template_for_each_manifest(attack: Attack) -> None:
    cost = attack(render_go, "{{ .Manifests.x }}", {"x": ACTIONS}, 8)
    assert "parsing the output of a pass goes beyond the limit" in cost.text


def test_a_small_text_that_is_a_template_for_many_manifests(attack: Attack) -> None:
    cost = attack(render_go, "{{ .Manifests.x }}", {"x": "{{1}}" * 5_000}, 100)
    assert "parsing the output of a pass goes beyond the limit" in cost.text


def test_a_delivered_text_counts_in_every_call(attack: Attack) -> None:
    text = "{{ len (upper .Manifests.x) }}" * 2_000
    assert "limit" in attack(render_go, text, {"x": "x" * 1_000_000}).text


def test_a_template_of_the_greatest_length_is_parsed(attack: Attack) -> None:
    assert attack(render_go, ACTIONS, {}, megabytes=160).text == "50000 characters"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        pytest.param("a\n{{ 9e999 }}", "line 2: a number is too large", id="infinite"),
        pytest.param("{{ [-9e999] }}", "line 1: a number is too large", id="infinite in a list"),
        pytest.param(
            "{% set x = 'a ' * 1000000 %}{{ x|title|length }}", "the filter title", id="title"
        ),
        pytest.param("{{ [1] * 60000 }}" * 20, "limit", id="lists"),
        pytest.param(
            "{% for a in range(999999) %}{{ 'a'|title }}{% endfor %}", "limit", id="titles"
        ),
    ],
)
def test_a_jinja2_template_ends_with_a_line(attack: Attack, text: str, message: str) -> None:
    cost = attack(render_jinja, text)
    assert message in cost.text
    assert "line 0" not in cost.text
