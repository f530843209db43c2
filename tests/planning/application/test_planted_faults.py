"""Faults in charts and configs, each reported with its file and line."""

from __future__ import annotations

import os
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Final

import pytest

from tests.planning.application import applications
from tests.planning.application.applications import CHART, POSIX, PROGRAMS, Application

DEPLOYMENT = "helm/templates/deployment.yaml"
VALUES = "helm/values.yaml"

CONFIG_MAP = """\
apiVersion: v1
kind: ConfigMap
metadata:
  name: {name}
data:
  text: {text}
"""

LEAF = {"app/values.yaml": "replicas: 2\n"}


def chart(path: str, content: str) -> dict[str, str]:
    return {**CHART, path: content}


def template(text: str) -> dict[str, str]:
    return chart("helm/templates/more.yaml", text)


def in_chart(path: str, old: str, new: str) -> dict[str, str]:
    assert old in CHART[path]
    return chart(path, CHART[path].replace(old, new))


@pytest.mark.parametrize(
    ("source", "configs", "place", "words"),
    [
        pytest.param(
            CHART,
            {"app/values.yaml": "replicas: 2\nversion: !!int $VERSION\n"},
            ("variable-not-text", "app/values.yaml", 2),
            "'0.0.1-7' is no text with the tag !!int",
            id="a variable that is no text in configs",
        ),
        pytest.param(
            in_chart(VALUES, "$VERSION", '"\\$VERSION"'),
            LEAF,
            ("yaml-invalid", VALUES, 6),
            "unknown escape character",
            id="an escaped variable in the chart",
        ),
        pytest.param(
            CHART,
            {"app/values.yaml": "app:\n\tname: x\n"},
            ("yaml-invalid", "app/values.yaml", 2),
            "tab",
            id="a tab in configs",
        ),
        pytest.param(
            CHART,
            {"app/values.yaml": "- replicas\n"},
            ("document-not-kubernetes", "app/values.yaml", 1),
            "not a map of keys",
            id="a list instead of values",
        ),
        pytest.param(
            CHART,
            {"app/values.yaml": "replicas: 1\n---\nreplicas: 2\n"},
            ("values-documents", "app/values.yaml", 3),
            "first document",
            id="two documents of values",
        ),
        pytest.param(
            in_chart(DEPLOYMENT, "{{ .Values.replicas }}", "{{ .Values.replicas }"),
            LEAF,
            ("chart-failed", DEPLOYMENT, 8),
            "unexpected",
            id="an action that is not closed",
        ),
        pytest.param(
            in_chart(DEPLOYMENT, ".Values.app.port", ".Values.ap.port"),
            LEAF,
            ("chart-failed", DEPLOYMENT, 21),
            "nil pointer",
            id="a value of a map that does not exist",
        ),
        pytest.param(
            in_chart(DEPLOYMENT, "{{ .Values.replicas }}", '{{ required "tell it" .Values.no }}'),
            LEAF,
            ("chart-failed", DEPLOYMENT, 8),
            "tell it",
            id="a required value",
        ),
        pytest.param(
            chart(
                "helm/templates/_helpers.tpl",
                '{{- define "greeter.name" -}}\n{{ .Values.a.b.c }}\n{{- end -}}\n',
            )
            | {
                DEPLOYMENT: CHART[DEPLOYMENT].replace(
                    "name: {{ .Values.app.name }}", 'name: {{ include "greeter.name" . }}', 1
                )
            },
            LEAF,
            ("chart-failed", "helm/templates/_helpers.tpl", 2),
            "nil pointer",
            id="in an included template",
        ),
        pytest.param(
            template(CONFIG_MAP.format(name="a", text="{{ .Values.title }}")),
            {"app/values.yaml": 'title: "one: two"\n'},
            ("chart-output-invalid", "helm/templates/more.yaml", 6),
            "not YAML",
            id="a value that breaks YAML",
        ),
        pytest.param(
            chart("helm/values.schema.json", '{"properties": {"replicas": {"type": "integer"}}}'),
            {"app/values.yaml": "\n\nreplicas: many\n"},
            ("values-refused", "app/values.yaml", 3),
            "replicas",
            id="a value that the chart's schema refuses",
        ),
        pytest.param(
            chart("helm/values.schema.json", '{"properties":\n {"replicas": }}'),
            LEAF,
            ("chart-schema-invalid", "helm/values.schema.json", 2),
            "not JSON: Expecting value",
            id="a schema that is not JSON",
        ),
        pytest.param(
            chart(
                "helm/values.schema.json",
                '{"type": "object", "properties": {\n"replicas": {\n"required": true}}}',
            ),
            LEAF,
            ("chart-schema-invalid", "helm/values.schema.json", 3),
            "properties.replicas.required: got boolean, want array",
            id="a schema that is none",
        ),
        pytest.param(
            in_chart("helm/Chart.yaml", "name: greeter\n", ""),
            LEAF,
            ("chart-failed", "helm/Chart.yaml", 1),
            "chart.metadata.name is required",
            id="a chart without a name",
        ),
        pytest.param(
            chart("helm/Chart.yaml", CHART["helm/Chart.yaml"] + "kubeVersion: '>=1.99'\n"),
            LEAF,
            ("chart-failed", "helm/Chart.yaml", 4),
            "requires kubeVersion",
            id="another version of Kubernetes",
        ),
        pytest.param(
            {
                **CHART,
                "helm/charts/redis/Chart.yaml": "apiVersion: v2\nname: redis\nversion: 1.0.0\n",
                "helm/charts/redis/values.yaml": "a: 1\nb: [\n",
            },
            LEAF,
            ("yaml-invalid", "helm/charts/redis/values.yaml", 2),
            "not valid YAML",
            id="values of a subchart",
        ),
        pytest.param(
            template("- a\n- b\n"),
            LEAF,
            ("chart-output-invalid", "helm/templates/more.yaml", 1),
            "not YAML",
            id="a list instead of an object",
        ),
        pytest.param(
            chart(
                "helm/Chart.yaml",
                CHART["helm/Chart.yaml"] + "dependencies:\n- name: redis\n"
                "  version: 1.0.0\n  repository: https://charts.example\n",
            ),
            LEAF,
            ("chart-dependency", "helm/Chart.yaml", 5),
            "redis",
            id="a dependency that is not there",
        ),
        pytest.param(
            template(CHART[DEPLOYMENT]),
            LEAF,
            ("manifest-duplicate", "helm/templates/more.yaml", 4),
            "helm/templates/deployment.yaml:4",
            id="an object of two templates",
        ),
        pytest.param(
            template(CONFIG_MAP.format(name="a\n  namespace: kube-system", text="x")),
            LEAF,
            ("manifest-namespace", "helm/templates/more.yaml", 5),
            "'kube-system', not in 'web'",
            id="a foreign namespace",
        ),
        pytest.param(
            template(CONFIG_MAP.format(name="a", text="x\n  text: z")),
            LEAF,
            ("manifest-invalid", "helm/templates/more.yaml", 7),
            "'text' is duplicate, which kustomize refuses",
            id="a key twice",
        ),
        pytest.param(
            template("apiVersion: batch/v1\nkind: Job\nmetadata:\n  generateName: a-\n"),
            LEAF,
            ("manifest-incomplete", "helm/templates/more.yaml", 1),
            "metadata.name",
            id="a generated name",
        ),
        pytest.param(
            template(CONFIG_MAP.format(name="a", text="{{ .Values.version }}")),
            {"app/values.yaml": 'version: "1.10"\n'},
            ("manifest-not-text", "helm/templates/more.yaml", 6),
            "data.text is 1.10, not a text",
            id="a text that the template prints without quotes",
        ),
        pytest.param(
            template("apiVersion: v1\nkind: Service\nmetadata:\n  labels: {}\n"),
            LEAF,
            ("manifest-incomplete", "helm/templates/more.yaml", 1),
            "metadata.name",
            id="an object without a name",
        ),
    ],
)
def test_each_is_reported_with_file_and_line(
    application: Application,
    source: Mapping[str, str],
    configs: Mapping[str, str],
    place: tuple[str, str, int],
    words: str,
) -> None:
    done = application.render("--namespace=web", source=source, configs=configs)
    assert done.status == 1
    assert done.places() == [place], done.messages()
    assert words in done.messages()
    assert not done.files


@pytest.mark.parametrize(
    ("source", "place"),
    [
        pytest.param(
            template(
                CONFIG_MAP.format(
                    name="a", text='{{ (lookup "v1" "Secret" "x" "y").data | quote }}'
                )
            ),
            ("chart-lookup", "helm/templates/more.yaml", 6),
            id="lookup",
        ),
        pytest.param(
            template(CONFIG_MAP.format(name="a", text='{{ .Files.Get "/etc/passwd" | quote }}')),
            ("chart-file-missing", "helm/templates/more.yaml", 6),
            id="a file of the machine",
        ),
        pytest.param(
            template(CONFIG_MAP.format(name="a", text="{{ randAlphaNum 8 }}")),
            ("chart-not-repeatable", "helm/templates/more.yaml", 6),
            id="chance",
        ),
        pytest.param(
            template(CONFIG_MAP.format(name="a", text='{{ getHostByName "example.com" | quote }}')),
            ("chart-lookup", "helm/templates/more.yaml", 6),
            id="a name of the network",
        ),
        pytest.param(
            template(
                "apiVersion: v1\nkind: Secret\nmetadata: {name: s}\nstringData:\n  password: x\n"
            ),
            ("secret-in-plain-text", "helm/templates/more.yaml", 5),
            id="a secret",
        ),
    ],
)
def test_each_is_a_warning_with_file_and_line(
    application: Application, source: Mapping[str, str], place: tuple[str, str, int]
) -> None:
    done = application.render(source=source, configs=LEAF)
    assert done.status == 0, done.messages()
    assert place in done.places("warnings")
    assert "root:" not in done.files["app/gen_manifests.yaml"]


POD: Final = """\
apiVersion: v1
kind: Pod
metadata:
  name: shop
  labels: {{{{- toYaml .Values.labels | nindent 4 }}}}
spec:
  containers:
  - name: shop
    env:
{env}
"""
ONE_BY_ONE: Final = POD.format(
    env="""\
    - name: DB_HOST
      value: {{ .Values.db.host | quote }}
    - name: DB_PORT
      value: {{ .Values.db.port }}
    - name: DB_PASSWORD
      value: {{ .Values.db.password | quote }}
    - name: API_TOKEN
      value: "in the template"\
"""
)
SCOPED: Final = POD.format(
    env="""\
    {{- with .Values.db }}
    - name: DB_PASSWORD
      value: {{ .password | quote }}
    {{- end }}\
"""
)
IN_A_LOOP: Final = POD.format(
    env="""\
    {{- range $name, $value := .Values.env }}
    - name: {{ $name }}
      value: {{ $value }}
    {{- end }}\
"""
)
AS_A_WHOLE: Final = POD.format(env="    {{- toYaml .Values.env | nindent 4 }}")
PLACED: Final = {
    "by its field": (
        ONE_BY_ONE,
        {"app/values.yaml": "db:\n  host: a\n  port: '1'\n  password: hunter2\n"},
        ("secret-in-plain-text", "app/values.yaml", 4),
    ),
    "in the template": (
        ONE_BY_ONE,
        {"app/values.yaml": "db: {host: a, port: '1', password: hunter2}\n"},
        ("secret-in-plain-text", "helm/templates/pod.yaml", 17),
    ),
    "a number by its field": (
        ONE_BY_ONE,
        {"app/values.yaml": "db:\n  host: a\n  password: b\n  port: 5432\n"},
        ("manifest-not-text", "app/values.yaml", 4),
    ),
    "a number as a password": (
        ONE_BY_ONE,
        {"app/values.yaml": "db:\n  host: '1234'\n  port: '1'\n  password: 1234\n"},
        ("secret-in-plain-text", "app/values.yaml", 4),
    ),
    "in a scope": (
        SCOPED,
        {"app/values.yaml": "password: hunter2\ndb:\n  password: hunter2\n"},
        ("secret-in-plain-text", "app/values.yaml", 3),
    ),
    "in a loop over a map": (
        IN_A_LOOP,
        {"app/values.yaml": "env:\n  HOST: same\n  DB_PASSWORD: same\n"},
        ("secret-in-plain-text", "app/values.yaml", 3),
    ),
    "a number in a loop": (
        IN_A_LOOP,
        {"app/values.yaml": "env:\n  A: x\n  PORT: 8080\n"},
        ("manifest-not-text", "app/values.yaml", 3),
    ),
    "in a list": (
        AS_A_WHOLE,
        {"app/values.yaml": "env:\n- name: A\n  value: x\n- name: DB_PASSWORD\n  value: x\n"},
        ("secret-in-plain-text", "app/values.yaml", 5),
    ),
    "a label": (
        AS_A_WHOLE,
        {
            "app/values.yaml": "env: [{name: A, value: x}]\nlabels:\n  other: text\n  version: 1.10\n"
        },
        ("manifest-not-text", "app/values.yaml", 4),
    ),
    "at the level above": (
        ONE_BY_ONE,
        {
            "group/values.yaml": "\ndb:\n  password: hunter2\n",
            "group/app/values.yaml": "db:\n  host: hunter2\n  port: ''\n",
        },
        ("secret-in-plain-text", "group/values.yaml", 3),
    ),
    "by a variable": (
        AS_A_WHOLE,
        {
            "app/values.yaml": "env:\n- name: A_TOKEN\n  value: x\n- {name: TOKEN, value: $VERSION}\n"
        },
        ("secret-in-plain-text", "app/values.yaml", 4),
    ),
}


@pytest.mark.parametrize(("template_text", "configs", "place"), PLACED.values(), ids=PLACED)
def test_a_fault_of_a_value_has_the_line_that_sets_it(
    application: Application,
    template_text: str,
    configs: Mapping[str, str],
    place: tuple[str, str, int],
) -> None:
    source = {**CHART, "helm/templates/pod.yaml": template_text}
    done = application.render(source=source, configs=configs)
    assert place in [*done.places("warnings"), *done.places()], done.document


def test_a_value_of_the_chart_is_located_there(application: Application) -> None:
    source = in_chart(VALUES, "replicas: 1", "db:\n  password: hunter2")
    done = application.render(
        source={**source, "helm/templates/pod.yaml": SCOPED}, configs={"app/values.yaml": ""}
    )
    assert ("secret-in-plain-text", VALUES, 5) in done.places("warnings")


@pytest.mark.parametrize("row", ["value: same", "value: {{ .Values.same }}"])
def test_equal_lines_of_a_template(application: Application, row: str) -> None:
    env = "".join(f"    - name: {name}\n      {row}\n" for name in ("A", "B", "TOKEN", "C"))
    source = {**CHART, "helm/templates/pod.yaml": POD.format(env=env.rstrip("\n"))}
    source[VALUES] += "same: same\n"
    done = application.render(source=source, configs={"app/values.yaml": ""})
    line = 15 if row == "value: same" else 7
    path = "helm/templates/pod.yaml" if row == "value: same" else VALUES
    assert ("secret-in-plain-text", path, line) in done.places("warnings")


def test_equal_objects_of_plain_manifests(tmp_path: Path) -> None:
    """Plain manifests are printed as they are, so each line is known."""
    secret = "apiVersion: v1\nkind: Secret\nmetadata: {name: NAME}\nstringData:\n  a: b\n"
    text = "---\n".join(secret.replace("NAME", name) for name in ("one", "two"))
    done = Application(tmp_path).render(source={"manifests/a.yaml": text}, configs=LEAF)
    lines = [line for code, _, line in done.places("warnings") if code == "secret-in-plain-text"]
    assert lines == [5, 11]


def test_a_refused_value_in_a_list_has_its_line(application: Application) -> None:
    schema = '{"properties": {"env": {"items": {"properties": {"value": {"type": "string"}}}}}}'
    configs = {"app/values.yaml": "env:\n- {name: A, value: x}\n- name: B\n  value: 5\n"}
    done = application.render(source=chart("helm/values.schema.json", schema), configs=configs)
    assert done.places() == [("values-refused", "app/values.yaml", 4)]


@POSIX
@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("template: greeter/templates/deployment.yaml:8:14: still here", (DEPLOYMENT, 8)),
        ("", ("helm", 0)),
    ],
)
def test_a_time_out_names_the_template_that_helm_names(
    application: Application, monkeypatch: pytest.MonkeyPatch, text: str, place: tuple[str, int]
) -> None:
    helm = shutil.which("helm", path=PROGRAMS)
    folder = application.write(
        "bin",
        {
            "helm": f"#!/bin/bash\n[ $1 = version ] && exec {helm} version --short\n"
            f"echo '{text}' >&2\nexec /bin/sleep 60\n"
        },
    )
    (folder / "helm").chmod(0o755)
    monkeypatch.setattr(applications, "PROGRAMS", f"{folder}{os.pathsep}{PROGRAMS}")
    done = application.render("--timeout=1s", configs=LEAF)
    assert done.places() == [("generator-bounds", *place)]
    assert "did not finish within 1 seconds" in done.messages()


def test_a_fault_of_many_targets_is_reported_once(application: Application) -> None:
    source = in_chart(DEPLOYMENT, ".Values.app.port", ".Values.ap.port")
    configs = {f"app-{number}/values.yaml": "" for number in range(2)}
    done = application.render(source=source, configs=configs)
    assert done.messages().startswith("targets 'app-0' and 'app-1': executing")
    configs = {f"app-{number}/values.yaml": "" for number in range(2, 5)}
    done = application.render(source=source, configs=configs)
    assert done.messages().startswith("targets 'app-0', 'app-1' and 3 more: executing")


def test_faults_of_chart_and_configs_are_reported_together(application: Application) -> None:
    source = in_chart(VALUES, "$VERSION", "!!int $VERSION")
    done = application.render(source=source, configs={"app/values.yaml": "- no map\n"})
    assert [place[1:] for place in done.places()] == [(VALUES, 6), ("app/values.yaml", 1)]


@pytest.mark.parametrize(
    ("values", "line", "advice"),
    [
        ("replica: 3\n", 1, "is 'replicas' meant?"),
        ("\napp:\n  naem: x\n", 3, "is 'name' meant?"),
        ("colour: red\n", 1, "remove it, or correct its name"),
    ],
    ids=["the first level", "a level below", "unknown"],
)
def test_a_value_that_no_template_reads(
    application: Application, values: str, line: int, advice: str
) -> None:
    done = application.render(configs={"app/values.yaml": values})
    assert done.places("warnings") == [("value-unread", "app/values.yaml", line)]
    assert done.document["warnings"][0]["advice"] == advice


def test_values_that_a_template_reads_as_a_whole(application: Application) -> None:
    text = CONFIG_MAP.format(name="a", text="{{ .Values | toJson | quote }}")
    done = application.render(source=template(text), configs={"app/values.yaml": "colour: red\n"})
    assert not done.document["warnings"]


def test_a_comment_looks_nothing_up(application: Application) -> None:
    source = template(
        '{{- /* lookup "v1" */ -}}\n# now is text\n' + CONFIG_MAP.format(name="a", text="now")
    )
    assert not application.render(source=source, configs=LEAF).document["warnings"]


def test_images_by_tag_are_noted(application: Application) -> None:
    configs = {"app/values.yaml": f"image: ghcr.io/acme/greeter@sha256:{'0' * 64}\n"}
    done = application.render(configs={**LEAF, "b/values.yaml": ""} | configs)
    assert done.places("notes")[0][:2] == ("image-without-digest", DEPLOYMENT)
    assert [target["images"] for target in done.document["targets"]] == [
        [f"ghcr.io/acme/greeter@sha256:{'0' * 64}"],
        ["ghcr.io/acme/greeter/greeter:0.0.1-7"],
    ]
