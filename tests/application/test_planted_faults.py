"""Faults in charts and configs, each reported with its file and line."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from tests.application.applications import CHART, Application

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
