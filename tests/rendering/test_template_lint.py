"""Fields that no assignment has are found without an assignment."""

from __future__ import annotations

from dataclasses import replace

import pytest

from kalypso_actions.model.documents import TextPlace
from kalypso_actions.rendering import TemplateData, template_faults, unknown_fields
from kalypso_actions.rendering.data import FIELDS, JINJA_NAMES
from kalypso_actions.rendering.jinja.manifests import variables
from tests.builders import template


@pytest.mark.parametrize(
    ("text", "fields"),
    [
        ("{{ .Workload }} {{ .Labels.team }} {{ .ConfigData.X }}", []),
        ("{{ .Wrkload }}", [".Wrkload"]),
        ("{{ .Values.x }}", [".Values"]),
        ("{{ $.Wrkload }}", [".Wrkload"]),
        ("{{ if .Wrkload }}{{ .Namespaze }}{{ else }}{{ .Pth }}{{ end }}", [".Wrkload", ".Namespaze", ".Pth"]),
        ("{{ range .ConfigData }}{{ .name }}{{ $.Wrkload }}{{ end }}", [".Wrkload"]),
        ("{{ with .Lbels }}{{ .name }}{{ else }}{{ .Pth }}{{ end }}", [".Lbels", ".Pth"]),
        ("{{ range $key, $value := .ConfigData }}{{ $value.x }}{{ end }}", []),
        ("{{ define \"x\" }}{{ .name }}{{ end }}{{ template \"x\" .Lbels }}", [".Lbels"]),
        ("{{ printf \"%s\" (upper .Wrkload) | lower }}", [".Wrkload"]),
        ("{{ (dict \"a\" .Wrkload).a }}", [".Wrkload"]),
        ("{{ .Manifests.brnch }} {{ .Manifests.image }}", [".Manifests.brnch"]),
        ("{{ .Manifests.branches }}", []),
        ("{{ fail .Workload }}", []),
        ("{{ .Wrkload", []),
    ],
)  # fmt: skip
def test_fields(text: str, fields: list[str]) -> None:
    problems = unknown_fields(template("t", text), {"branches"})
    assert [problem.message.rpartition(" ")[2] for problem in problems] == fields


@pytest.mark.parametrize(
    ("text", "annotations", "place", "advice"),
    [
        ("a\nb: {{ .Wrkload }}\n", {}, (9, 13), "did you mean .Workload?"),
        ("a\nb: {{ Wrkload }}\n", {"kalypso.io/engine": "jinja2"}, (9, 13), "did you mean Workload?"),
    ],
    ids=["Go", "Jinja2"],
)  # fmt: skip
def test_places_and_advice(
    text: str, annotations: dict[str, str], place: tuple[int, int], advice: str
) -> None:
    made = template("t", text, annotations=annotations)
    (problem,) = unknown_fields(replace(made, manifest_places=(TextPlace(8, 7),)))
    assert problem.where is not None
    assert (problem.where.line, problem.where.column, problem.advice) == (*place, advice)


@pytest.mark.parametrize(
    ("text", "place", "advice"),
    [
        ("a: {{ .Workload | qoute }}\n", (8, 25), "did you mean quote?"),
        ("a: {{ .Workload\nb: {{ .Path }}\n", (9, 7), "begins on line 8 is still open here"),
        ("a: {{ .Workload\n", (8, 10), "close it with }}"),
    ],
    ids=["function", "open action", "open action at the end"],
)
def test_faults_of_parsing_have_columns(text: str, place: tuple[int, int], advice: str) -> None:
    (fault,) = template_faults(replace(template("t", text), manifest_places=(TextPlace(8, 7),)))
    assert fault.where is not None
    assert (fault.where.line, fault.where.column) == place
    assert advice in fault.advice


def test_objects_of_old_templates() -> None:
    old = template("t", {"metadata": {"name": "{{ .Namspace }}"}, "kind": "Namespace"})
    assert [problem.advice for problem in unknown_fields(old)] == ["did you mean .Namespace?"]


@pytest.mark.parametrize(
    ("text", "fields"),
    [
        ("{{ Workload }} {{ Labels.team }} {{ ConfigData.X | toYaml }}", []),
        ("{{ Wrkload }}", ["Wrkload"]),
        ("{{ Wrkload | default('app') }}", ["Wrkload"]),
        ("{% for item in range(3) %}{{ item }}{{ loop.index }}{% endfor %}", []),
        ("{% set x = 1 %}{{ x }}{% macro m(y) %}{{ y }}{% endmacro %}{{ m(2) }}", []),
        ("{{ Path }}", ["Path"]),
        ("{{ Manifests.brnch }} {{ Manifests.image }}", ["Manifests.brnch"]),
        ("{{ Wrkload", []),
        ("{% include 'x' %}{{ Wrkload }}", []),
    ],
)
def test_names_of_jinja2(text: str, fields: list[str]) -> None:
    other = template("t", text, annotations={"kalypso.io/engine": "jinja2"})
    problems = unknown_fields(other, {"branches"})
    assert [problem.message.rpartition(" ")[2] for problem in problems] == fields


def test_lines_and_advice_of_jinja2() -> None:
    text = "a\nb: {{ Wrkload }}\n"
    other = template("t", text, annotations={"kalypso.io/engine": "jinja2"})
    (problem,) = unknown_fields(other)
    assert (problem.where.line if problem.where else 0, problem.advice) == (
        9,
        "did you mean Workload?",
    )


def test_the_names_of_jinja2_are_those_of_its_data() -> None:
    assert {*JINJA_NAMES} == {*variables(TemplateData("t", "n", "e", "w", "l", {}, {}, "c", {}))}


def test_the_fields_are_those_of_the_data() -> None:
    data = TemplateData("t", "n", "e", "w", "l", {}, {}, "c", {}).go
    assert {*FIELDS} == {*data.fields, *data.methods}
