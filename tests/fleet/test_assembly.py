"""Assembling a fleet from an environment branch and its base repositories."""

from __future__ import annotations

from dataclasses import fields

import pytest

from kalypso_actions.fleet.assembly import Branch, assemble
from kalypso_actions.fleet.parsing import KINDS
from tests.builders import documents

API = "scheduler.kalypso.io/v1alpha1"

CONTENTS = {
    "BaseRepo": "spec: {repo: r, branch: main, path: .}",
    "GitOpsRepo": "spec: {repo: https://git.test/r, branch: dev, path: .}",
    "ClusterType": "spec: {reconciler: flux, namespaceService: ns}",
    "SchedulingPolicy": "spec: {deploymentTargetSelector: &s {labelSelector: {}}, clusterTypeSelector: *s}",
    "ConfigMap": "data: {REGION: north}",
    "ConfigSchema": "spec: {schema: x}",
    "Template": "spec: {type: reconciler, manifests: [x]}",
    "WorkloadRegistration": "spec: {workload: {repo: r, branch: main, path: .}, workspace: s}",
    "DeploymentTarget": "spec: {environment: dev, manifests: {repo: r}}",
}
"""The smallest document of each kind in a fleet."""

OUTSIDE = {"Environment", "Workload", "PromotionPolicy"}
"""Kinds of main, of registered repositories, and of a file of its own."""


def cluster_type(name: str, reconciler: str = "flux") -> str:
    return (
        f"{{apiVersion: {API}, kind: ClusterType, metadata: {{name: {name}}}, "
        f"spec: {{reconciler: {reconciler}, namespaceService: ns}}}}\n---\n"
    )


def target(name: str, environment: str) -> str:
    return (
        f"{{apiVersion: {API}, kind: DeploymentTarget, metadata: {{name: {name}, labels: {{workload: w, "
        f"workspace: s}}}}, spec: {{environment: {environment}, manifests: {{repo: r}}}}}}\n---\n"
    )


def branch(owner: str, text: str, path: str) -> Branch:
    return Branch(owner, documents(text, path))


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind not in OUTSIDE])
def test_a_document_of_every_kind_reaches_the_fleet(kind: str) -> None:
    text = (
        f"{{apiVersion: {KINDS[kind].API_VERSION}, kind: {kind}, metadata: {{name: a, labels: "
        f"{{workload: w, workspace: s, platform-config: 'true'}}}}, {CONTENTS[kind]}}}"
    )
    fleet, diagnostics = assemble("dev", branch("dev", text, "f.yaml"), [])
    assert not diagnostics.problems
    values = [getattr(fleet, field.name) for field in fields(fleet)]
    resources = [value for value in values if isinstance(value, tuple)]
    assert [type(resource).__name__ for (resource,) in filter(None, resources)] == [kind]


def test_flux_labels_name_the_branch() -> None:
    fleet, diagnostics = assemble(
        "dev",
        branch("dev", cluster_type("own"), "dev.yaml"),
        [branch("dev-main", cluster_type("base"), "main.yaml")],
    )
    assert not diagnostics.problems
    assert [
        (c.name, c.labels["kustomize.toolkit.fluxcd.io/name"]) for c in fleet.cluster_types
    ] == [
        ("base", "dev-main"),
        ("own", "dev"),
    ]
    assert fleet.cluster_types[0].labels["kustomize.toolkit.fluxcd.io/namespace"] == "flux-system"


def test_the_environment_branch_wins_with_a_warning() -> None:
    fleet, diagnostics = assemble(
        "dev",
        branch("dev", cluster_type("same", "argocd"), "dev.yaml"),
        [branch("dev-main", cluster_type("same"), "main.yaml")],
    )
    assert [c.reconciler for c in fleet.cluster_types] == ["argocd"]
    assert not diagnostics.problems
    assert [str(w) for w in diagnostics.warnings] == [
        "test: dev.yaml:1: ClusterType 'same' is also defined in test: main.yaml:1; the environment "
        "branch wins"
    ]


def test_twice_in_one_branch() -> None:
    _, diagnostics = assemble("dev", branch("dev", cluster_type("a") * 2, "dev.yaml"), [])
    assert [str(p) for p in diagnostics.problems] == [
        "test: dev.yaml:3: ClusterType 'a' is already defined in test: dev.yaml:1 (remove or rename "
        "one of the two)"
    ]


def test_in_two_base_repositories() -> None:
    bases = [branch(f"dev-{n}", cluster_type("a"), f"{n}.yaml") for n in ("main", "other")]
    _, diagnostics = assemble("dev", branch("dev", "", "dev.yaml"), bases)
    assert [p.message for p in diagnostics.problems] == [
        "ClusterType 'a' is already defined in test: main.yaml:1"
    ]


def test_the_same_name_of_two_kinds_is_fine() -> None:
    schema = (
        f"{{apiVersion: {API}, kind: ConfigSchema, metadata: {{name: a}}, spec: {{schema: x}}}}"
    )
    fleet, diagnostics = assemble("dev", branch("dev", cluster_type("a") + schema, "f.yaml"), [])
    assert not diagnostics.problems
    assert (len(fleet.cluster_types), len(fleet.config_schemas)) == (1, 1)


def test_targets_of_other_environments_are_left_out() -> None:
    text = target("mine", "dev") + target("other", "stage")
    fleet, diagnostics = assemble("dev", branch("dev", text, "f.yaml"), [])
    assert not diagnostics.problems
    assert [(t.name, t.workload, t.workspace) for t in fleet.targets] == [("mine", "w", "s")]


def test_a_workload_does_not_belong_here() -> None:
    text = (
        f"{{apiVersion: {API}, kind: Workload, metadata: {{name: w}}, "
        "spec: {deploymentTargets: [{name: a, environment: dev, manifests: {}}]}}"
    )
    _, diagnostics = assemble("dev", branch("dev", text, "f.yaml"), [])
    assert [p.message for p in diagnostics.problems] == [
        "Workload 'w' is in a control-plane branch"
    ]


def test_a_base_repository_has_no_base_repository() -> None:
    text = (
        f"{{apiVersion: {API}, kind: BaseRepo, metadata: {{name: more}}, "
        "spec: {repo: r, branch: main, path: .}}"
    )
    fleet, diagnostics = assemble(
        "dev", branch("dev", "", "f.yaml"), [branch("dev-main", text, "main.yaml")]
    )
    assert not fleet.base_repos
    assert len(diagnostics.warnings) == 1
