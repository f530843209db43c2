"""Rendered files are read as kustomize and Kubernetes read them; each cause is told once."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping

import pytest

from kalypso_actions.errors import of_level
from kalypso_actions.model.kinds import DeploymentTarget
from kalypso_actions.planning.plan import Plan, PlanOptions
from tests.builders import cluster_type, config_map, fleet, policy, target, template
from tests.plans import plan

STRICT = PlanOptions(manifests="strict")

HEAD = """\
apiVersion: kustomize.toolkit.fluxcd.io/v1
kind: Kustomization
metadata:
  name: {{ .DeploymentTargetName }}
"""
SPACE = "apiVersion: v1\nkind: Namespace\nmetadata:\n  name: {{ .Namespace }}\n"
MAP = """\
apiVersion: v1
kind: ConfigMap
metadata:
  name: platform-config
  namespace: {{ .Namespace }}
data:
"""
QUOTED = (
    MAP + "{{ range $key, $value := .ConfigData }}  {{ $key }}: {{ $value | quote }}\n{{ end }}"
)


def planned(
    reconciler: str = HEAD,
    namespace: str = SPACE,
    config: str = QUOTED,
    *,
    targets: tuple[DeploymentTarget, ...] = (target("web"), target("api")),
    data: Mapping[str, str] | None = None,
    options: PlanOptions = PlanOptions(),  # noqa: B008 - frozen
    annotated: Mapping[str, str] | None = None,
) -> Plan:
    templates = [
        template("reconciler", reconciler, annotations=annotated),
        template("namespace", namespace, annotations=annotated),
        template("config", config, annotations=annotated),
    ]
    return plan(
        fleet(
            cluster_types=[cluster_type("large")],
            policies=[policy("all")],
            targets=targets,
            templates=templates,
            config_maps=[config_map("a", data or {"REGION": "west"})],
        ),
        options=options,
    )


FAULTS = {
    "toYaml that is indented too far": (
        {"config": MAP + "  A: b\n{{ toYaml .ConfigData | indent 8 }}\n"},
        ("manifest-invalid", "config.yaml:15", "not valid YAML"),
    ),
    "a value without quotes": (
        {"reconciler": HEAD + "spec:\n  path: {{ .Manifests.path }}\n"},
        ("manifest-invalid", "reconciler.yaml:13", "cannot start any token"),
    ),
    "a question mark that only kyaml refuses": (
        {"reconciler": HEAD + "spec: {path: why?}\n"},
        ("manifest-invalid", "reconciler.yaml:12", "kustomize cannot read it"),
    ),
    "a Namespace without a name": (
        {"namespace": "apiVersion: v1\nkind: Namespace\n"},
        ("manifest-incomplete", "namespace.yaml:8", "no metadata.name"),
    ),
    "no apiVersion": (
        {"namespace": "kind: Namespace\nmetadata:\n  name: {{ .Namespace }}\n"},
        ("manifest-incomplete", "namespace.yaml:8", "no apiVersion"),
    ),
    "a default, and the same key from toYaml": (
        {"config": MAP + "  REGION: east\n{{ toYaml .ConfigData | indent 2 }}\n"},
        ("manifest-invalid", "config.yaml:15", "the key 'REGION' is duplicate"),
    ),
    "the same Namespace for two targets": (
        {"namespace": SPACE.replace(".Namespace", ".Workspace")},
        ("manifest-duplicate", "namespace.yaml:11", "Namespace 'team' is made twice on large"),
    ),
    "an object twice in one folder": (
        {"namespace": SPACE + "---\n" + SPACE},
        ("manifest-duplicate", "namespace.yaml:16", "is made twice"),
    ),
    "a number in a ConfigMap": (
        {"config": MAP + "  MB: {{ .ConfigData.MB }}\n", "data": {"MB": "512"}},
        ("manifest-not-text", "config.yaml:14", "data.MB is 512, not a text"),
    ),
    "a list in a ConfigMap": (
        {"config": MAP + "{{ toYaml .ConfigData | indent 2 }}\n", "data": {"L": "[a]"}},
        ("manifest-not-text", "config.yaml:14", "data.L is a list, not a text"),
    ),
    "a label that Kubernetes refuses": (
        {
            "namespace": SPACE + "  labels:\n    branch: {{ .Labels.branch }}\n",
            "targets": (target("web", branch="feature/cart"), target("api", branch="feature/x")),
        },
        ("manifest-label-invalid", "namespace.yaml:13", "branch is 'feature/x'"),
    ),
    "a workload called 2048": (
        {
            "namespace": SPACE + "  labels:\n    app: {{ .Workload }}\n",
            "targets": (target("web", workload="2048"), target("api", workload="2048")),
        },
        ("manifest-not-text", "namespace.yaml:13", "metadata.labels.app is 2048"),
    ),
    "an annotation that Kubernetes refuses": (
        {"namespace": SPACE + "  annotations:\n    a b: x\n"},
        ("manifest-label-invalid", "namespace.yaml:13", "metadata.annotations: 'a b'"),
    ),
}


@pytest.mark.parametrize(("given", "expected"), FAULTS.values(), ids=FAULTS)
def test_each_cause_is_told_once_at_the_line_of_its_template(
    given: dict[str, object], expected: tuple[str, str, str]
) -> None:
    code, place, words = expected
    if "cannot start" in words:
        given["targets"] = tuple(
            dataclasses.replace(target(name, manifests={"path": "@north"}), registration="")
            for name in ("web", "api")
        )
    for options, level in ((PlanOptions(), "warning"), (STRICT, "error")):
        made = planned(**given, options=options)  # type: ignore[arg-type]
        (finding,) = of_level(made.findings, level)  # type: ignore[arg-type]
        assert finding.where
        assert (finding.code, f"{finding.where.path}:{finding.where.line}") == (code, place)
        assert words in finding.message
        assert "(app-" in finding.message or "(2048-" in finding.message
        is_pair = code == "manifest-duplicate" and "'team'" in words
        assert ("also for 1 other assignment" in finding.message) != is_pair
    failing = [item.assignment.folder for item in made.assignments if item.failure]
    assert len(failing) == (1 if is_pair else 2)
    assert not any(path.startswith(tuple(failing)) for path in made.changes.files)


def test_a_sound_fleet_has_no_finding() -> None:
    assert planned(options=STRICT).findings == ()


SCRIPT = "- region\n- {{ .ConfigData.REGION }}\n"


def test_a_template_that_is_not_for_kubernetes_is_noted_once() -> None:
    made = planned(config=SCRIPT, options=STRICT)
    (note,) = made.notes
    assert (note.code, made.problems, made.warnings) == ("template-not-kubernetes", (), ())
    assert "Template 'config' prints no Kubernetes object" in note.message


def test_documents_that_are_no_objects_are_told_beside_objects() -> None:
    either = "{{ if eq .DeploymentTargetName `app-web` }}- a{{ else }}" + SPACE + "{{ end }}"
    (warning,) = planned(namespace=either).warnings
    assert warning.code == "manifest-invalid"
    assert "must be an object" in warning.message
    assert "(app-web on large)" in warning.message


def test_an_annotation_says_that_files_may_be_anything() -> None:
    given = {"kalypso.io/manifests": "any"}
    broken = "apiVersion: [\n"
    assert planned(broken, broken, broken, annotated=given, options=STRICT).findings == ()
    fleet_ = fleet(
        cluster_types=[dataclasses.replace(cluster_type("large"), annotations=given)],
        policies=[policy("all")],
        targets=[target("web")],
        templates=[template(name, broken) for name in ("reconciler", "namespace", "config")],
    )
    assert plan(fleet_, options=STRICT).findings == ()


def test_targets_of_different_cluster_types_may_have_the_same_object() -> None:
    fleet_ = fleet(
        cluster_types=[cluster_type("large"), cluster_type("small")],
        policies=[policy("all")],
        targets=[target("web")],
        templates=[
            template("reconciler", HEAD),
            template("namespace", SPACE.replace(".Namespace", ".Workspace")),
            template("config", QUOTED),
        ],
    )
    assert plan(fleet_, options=STRICT).findings == ()
