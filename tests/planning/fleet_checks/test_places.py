"""Places that two owners write to, and documents in the wrong place."""

from __future__ import annotations

import pytest

from tests.planning.fleet_checks.control_planes import (
    API,
    edited,
    environment,
    findings,
    shown,
    sound,
)


@pytest.mark.parametrize(
    ("place", "old", "new", "expected", "said"),
    [
        pytest.param(
            "dev/gitops-repo.yaml", "branch: dev", "branch: stage",
            ("gitops-repo-shared", "stage/gitops-repo.yaml:4"), "branch or path of its own",
            id="two environments, one GitOps branch",
        ),
        pytest.param(
            "dev/gitops-repo.yaml", "https://git.test/gitops", "git@git.test:plane.git",
            ("gitops-repo-in-control-plane", "dev/gitops-repo.yaml:4"), "name the GitOps repository",
            id="GitOps branch in the control plane",
        ),
        pytest.param(
            "main/dev.yaml", "branch: dev", "branch: stage",
            ("environment-branch-shared", "main/stage.yaml:4"), "a branch of its own",
            id="two environments, one branch",
        ),
        pytest.param(
            "dev/base-repo.yaml", "test/plane", "test/palne",
            ("base-repo-foreign", "dev/base-repo.yaml:5"), "write https://git.test/plane",
            id="BaseRepo of another repository",
        ),
        pytest.param(
            "dev/base-repo.yaml", "branch: main", "branch: mian",
            ("base-repo-foreign", "dev/base-repo.yaml:5"), "write main",
            id="BaseRepo of another branch",
        ),
        pytest.param(
            "dev/edge.yaml", "spec:", "  annotations: {kalypso.io/compliance: 'no'}\nspec:",
            ("annotation-value-unknown", "dev/edge.yaml:8"), "write 'none'",
            id="value of an annotation",
        ),
        pytest.param(
            "app/workload.yaml", "spec:\n", "spec:\n  configSchema: []\n",
            ("field-unknown", "app/workload.yaml:6"), "did you mean configSchemas?",
            id="field of a registered Workload",
        ),
    ],
)  # fmt: skip
def test_one_warning(place: str, old: str, new: str, expected: tuple[str, str], said: str) -> None:
    diagnostics = findings(edited(sound(), place, old, new))
    assert shown([w for w in diagnostics.warnings if w.code == expected[0]]) == [expected]
    assert any(said in warning.advice for warning in diagnostics.warnings)


def test_paths_and_other_branches_are_places_of_their_own() -> None:
    plane = edited(
        sound(), "dev/gitops-repo.yaml", "branch: dev, path: .", "branch: all, path: dev"
    )
    plane = edited(
        plane, "stage/gitops-repo.yaml", "branch: stage, path: .", "branch: all, path: ./stage"
    )
    assert findings(plane).warnings == []
    plane = edited(plane, "dev/gitops-repo.yaml", "test/gitops", "test/plane")
    assert findings(plane).warnings == []


def test_two_gitops_repos_of_an_environment_with_one_tree() -> None:
    plane = sound()
    gitops_repo = plane["dev"]["gitops-repo.yaml"]
    plane["dev"]["again.yaml"] = gitops_repo.replace("name: dev", "name: second")
    assert shown(findings(plane).problems) == [("gitops-repo-duplicate", "dev/again.yaml:4")]


def test_a_gitops_repo_on_main_hides_nothing() -> None:
    plane = sound()
    plane["main"]["gitops-repo.yaml"] = plane["dev"].pop("gitops-repo.yaml")
    plane = edited(plane, "dev/policy.yaml", "size: edge", "size: egde")
    diagnostics = findings(plane)
    assert shown(diagnostics.warnings) == [
        ("gitops-repo-shared", "main/gitops-repo.yaml:4"),
        ("policy-without-cluster-types", "dev/policy.yaml:14"),
    ]
    assert "move it from main" in diagnostics.warnings[0].advice


def test_an_environment_takes_what_is_below_the_path_of_its_base() -> None:
    plane = edited(sound(), "dev/base-repo.yaml", "path: .", "path: templates")
    plane["main"]["templates/all.yaml"] = plane["main"].pop("templates.yaml")
    unknown = [item for item in findings(plane).warnings if item.code == "policy-workspace-unknown"]
    assert shown(unknown) == [("policy-workspace-unknown", "dev/policy.yaml:7")]


@pytest.mark.parametrize(
    ("workload", "place"),
    [
        ("", "main/registration.yaml:6"),
        (f"{API}kind: Workload\nmetadata: {{name: w}}\nspec: {{deploymentTargets: []}}\n", "app/workload.yaml:4"),
    ],
    ids=["no Workload", "no targets"],
)  # fmt: skip
def test_an_application_without_targets_is_the_only_warning(workload: str, place: str) -> None:
    plane = sound()
    plane["app"] = {"workload.yaml": workload}
    assert shown(findings(plane).warnings) == [("registration-without-targets", place)]


def test_a_hand_written_target_names_its_own_environment() -> None:
    plane = sound()
    target = (
        f"{API}kind: DeploymentTarget\nmetadata: {{name: clock, labels: {{workload: clock}}}}\n"
    )
    target += "spec: {environment: stage, manifests: {repo: r}}\n"
    plane["dev"]["clock.yaml"] = target
    (warning,) = findings(plane).warnings
    assert shown([warning]) == [("target-environment-other", "dev/clock.yaml:4")]
    plane = sound()
    plane["main"]["clock.yaml"] = target
    codes = [item.code for item in findings(plane).warnings]
    assert "target-environment-other" not in codes


def test_a_faulty_environment_is_not_missing_as_well() -> None:
    plane = sound()
    plane["main"]["stage.yaml"] = environment("stage").replace("path: .", "path: 5")
    assert [item.code for item in findings(plane).problems] == ["field-invalid"]


def test_a_main_without_templates_is_one_problem() -> None:
    plane = sound()
    del plane["main"]["templates.yaml"]
    (problem,) = findings(plane).problems
    assert shown([problem]) == [("template-missing", "dev/edge.yaml:9")]
    assert problem.message == "main has none of the Templates of 2 ClusterTypes"


def test_a_registration_without_workspace_is_the_only_warning_with_a_schema_of_it() -> None:
    plane = edited(sound(), "dev/schema.yaml", "cluster-type: edge", "workspace: team")
    assert findings(plane).warnings == []
    plane = edited(plane, "main/registration.yaml", "  workspace: team\n", "")
    assert {item.code for item in findings(plane).warnings} == {"registration-without-workspace"}


def test_the_misspelled_label_of_a_target_is_named() -> None:
    plane = edited(
        sound(),
        "app/workload.yaml",
        "dev\n      labels:\n        purpose",
        "dev\n      labels:\n        purpos",
    )
    plane = edited(
        plane,
        "app/workload.yaml",
        "stage\n      labels:\n        purpose: test",
        "stage\n      labels:\n        purpose: x",
    )
    (warning,) = [w for w in findings(plane).warnings if w.where and w.where.repository == "dev"]
    assert "has purpos: test: did you mean purpose there?" in warning.advice
