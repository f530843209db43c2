"""Workloads of registered repositories."""

from __future__ import annotations

from kalypso_actions.errors import Diagnostics
from kalypso_actions.fleet.workloads import read_workloads
from kalypso_actions.model.kinds import Workload
from tests.builders import documents, registration

API = "scheduler.kalypso.io/v1alpha1"


def workload(name: str = "app", *targets: str) -> str:
    entries = ", ".join(
        f"{{name: {t}, environment: dev, labels: {{own: x, workspace: forged}}, manifests: {{repo: r}}}}"
        for t in targets or ("web",)
    )
    return (
        f"{{apiVersion: {API}, kind: Workload, metadata: {{name: {name}, labels: {{workload: forged}}}}, "
        f"spec: {{deploymentTargets: [{entries}]}}}}\n---\n"
    )


def read(text: str) -> tuple[tuple[Workload, ...], Diagnostics]:
    return read_workloads(
        registration("reg", "https://git.test/app", workspace="team"), "dev", documents(text)
    )


def test_the_registration_completes_the_targets() -> None:
    (read_workload,), diagnostics = read(workload())
    (target,) = read_workload.targets
    assert not diagnostics.problems
    assert (target.name, target.workspace, target.registration) == ("app-web", "team", "reg")
    assert target.labels == {
        "own": "x",
        "kustomize.toolkit.fluxcd.io/name": "dev-reg",
        "kustomize.toolkit.fluxcd.io/namespace": "flux-system",
        "workload": "app",
        "workspace": "team",
    }


def test_anything_else_makes_the_registration_invalid() -> None:
    intruder = f"{{apiVersion: {API}, kind: Template, metadata: {{name: evil}}, spec: {{}}}}"
    _, diagnostics = read(workload() + intruder)
    (problem,) = diagnostics.problems
    assert problem.message == "Template 'evil' is not a Workload"
    assert problem.where is not None
    assert (problem.where.path, problem.where.line) == ("file.yaml", 3)


def test_a_misspelled_kind_is_no_intruder() -> None:
    _, diagnostics = read(workload().replace("kind: Workload", "kind: Workloads"))
    (problem,) = diagnostics.problems
    effect = "the fleet lacks its 1 deployment target"
    assert problem.message == f"unknown kind 'Workloads': {effect}"
    assert problem.advice == "did you mean Workload?"


def test_names_are_unique() -> None:
    _, diagnostics = read(workload("app") * 2 + workload("svc", "a", "a"))
    assert [p.message for p in diagnostics.problems] == [
        "Workload 'app' is already defined in test: file.yaml:1",
        "deployment target 'svc-a' is defined twice in Workload 'svc'",
    ]


def test_names_become_labels_and_folders() -> None:
    _, diagnostics = read(workload("w" * 64) + workload("app", "../up"))
    assert [p.message for p in diagnostics.problems] == [
        f"Workload {'w' * 64!r}: its name becomes a label's value and has 64 characters, at most "
        "63 are allowed",
        f"the deployment target's name '{'w' * 64}-web' becomes a folder and a part of a "
        "namespace; it has 68 characters, at most 63 are allowed",
        "the deployment target's name 'app-../up' becomes a folder and a part of a namespace; it "
        "may hold lower-case letters, digits and '-' only, and must start and end with a letter or "
        "a digit",
    ]
