"""`kalypso template` for authors of templates."""

from __future__ import annotations

import json
from pathlib import Path
from textwrap import dedent

import pytest

from kalypso_actions.commands.template import template
from kalypso_actions.errors import UsageError
from kalypso_actions.inputs.local import TemplateInputs
from kalypso_actions.report.render_document import TemplateDocument

RECONCILER = """\
apiVersion: scheduler.kalypso.io/v1alpha1
kind: Template
metadata:
  name: reconciler
spec:
  type: reconciler
  manifests:
    - |
      name: {{ .DeploymentTargetName }}
      path: {{ .Manifests.path }}
    - "namespace: {{ .Namespace }}"
"""
CONFIG = """\
apiVersion: scheduler.kalypso.io/v1alpha1
kind: Template
metadata:
  name: config
  annotations:
    kalypso.io/engine: jinja2
spec:
  type: config
  manifests:
    - |
      {% for key in ConfigData %}
      {{ key }}: {{ ConfigData[key]|tojson }}
      {% endfor %}
"""
OLD = """\
apiVersion: scheduler.kalypso.io/v1alpha1
kind: Template
metadata:
  name: old
spec:
  type: reconciler
  manifests:
    - kind: Kustomization
      metadata:
        name: "{{ .DeploymentTargetName }}"
"""


def rendered(
    tmp_path: Path, text: str, values: str | None = None, *, name: str | None = None
) -> TemplateDocument:
    """Render a template with values, both in files."""
    file = tmp_path / "template.yaml"
    file.write_text(text, encoding="utf-8", newline="")
    given = tmp_path / "values.yaml"
    if values is not None:
        given.write_text(dedent(values), encoding="utf-8")
    inputs = TemplateInputs(file=file, values=None if values is None else given, name=name)
    return template(inputs)


def test_manifests_and_the_text_that_they_make(tmp_path: Path) -> None:
    document = rendered(
        tmp_path,
        RECONCILER,
        """
        DeploymentTargetName: hello-eu
        Namespace: dev-small-hello-eu
        Manifests: {path: ./eu}
        """,
    )
    assert document.template == "reconciler"
    assert document.manifests == (
        "name: hello-eu\npath: ./eu\n",
        "namespace: dev-small-hello-eu",
    )
    assert document.output == "---\n".join(document.manifests)
    assert not document.problems


def test_what_a_template_sees_without_values(tmp_path: Path) -> None:
    text = (
        "{{ .DeploymentTargetName }} {{ .Namespace }} {{ .Environment }} {{ .Workspace }} "
        "{{ .Workload }} {{ .ClusterType }} {{ .Labels }} {{ .Manifests }} {{ .ConfigData }}"
    )
    expected = (
        "app-target dev-large-app-target dev team "
        "app large map[workload:app workspace:team] map[] map[]"
    )
    assert rendered(tmp_path, text).output == expected
    assert rendered(tmp_path, text, "").output == expected
    assert rendered(tmp_path, text, "{}").output == expected


def test_names_follow_from_those_that_are_given(tmp_path: Path) -> None:
    text = "{{ .DeploymentTargetName }} {{ .Namespace }} {{ .Labels }}"
    values = "{Environment: qa, ClusterType: small, Workload: web, Workspace: blue}"
    assert rendered(tmp_path, text, values).output == (
        "web-target qa-small-web-target map[workload:web workspace:blue]"
    )
    assert rendered(tmp_path, text, "{Labels: {}, Namespace: ''}").output == "app-target  map[]"


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ('"3"', "string 3"),
        ("'- a\n\n  - 2'", "[]interface {} [a 2]"),
        ("[a, 2]", "[]interface {} [a 2]"),
        ("'{a: true}'", "map[interface {}]interface {} map[a:true]"),
        ("{a: true}", "map[interface {}]interface {} map[a:true]"),
        ("\"'5'\"", "string 5"),
    ],
)
def test_values_are_read_as_those_of_a_config_map(
    tmp_path: Path, value: str, expected: str
) -> None:
    text = '{{ printf "%T" .ConfigData.x }} {{ .ConfigData.x }}'
    assert rendered(tmp_path, text, f"ConfigData:\n  x: {value}\n").output == expected


def test_values_may_be_json(tmp_path: Path) -> None:
    values = json.dumps({"Environment": "qa", "ConfigData": {"x": ["a"], "y": "text"}})
    assert rendered(tmp_path, "{{ .Environment }} {{ .ConfigData }}", values).output == (
        "qa map[x:[a] y:text]"
    )


def test_the_annotation_makes_it_jinja(tmp_path: Path) -> None:
    document = rendered(tmp_path, CONFIG, "ConfigData: {b: 'x', a: [1]}")
    assert document.output == '\na: [1]\n\nb: "x"\n\n'


def test_old_templates_are_objects(tmp_path: Path) -> None:
    document = rendered(tmp_path, OLD)
    assert document.output == "kind: Kustomization\nmetadata:\n  name: app-target\n"


def test_one_of_several(tmp_path: Path) -> None:
    text = f"{RECONCILER}---\n{CONFIG}---\nkind: Other\nmetadata: {{name: x}}\n"
    assert rendered(tmp_path, text, name="config").template == "config"
    with pytest.raises(UsageError, match="several Templates: reconciler, config"):
        rendered(tmp_path, text)
    with pytest.raises(UsageError, match="no Template 'nope', but reconciler, config"):
        rendered(tmp_path, text, name="nope")


def test_a_file_that_is_one_go_template(tmp_path: Path) -> None:
    document = rendered(tmp_path, "a: {{ .Environment }}\n---\nb: [unclosed\n")
    assert document.template == "template.yaml"
    assert document.output == "a: dev\n---\nb: [unclosed\n"
    with pytest.raises(UsageError, match="holds no Template"):
        rendered(tmp_path, "a", name="x")


def test_a_byte_that_is_cut_from_its_character(tmp_path: Path) -> None:
    document = rendered(tmp_path, '{{ trunc 1 "é" }}|')
    assert document.output == "\ufffd|"
    assert document.manifests == ("\ufffd|",)
    assert json.loads(document.to_json())["output"] == "\ufffd|"


@pytest.mark.parametrize(
    ("old", "new", "fault", "line", "excerpt"),
    [
        (
            ".Manifests.path",
            ".Nope.path",
            "fails: no assignment has the field .Nope",
            10,
            """
            10 | path: {{ .Nope.path }}
               |               ^
            """,
        ),
        (
            "{{ .Namespace }}",
            "{{ if .Namespace }}{{ range .Labels }}{{ end }}",
            "is invalid: {{ if .Namespace }} has no {{ end }}",
            11,
            """
            11 | namespace: {{ if .Namespace }}{{ range .Labels }}{{ end }}
               |            ^
            """,
        ),
        (
            "name: {{ .Dep",
            "name: {{ nofunction .Dep",
            'is invalid: function "nofunction" not defined',
            9,
            """
            9 | name: {{ nofunction .DeploymentTargetName }}
              |          ^
            """,
        ),
        (
            "{{ .Namespace }}",
            "{{ .Nope }}",
            "fails: no assignment has the field .Nope",
            11,
            """
            11 | namespace: {{ .Nope }}
               |               ^
            """,
        ),
    ],
)
def test_a_go_template_that_fails(
    tmp_path: Path, old: str, new: str, fault: str, line: int, excerpt: str
) -> None:
    assert old in RECONCILER
    document = rendered(tmp_path, RECONCILER.replace(old, new))
    assert (document.manifests, document.output) == ((), "")
    (problem,) = document.problems
    assert problem.where
    assert (problem.where.path, problem.where.line) == ("template.yaml", line)
    assert problem.message.startswith(f"Template 'reconciler' {fault}")
    assert problem.excerpt == dedent(excerpt).strip("\n")


def test_a_jinja_template_that_fails(tmp_path: Path) -> None:
    document = rendered(tmp_path, CONFIG.replace("ConfigData[key]", "nope"), "ConfigData: {a: b}")
    (problem,) = document.problems
    assert problem.where
    assert problem.where.line == 12
    assert problem.message == "Template 'config' fails: 'nope' is undefined"
    assert problem.excerpt == "12 | {{ key }}: {{ nope|tojson }}\n   |               ^"


def test_every_failing_manifest_is_reported(tmp_path: Path) -> None:
    text = RECONCILER.replace(".DeploymentTargetName", ".A").replace(".Namespace", ".B")
    document = rendered(tmp_path, text)
    assert [problem.where.line for problem in document.problems if problem.where] == [9, 11]


def test_a_value_that_is_itself_a_template(tmp_path: Path) -> None:
    values = 'ConfigData: {x: "one\\n{{ .Workload }} {{ .Nope }}"}'
    document = rendered(tmp_path, "a\n{{ .ConfigData.x }}\n", values)
    (problem,) = document.problems
    assert problem.where
    assert problem.where.line == 1
    assert problem.excerpt == (
        "in a value, or in the output of an earlier pass:\n"
        "3 | {{ .Workload }} {{ .Nope }}\n"
        "  |                    ^"
    )


def test_an_unknown_engine(tmp_path: Path) -> None:
    (problem,) = rendered(tmp_path, CONFIG.replace("jinja2", "jinja3")).problems
    assert "unknown engine 'jinja3'" in problem.message
    assert problem.excerpt == ""


@pytest.mark.parametrize(
    ("text", "message", "line"),
    [
        (RECONCILER.replace("type: reconciler", "type: 5"), "spec.type must be a text", 6),
        (RECONCILER.replace("spec:", "spec: ["), "not valid YAML", 7),
        (RECONCILER.replace("scheduler.kalypso.io/v1alpha1", "v1"), "it is ignored", 0),
    ],
)
def test_a_document_that_is_no_template(tmp_path: Path, text: str, message: str, line: int) -> None:
    document = rendered(tmp_path, text)
    findings = [*document.problems, *document.warnings]
    assert message in findings[0].message
    assert document.output == ""
    if line:
        assert findings[0].where
        assert findings[0].where.line == line


def test_unknown_fields_are_warned_of(tmp_path: Path) -> None:
    document = rendered(tmp_path, RECONCILER.replace("  type:", "  typo: x\n  type:"))
    assert document.output
    assert "unknown field spec.typo" in document.warnings[0].message


@pytest.mark.parametrize(
    ("values", "messages", "line"),
    [
        ("Enviroment: dev", ["Enviroment is unknown to templates"], 1),
        ("Environment: 5", ["Environment must be a text"], 1),
        ("Labels:\n  a: 1\n  b: x\n", ["Labels.a must be a text"], 2),
        ("Labels: [a]", ["Labels must be an object"], 1),
        ("ConfigData:\n  a: '1'\n  b: 2\n", ["ConfigData.b must be a text"], 3),
        ("ConfigData: {a: null}", ["ConfigData.a must be a text"], 1),
        ("ConfigData: text", ["ConfigData must be an object"], 1),
        ("{Environment: 1, Workload: 2}", ["Environment must be", "Workload must be"], 1),
        ("Environment: dev\n---\nEnvironment: qa\n", ["a second one begins"], 3),
        ("Environment: [", ["not valid YAML"], 1),
        ("- a", ["the document is a list"], 1),
    ],
)
def test_values_of_another_shape(
    tmp_path: Path, values: str, messages: list[str], line: int
) -> None:
    with pytest.raises(UsageError) as caught:
        rendered(tmp_path, "x", values)
    assert len(caught.value.problems) == len(messages)
    for problem, message in zip(caught.value.problems, messages, strict=True):
        assert message in problem.message
    where = caught.value.problem.where
    assert where
    assert (where.path, where.line) == ("values.yaml", line)
