"""Rendered files are read as kustomize and Kubernetes read them; each cause is told once."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping

import pytest

from kalypso_actions.errors import of_level
from kalypso_actions.model.kinds import DeploymentTarget
from kalypso_actions.planning.fleet_manifests import (
    Checked,
    CheckedFile,
    _as_shown,
    _PrintedValues,
    _rendered_objects,
    judge_manifests,
)
from kalypso_actions.planning.manifest_references import unmet
from kalypso_actions.planning.plan import Plan, PlanOptions
from kalypso_actions.planning.registrations import is_own_fault
from tests.breaks import breaks, returning, turned
from tests.builders import assignment, cluster_type, config_map, fleet, policy, target, template
from tests.plans import plan

STRICT = PlanOptions(manifests="strict")

HEAD = """\
apiVersion: kustomize.toolkit.fluxcd.io/v1
kind: Kustomization
metadata:
  name: {{ .DeploymentTargetName }}
"""
SOUND = HEAD.replace("kustomize.toolkit.fluxcd.io", "acme.example")
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
    reconciler: str = SOUND,
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
        {"reconciler": SOUND + "spec:\n  path: {{ .Manifests.path }}\n"},
        ("manifest-invalid", "reconciler.yaml:13", "cannot start any token"),
    ),
    "an action that takes the blank before it away": (
        {"namespace": SPACE.replace("{{ .", "{{- .") + "  labels: {a: b}\n"},
        ("manifest-invalid", "namespace.yaml:11", "has no blank behind the colon"),
    ),
    "a question mark that only kyaml refuses": (
        {"reconciler": SOUND + "spec: {path: why?}\n"},
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
        {
            "namespace": SPACE.replace(".Namespace", ".Workspace"),
            "config": QUOTED.replace(".Namespace", ".Workspace").replace(
                "platform-config", "{{ .DeploymentTargetName }}"
            ),
        },
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
    "a name that Kubernetes refuses": (
        {"namespace": SPACE.replace("{{ .Namespace }}", "X_{{ .Namespace }}")},
        ("manifest-name-invalid", "namespace.yaml:11", "metadata.name is 'X_dev-large-app-"),
    ),
    "a namespace that Kubernetes refuses": (
        {"config": MAP.replace("namespace: {{", "namespace: Foo_{{") + "  A: b\n"},
        ("manifest-name-invalid", "config.yaml:12", "metadata.namespace is 'Foo_dev-large-app-"),
    ),
    "a key of a ConfigMap that Kubernetes refuses": (
        {"config": MAP + "  MY KEY: b\n"},
        ("manifest-data-invalid", "config.yaml:14", "data has the key 'MY KEY'"),
    ),
    "a Secret with plain text for Base64": (
        {"config": MAP.replace("ConfigMap", "Secret") + "  A: {{ .ConfigData.REGION }}!\n"},
        ("manifest-data-invalid", "config.yaml:14", "data.A is no Base64"),
    ),
    "binary data that is no Base64": (
        {"config": MAP.replace("\ndata:", "\nbinaryData:") + "  A: '{{ .Workload }}!'\n"},
        ("manifest-data-invalid", "config.yaml:14", "binaryData.A is no Base64"),
    ),
    "YAML 1.2": (
        {"namespace": "%YAML 1.2\n---\n" + SPACE},
        ("manifest-invalid", "namespace.yaml:8", "incompatible YAML document"),
    ),
    "a verb of printf for another value": (
        {"config": MAP + '  A: {{ printf "%d" .ConfigData.REGION | quote }}\n'},
        ("manifest-format", "config.yaml:14", "printf has printed '%!d(string=west)'"),
    ),
    "a verb of printf without a value": (
        {"config": MAP + '  A: {{ printf "%s-%s" .Workload | quote }}\n'},
        ("manifest-format", "config.yaml:14", "'%!s(MISSING)'"),
    ),
    "an annotation that Kubernetes refuses": (
        {"namespace": SPACE + "  annotations:\n    a b: x\n"},
        ("manifest-label-invalid", "namespace.yaml:13", "metadata.annotations: 'a b'"),
    ),
}


GIT = HEAD + "spec:\n  interval: 1m\n  prune: true\n  sourceRef: {kind: GitRepository, name: a}\n"
FAULTS |= {
    "a misspelled kind": (
        {"reconciler": GIT.replace("Kustomization", "Kustomisation")},
        ("manifest-schema", "reconciler.yaml:9", "has no kind Kustomisation"),
    ),
    "a misspelled field": (
        {"reconciler": GIT.replace("sourceRef", "sourceref")},
        ("manifest-schema", "reconciler.yaml:15", "no field sourceref: did you mean sourceRef?"),
    ),
    "a version that there never was": (
        {"reconciler": GIT.replace("fluxcd.io/v1", "fluxcd.io/v2")},
        ("manifest-schema", "reconciler.yaml:8", "fluxcd.io/v2 is not a version of Kustomization"),
    ),
    "a text for a boolean": (
        {"reconciler": GIT.replace("true", '"true"')},
        ("manifest-schema", "reconciler.yaml:14", "spec.prune: it is a text where a boolean"),
    ),
    "a required field": (
        {"reconciler": GIT.replace("  interval: 1m\n", "")},
        ("manifest-schema", "reconciler.yaml:12", "spec: the field interval is missing"),
    ),
    "a misspelled field of Kubernetes itself": (
        {
            "namespace": SPACE + "---\napiVersion: v1\nkind: Service\nmetadata:\n  name: a\n"
            "  namespace: {{ .Namespace }}\nspec:\n  selektor: {a: b}\n"
        },
        ("manifest-schema", "namespace.yaml:19", "did you mean selector?"),
    ),
}


@breaks(
    "names of objects are free",
    returning("kalypso_actions.planning.manifests._Check._check_names", None),
    case="a name that",
)
@breaks(
    "labels are free",
    returning("kalypso_actions.planning.manifests._Check._check_labels", None),
    case="a label that",
)
@breaks(
    "data of a Secret is any text",
    returning("kalypso_actions.planning.manifests._Check._check_data", None),
    case="a Secret with",
)
@breaks(
    "an object may be made twice in a folder",
    returning("kalypso_actions.planning.manifests._Check._check_duplicate", None),
    case="object twice",
)
@breaks(
    "a number is a text",
    returning("kalypso_actions.planning.manifests._Check._fault", ""),
    case="2048",
)
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
        assert "also for 1 other assignment" in finding.message
    failing = [item.assignment.folder for item in made.assignments if item.failure]
    assert len(failing) == 2
    assert not any(path.startswith(tuple(failing)) for path in made.changes.files)


@pytest.mark.parametrize(
    "given",
    [
        {"namespace": SPACE.replace("{{ .Namespace }}", "'${SPACE}-{{ .Namespace }}'")},
        {"config": MAP.replace("ConfigMap", "Secret") + "  A: {{ .ConfigData.REGION | b64enc }}\n"},
        {"config": MAP.replace("ConfigMap", "Secret") + "  A: ''\n  b.C_d: ${PASSWORD}\n"},
        {"config": MAP.replace("ConfigMap", "Secret") + "  A: '!'\nsops: {mac: x}\n"},
        {
            "namespace": SPACE + "---\napiVersion: rbac.authorization.k8s.io/v1\nkind: Role\n"
            "metadata:\n  name: System:Reader\n  namespace: {{ .Namespace }}\n"
        },
    ],
)
def test_variables_encrypted_values_and_names_of_roles_are_sound(given: dict[str, str]) -> None:
    assert planned(**given, options=STRICT).findings == ()  # type: ignore[arg-type]


@breaks(
    "files with one form of words share the faults of quantities",
    turned(_as_shown, "OF_FIELDS.issuperset(codes)", "codes"),
)
@pytest.mark.parametrize("sizes", [("512GB", "512Gi"), ("512Gi", "512GB"), ("512GB", "256GB")])
def test_a_quantity_is_judged_by_its_own_text(sizes: tuple[str, str]) -> None:
    quota = (
        "apiVersion: v1\nkind: ResourceQuota\nmetadata:\n  name: a\n  namespace: {{ .Namespace }}\n"
        "spec:\n  hard:\n    limits.memory: {{ .Labels.memory | quote }}\n"
    )
    targets = tuple(
        target(name, memory=size) for name, size in zip(("web", "api"), sizes, strict=True)
    )
    made = planned(namespace=SPACE + "---\n" + quota, targets=targets, options=STRICT)
    (problem,) = made.problems
    assert problem.code == "manifest-quantity-invalid"
    failing = {item.assignment.target.name for item in made.assignments if item.failure}
    names = zip(("app-web", "app-api"), sizes, strict=True)
    assert failing == {name for name, size in names if size.endswith("GB")}


QUOTA = (
    SPACE + "---\napiVersion: v1\nkind: ResourceQuota\nmetadata:\n  name: a\n"
    "  namespace: {{ .Namespace }}\nspec:\n  hard:\n    limits.memory: "
)
OF_VALUES = {
    "the value that a line reads": (
        {"namespace": QUOTA + "{{ .ConfigData.MB | quote }}\n", "data": {"MB": "2GB"}},
        ("a.yaml:2", "; namespace.yaml:20 prints MB", "correct MB, or"),
    ),
    "a value with a default": (
        {"namespace": QUOTA + '{{ .ConfigData.MB | default "1Gi" | quote }}\n', "data": {"A": "b", "MB": "2GB"}},
        ("a.yaml:3", "; namespace.yaml:20 prints MB", "correct MB, or"),
    ),
    "a label": (
        {"namespace": SPACE + "  labels:\n    tier: {{ .ConfigData.TIER }}\n", "data": {"TIER": "a/b"}},
        ("a.yaml:2", "; namespace.yaml:13 prints TIER", "print another text"),
    ),
    "a value among all": (
        {"config": MAP + "{{ toYaml .ConfigData | indent 2 }}\n", "data": {"A": "b", "L": "[a]"}},
        ("config.yaml:14", "; L is set in a.yaml:3", "quote"),
    ),
    "a value that breaks the YAML": (
        {"reconciler": SOUND + "spec: {a: {{ .ConfigData.P }}}\n", "data": {"P": "@north"}},
        ("reconciler.yaml:12", "; P is set in a.yaml:2", "quote"),
    ),
    "one of two, with a text of both": (
        {"namespace": QUOTA + "{{ .ConfigData.COUNT }}{{ .ConfigData.MB }}\n", "data": {"MB": "GB", "COUNT": "2"}},
        ("namespace.yaml:20", "; MB is set in a.yaml:2", "correct the template"),
    ),
    "a value of a mapping": (
        {"namespace": QUOTA + "{{ .ConfigData.LIMITS.mb | quote }}\n", "data": {"LIMITS": "mb: 2GB"}},
        ("a.yaml:2", "; namespace.yaml:20 prints LIMITS.mb", "correct LIMITS.mb, or"),
    ),
}  # fmt: skip


@breaks(
    "a fault of a platform's value names the value",
    turned(_PrintedValues.of, "origins.get(path) or origins.get(path[:1])", "None"),
)
@breaks(
    "a value that Kubernetes refuses is told at its line",
    turned(_PrintedValues.of, "repr(text) in message", "False"),
)
@pytest.mark.parametrize(("given", "told"), OF_VALUES.values(), ids=OF_VALUES)
def test_a_fault_of_a_value_stands_at_its_text_or_names_it(
    given: dict[str, object], told: tuple[str, str, str]
) -> None:
    place, origin, advice = told
    (finding,) = planned(**given, options=STRICT).problems  # type: ignore[arg-type]
    assert finding.where
    assert "/" not in finding.where.path
    assert f"{finding.where.path}:{finding.where.line}" == place
    assert f"{origin} (app-" in finding.message
    assert advice in finding.advice
    (other,) = finding.related
    assert "a.yaml" in {finding.where.path, other.path}


def test_a_refused_value_that_two_templates_print_is_told_once() -> None:
    quota = QUOTA + "{{ .ConfigData.MB | quote }}\n"
    other = quota.replace("name: a\n", "name: b\n").removeprefix(SPACE)
    (problem,) = planned(namespace=quota, config=other, data={"MB": "2GB"}, options=STRICT).problems
    assert problem.where
    assert (problem.where.path, problem.where.line) == ("a.yaml", 2)
    assert "namespace.yaml:20 prints MB" in problem.message


SOURCE = (
    "apiVersion: source.toolkit.fluxcd.io/v1\nkind: GitRepository\nmetadata:\n"
    "  name: {{ .DeploymentTargetName }}\n  namespace: flux-system\n"
    "spec: {interval: 1m, url: https://git.test/app}\n---\n"
)
APPLIED = (
    SOURCE
    + HEAD
    + (
        "  namespace: flux-system\nspec:\n  interval: 1m\n  prune: true\n"
        "  targetNamespace: {{ .Namespace }}\n  sourceRef:\n    kind: GitRepository\n"
        "    name: {{ .DeploymentTargetName }}\n"
    )
)
ROLE = SPACE + (
    "---\napiVersion: rbac.authorization.k8s.io/v1\nkind: Role\nmetadata:\n  name: reader\n"
    "  namespace: {{ .Namespace }}\nrules: []\n---\napiVersion: rbac.authorization.k8s.io/v1\n"
    "kind: RoleBinding\nmetadata:\n  name: readers\n  namespace: {{ .Namespace }}\nroleRef:\n"
    "  apiGroup: rbac.authorization.k8s.io\n  kind: Role\n  name: reader\n"
)
LAST = "    name: {{ .DeploymentTargetName }}\n"
UNMET_REFERENCES = {
    "another name": ({"reconciler": APPLIED.replace(LAST, "    name: {{ .Workload }}\n")}, "reconciler.yaml:26", "names GitRepository 'app' in flux-system, which nothing renders: did you mean app-"),
    "a name with an end": ({"reconciler": APPLIED.replace(LAST, "    name: {{ .DeploymentTargetName }}-src\n")}, "reconciler.yaml:26", "-src' in flux-system, which nothing renders: did you mean app-"),
    "another kind": ({"reconciler": APPLIED.replace("    kind: GitRepository", "    kind: OCIRepository")}, "reconciler.yaml:26", "did you mean GitRepository app-"),
    "no namespace": ({"reconciler": APPLIED.replace("  namespace: flux-system\nspec:\n", "spec:\n")}, "reconciler.yaml:25", "in default, which nothing renders: did you mean app-"),
    "a namespace of other names": ({"config": MAP.replace(".Namespace", ".Environment }}-{{ .Workload") + "  A: b\n"}, "config.yaml:12", "ConfigMap 'platform-config': metadata.namespace names Namespace 'dev-app', which nothing renders"),
    "a target namespace": ({"reconciler": APPLIED.replace("targetNamespace: {{ .Namespace }}", "targetNamespace: {{ .Workload }}")}, "reconciler.yaml:23", "spec.targetNamespace names Namespace 'app'"),
    "substitutes in another namespace": ({"reconciler": APPLIED + "  postBuild:\n    substituteFrom:\n    - kind: ConfigMap\n      name: platform-config\n"}, "reconciler.yaml:30", "names ConfigMap 'platform-config' in flux-system, which nothing renders: did you mean platform-config in dev-large-app-"),
    "a misspelled namespace": ({"config": MAP.replace("{{ .Namespace }}", "monitorng") + "  A: b\n"}, "config.yaml:12", "did you mean monitoring?"),
    "a misspelled Role": ({"namespace": ROLE.replace("kind: Role\n  name: reader", "kind: Role\n  name: raeder")}, "namespace.yaml:28", "names Role 'raeder' in dev-large-app-"),
    "a Role that nothing uses": ({"namespace": ROLE.replace("kind: Role\n  name: reader", "kind: Role\n  name: viewer")}, "namespace.yaml:28", "did you mean reader?"),
}  # fmt: skip


@breaks(
    "a reference that nothing meets is told",
    turned(unmet, "name in names", "True"),
)
@pytest.mark.parametrize("count", [1, 3])
@pytest.mark.parametrize(
    ("given", "place", "words"), UNMET_REFERENCES.values(), ids=UNMET_REFERENCES
)
def test_a_reference_that_nothing_rendered_meets(
    given: dict[str, str], place: str, words: str, count: int
) -> None:
    targets = tuple(target(name) for name in ("web", "api", "shop")[:count])
    for options in (PlanOptions(), STRICT):
        made = planned(**given, targets=targets, options=options)  # type: ignore[arg-type]
        (warning,) = [item for item in made.findings if item.code == "manifest-reference-unmet"]
        assert warning.where
        assert warning.level == "warning"
        assert f"{warning.where.path}:{warning.where.line}" == place
        assert words in warning.message
        others = f"also for {count - 1} other assignment" if count > 1 else "(app-web on large)"
        assert others in warning.message


@pytest.mark.parametrize(
    "given",
    [
        {"reconciler": APPLIED},
        {"reconciler": APPLIED.removeprefix(SOURCE)},
        {"reconciler": APPLIED.replace(LAST, "    name: flux-system\n")},
        {"namespace": ROLE},
        {"namespace": ROLE.replace("kind: Role\n  name: reader", "kind: ClusterRole\n  name: viewer")},
        {"config": MAP.replace("{{ .Namespace }}", "monitoring") + "  A: b\n"},
        {"config": MAP.replace("{{ .Namespace }}", "{{ .Workspace }}") + "  A: b\n"},
        {"config": MAP.replace("{{ .Namespace }}", "platform") + "  A: b\n"},
        {"config": MAP.replace("{{ .Namespace }}", "argo-cd") + "  A: b\n"},
    ],
)  # fmt: skip
def test_references_to_objects_of_the_cluster_are_sound(given: dict[str, str]) -> None:
    given = {"namespace": SPACE, **given}
    assert planned(**given, targets=(target("web"),), options=STRICT).findings == ()  # type: ignore[arg-type]


def test_a_reference_that_another_target_meets() -> None:
    other = "    name: app-{{ if eq .DeploymentTargetName `app-web` }}api{{ else }}web{{ end }}\n"
    assert planned(APPLIED.replace(LAST, other), options=STRICT).findings == ()


@breaks(
    "a dependency that only another cluster type has is told",
    turned(
        _rendered_objects,
        "not any(fault.wanted in objects(environment, name) for name in cluster_types)",
        "True",
    ),
)
def test_a_dependency_on_an_object_of_another_cluster_type() -> None:
    """A bootstrap may have any other one."""
    depending = APPLIED + "  dependsOn: [{name: NAME}]\n"
    only_large = (
        SOUND
        + "{{ if eq .ClusterType `large` }}---\n"
        + (
            "apiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\n"
            "metadata: {name: base, namespace: flux-system}\n{{ end }}"
        )
    )
    for name, expected in (("base", 1), ("bases", 0)):
        made = plan(
            fleet(
                cluster_types=[cluster_type("large"), cluster_type("small")],
                policies=[policy("all")],
                targets=[target("web")],
                templates=[
                    template("reconciler", depending.replace("NAME", name)),
                    template("namespace", SPACE + only_large.removeprefix(SOUND)),
                    template("config", QUOTED),
                ],
            ),
            options=STRICT,
        )
        warnings = [item for item in made.findings if item.code == "manifest-reference-unmet"]
        assert len(warnings) == expected
        assert all("(app-web on small)" in item.message for item in warnings)


def test_more_data_than_kubernetes_takes() -> None:
    """The size counts for the very text, also beside an equal one of other words."""
    for size, expected in ((500_000, 0), (530_000, 1)):
        made = planned(data={"A": "x" * size, "B": "y" * size}, options=STRICT)
        assert [item.code for item in made.problems] == ["manifest-data-invalid"] * expected


def test_an_empty_account_of_flux() -> None:
    made = planned(
        APPLIED + "  serviceAccountName: {{ default `` .Manifests.account }}\n", options=STRICT
    )
    (warning,) = [item for item in made.findings if item.code == "manifest-value-invalid"]
    assert warning.level == "warning"
    assert "Flux applies it with the rights of its controller" in warning.message


def test_a_template_that_a_cluster_type_names_twice() -> None:
    named = dataclasses.replace(cluster_type("large"), namespace_service="reconciler")
    templates = [template("reconciler", SOUND), template("config", QUOTED)]
    made = plan(
        fleet(
            cluster_types=[named],
            policies=[policy("all")],
            targets=[target("web"), target("api")],
            templates=templates,
        ),
        options=STRICT,
    )
    (problem,) = made.problems
    assert "reconciler and namespaceService of ClusterType 'large' name it" in problem.message
    assert problem.where == named.at("namespaceService")


def test_each_value_with_a_fault_is_told() -> None:
    templates = [
        template("reconciler", SOUND),
        template("namespace", QUOTA + "{{ .ConfigData.MB | quote }}\n"),
        template("config", QUOTED),
    ]
    made = plan(
        fleet(
            cluster_types=[cluster_type("large")],
            policies=[policy("all")],
            targets=[target("web"), target("api")],
            templates=templates,
            config_maps=[
                config_map("a", {"MB": "2GB"}),
                config_map("b", {"MB": "4GB"}, **{"deployment-target": "app-web"}),
            ],
        ),
        options=STRICT,
    )
    places = {problem.where.path for problem in made.problems if problem.where}
    assert places == {"a.yaml", "b.yaml"}


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
            template("reconciler", SOUND),
            template("namespace", SPACE.replace(".Namespace", ".Workspace")),
            template("config", QUOTED.replace(".Namespace", ".Workspace")),
        ],
    )
    assert plan(fleet_, options=STRICT).findings == ()


def test_a_field_that_a_newer_release_may_have_is_a_warning_of_strict_rules() -> None:
    newer = GIT + "  brandNew: true\n"
    assert planned(newer).findings == ()
    made = planned(newer, options=STRICT)
    (warning,) = made.warnings
    assert (warning.code, made.problems) == ("manifest-field-unknown", ())
    assert "fluxcd/kustomize-controller v" in warning.message
    assert warning.where
    assert warning.where.line == 16


@pytest.mark.parametrize(
    "text",
    [
        GIT,
        GIT.replace("/v1\n", "/v1beta2\n"),
        GIT.replace("kustomize.toolkit.fluxcd.io/v1", "acme.example/v7"),
        "apiVersion: apps/v1\nkind: Widget\nmetadata: {name: {{ .DeploymentTargetName }}}\n",
    ],
    ids=["sound", "an older version", "an unknown group", "an unknown kind"],
)
def test_what_no_schema_refuses(text: str) -> None:
    assert planned(text, options=STRICT).findings == ()


@breaks(
    "faults of manifests are never those of a registration",
    turned(
        "kalypso_actions.planning.registrations.is_own_fault",
        "code.startswith(OF_MANIFESTS)",
        "False",
    ),
)
@pytest.mark.parametrize(
    ("label", "others", "is_own"),
    [
        ("{{ .Workload }}", (), True),
        ("{{ .Workload }}", (target("api"),), True),
        ("{{ .Labels.branch }}", (), True),
        ("5", (), False),
        ("5", (target("api"),), False),
    ],
)
def test_a_text_of_a_registration_does_not_stop_a_fleet(
    label: str, others: tuple[DeploymentTarget, ...], is_own: bool
) -> None:
    """With strict rules, a Template that takes usual texts is not at fault."""
    hostile = dataclasses.replace(
        target("web", workload="2048", branch="feature/cart"), registration="hostile"
    )
    namespace = SPACE + f"  labels:\n    a: {label}\n"
    made = planned(namespace=namespace, targets=(hostile, *others), options=STRICT)
    failing = [item for item in made.assignments if item.failure]
    assert failing
    assert is_own_fault(failing, made, STRICT) == is_own


def test_two_environments_may_have_the_same_object() -> None:
    """`validate` judges all environments together."""
    owners = [target("web"), target("web", environment="stage")]
    rows = [
        (
            assignment(owner, cluster_type("large")),
            Checked((CheckedFile("namespace", True),), b"Namespace\0\0default\0team"),
        )
        for owner in owners
    ]
    assert judge_manifests(rows, [template("namespace", SPACE)]).findings == ()
    assert judge_manifests(rows[:1] * 2, [template("namespace", SPACE)]).findings
