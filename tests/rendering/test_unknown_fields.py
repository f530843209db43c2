"""Fields that no assignment has are found without an assignment."""

from __future__ import annotations

import pytest

from kalypso_actions.rendering import TemplateData, unknown_fields
from kalypso_actions.rendering.data import FIELDS
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


def test_lines_and_advice() -> None:
    (problem,) = unknown_fields(template("t", "a\nb: {{ .Wrkload }}\n"))
    assert (problem.where.line if problem.where else 0, problem.advice) == (
        9,
        "did you mean .Workload?",
    )


def test_objects_of_old_templates() -> None:
    old = template("t", {"metadata": {"name": "{{ .Namspace }}"}, "kind": "Namespace"})
    assert [problem.advice for problem in unknown_fields(old)] == ["did you mean .Namespace?"]


def test_jinja2_has_its_own_names() -> None:
    other = template("t", "{{ Wrkload }}", annotations={"kalypso.io/engine": "jinja2"})
    assert list(unknown_fields(other)) == []


def test_the_fields_are_those_of_the_data() -> None:
    data = TemplateData("t", "n", "e", "w", "l", {}, {}, "c", {}).go
    assert {*FIELDS} == {*data.fields, *data.methods}
