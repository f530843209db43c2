"""Places that two owners write to, and documents in the wrong place."""

from __future__ import annotations

import dataclasses

import pytest

from kalypso_actions.errors import Location, Problem, of_level
from kalypso_actions.fleet.assembly import _merged_into_environment
from kalypso_actions.model.documents import Reading
from kalypso_actions.planning.fleet_checks.branches import RegisteredReading
from kalypso_actions.planning.merged_findings import settled
from kalypso_actions.planning.plan import PlanOptions
from kalypso_actions.planning.validation import validate_control_plane
from tests.breaks import breaks, returning
from tests.planning.fleet_checks.control_planes import (
    API,
    APP,
    edited,
    environment,
    findings,
    reading,
    shown,
    sound,
)


@pytest.mark.parametrize(
    ("place", "old", "new", "expected", "said"),
    [
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
            "stage/gitops-repo.yaml", "branch: stage", "branch: stge",
            ("gitops-branch-misspelled", "stage/gitops-repo.yaml:4"), "did you mean stage?",
            id="branch that is nearly the environment's name",
        ),
        pytest.param(
            "stage/gitops-repo.yaml", "branch: stage", "branch: main",
            ("gitops-branch-misspelled", "stage/gitops-repo.yaml:4"), "did you mean stage?",
            id="branch with the name of main",
        ),
        pytest.param(
            "dev/gitops-repo.yaml", "test/gitops, branch: dev", "test/app.git, branch: main",
            ("gitops-branch-misspelled", "dev/gitops-repo.yaml:4"), "write branch: dev, or a path",
            id="branch of an application",
        ),
        pytest.param(
            "dev/gitops-repo.yaml", "git.test/gitops", "gitlab.test/gitops",
            ("gitops-repo-other-server", "dev/gitops-repo.yaml:4"), "a repository on git.test",
            id="GitOps repository on another server",
        ),
        pytest.param(
            "main/stage.yaml", "annotations: {", "annotations: {kalypso.io/first-environment: 'true', ",
            ("environment-early", "main/stage.yaml:3"), "remove the annotation",
            id="first environment that is the next of another",
        ),
        pytest.param(
            "dev/edge.yaml", "spec:", "  annotations: {kalypso.io/clusters: 'a, b, A'}\nspec:",
            ("annotation-value-unknown", "dev/edge.yaml:8"), "name each cluster once",
            id="a cluster twice",
        ),
        pytest.param(
            "dev/edge.yaml", "spec:", "  annotations: {kalypso.io/clusters: ' '}\nspec:",
            ("annotation-value-unknown", "dev/edge.yaml:8"), "name them, or remove it",
            id="an empty list of clusters",
        ),
        pytest.param(
            "dev/edge.yaml", "spec:", "  annotations: {kalypso.io/clusters: 'dev=a b'}\nspec:",
            ("annotation-value-unknown", "dev/edge.yaml:8"), "write the names alone",
            id="clusters as init's option takes them",
        ),
        pytest.param(
            "dev/edge.yaml", "spec:", "  annotations: {kalypso.io/clusters: 'a; b'}\nspec:",
            ("annotation-value-unknown", "dev/edge.yaml:8"), "with commas between them",
            id="clusters with semicolons",
        ),
        pytest.param(
            "dev/edge.yaml", "spec:", "  annotations: {kalypso.io/clusters: '[a, b]'}\nspec:",
            ("annotation-value-unknown", "dev/edge.yaml:8"), "with commas between them",
            id="clusters as a list of JSON",
        ),
        pytest.param(
            "dev/edge.yaml", "spec:",
            "  annotations: {kalypso.io/clusters: a, kalypso.io/compliance: none}\nspec:",
            ("annotation-value-unknown", "dev/edge.yaml:8"),
            "remove the annotation kalypso.io/compliance",
            id="clusters that nobody waits for",
        ),
        pytest.param(
            "main/registration.yaml", "https://git", "https://bob:hunter2@git",
            ("repository-url-secret", "main/registration.yaml:6"), "revoke it",
            id="a password in a URL",
        ),
        pytest.param(
            "main/registration.yaml", "https://git.test/app", "git.test/acme/app",
            ("repository-url-invalid", "main/registration.yaml:6"), "begin it with https://",
            id="a URL without a scheme",
        ),
        pytest.param(
            "dev/gitops-repo.yaml", "branch: dev", "branch: refs/heads/dev",
            ("branch-name-invalid", "dev/gitops-repo.yaml:4"), "write dev",
            id="GitOpsRepo with the full name of a branch",
        ),
        pytest.param(
            "dev/gitops-repo.yaml", "branch: dev", "branch: 'dev '",
            ("branch-name-invalid", "dev/gitops-repo.yaml:4"), "write dev",
            id="a space behind a branch",
        ),
        pytest.param(
            "main/registration.yaml", "branch: main", "branch: origin/main",
            ("branch-name-invalid", "main/registration.yaml:6"), "write main",
            id="registered branch of a remote",
        ),
        pytest.param(
            "app/workload.yaml", "deploymentTargets:",
            "deploymentTargets:\n    - name: other\n      environment: dev\n      labels: {purpose: test}\n"
            "      manifests: {repo: r, branch: origin/main, path: p}",
            ("branch-name-invalid", "app/workload.yaml:10"), "write main",
            id="branch of a remote with manifests",
        ),
        pytest.param(
            "app/workload.yaml", "boards\nspec:\n  deploymentTargets:",
            "boards\n  labels: {ring: stable}\nspec:\n  deploymentTargets:\n    - {name: x, environment: dev, "
            "labels: {ring: canary, purpose: test}, manifests: {repo: r}}",
            ("target-label-replaced", "app/workload.yaml:8"), "remove ring from the Workload's",
            id="label of a target that the Workload replaces",
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


def test_a_folder_beside_an_application_on_its_branch() -> None:
    plane = edited(sound(), "main/registration.yaml", "path: .}", "path: boards}")
    for name in ("dev", "stage"):
        old, new = f"gitops, branch: {name}, path: .", f"app, branch: main, path: clusters/{name}"
        plane = edited(plane, f"{name}/gitops-repo.yaml", old, new)
    assert findings(plane).warnings == []


@pytest.mark.parametrize(
    ("place", "old", "new", "expected", "said"),
    [
        pytest.param(
            "dev/gitops-repo.yaml", "branch: dev", "branch: stage",
            ("gitops-repo-shared", "dev/gitops-repo.yaml:4"), "write branch: dev",
            id="the first of two environments names the branch of the second",
        ),
        pytest.param(
            "stage/gitops-repo.yaml", "branch: stage", "branch: dev",
            ("gitops-repo-shared", "stage/gitops-repo.yaml:4"), "write branch: stage",
            id="the second of two environments names the branch of the first",
        ),
        pytest.param(
            "dev/gitops-repo.yaml", "https://git.test/gitops", "git@git.test:plane.git",
            ("gitops-repo-in-control-plane", "dev/gitops-repo.yaml:4"), "name the GitOps repository",
            id="branch of the environment in the control plane",
        ),
        pytest.param(
            "dev/gitops-repo.yaml", "gitops, branch: dev", "plane, branch: stage",
            ("gitops-repo-in-control-plane", "dev/gitops-repo.yaml:4"), "neither main nor",
            id="branch of another environment in the control plane",
        ),
        pytest.param(
            "dev/gitops-repo.yaml", "path: .", "path: ../out",
            ("path-outside-repository", "dev/gitops-repo.yaml:4"), "write a path in it",
            id="a path that leads out",
        ),
        pytest.param(
            "dev/gitops-repo.yaml", "gitops, branch: dev, path: .", "plane, branch: main, path: out",
            ("gitops-repo-in-control-plane", "dev/gitops-repo.yaml:4"), "neither main nor",
            id="main of the control plane",
        ),
    ],
)  # fmt: skip
def test_manifests_in_a_wrong_place_are_one_problem(
    place: str, old: str, new: str, expected: tuple[str, str], said: str
) -> None:
    diagnostics = findings(edited(sound(), place, old, new))
    assert shown(diagnostics.problems) == [expected]
    assert said in diagnostics.problems[0].advice
    assert diagnostics.warnings == []


@pytest.mark.parametrize("has_repo", [True, False])
def test_two_environments_of_one_branch_are_a_problem_if_it_has_a_gitops_repo(
    has_repo: bool,
) -> None:
    plane = edited(sound(), "main/dev.yaml", "branch: dev", "branch: stage")
    if not has_repo:
        del plane["stage"]["gitops-repo.yaml"]
    diagnostics = findings(plane)
    told = diagnostics.problems if has_repo else diagnostics.warnings
    expected = [("environment-branch-shared", "main/stage.yaml:4")]
    assert shown([item for item in told if item.code == expected[0][0]]) == expected
    assert "gitops-repo-shared" not in {item.code for item in diagnostics.problems}


@pytest.mark.parametrize(
    ("paths", "expected"),
    [
        ((".", "stage"), ["stage/gitops-repo.yaml:4"]),
        (("all/dev", "./all"), ["dev/gitops-repo.yaml:4"]),
        (("all", "alls"), []),
        (("all/dev", "all/stage"), []),
    ],
)
def test_a_tree_in_the_folder_of_another_is_a_warning(
    paths: tuple[str, str], expected: list[str]
) -> None:
    plane = sound()
    for name, path in zip(("dev", "stage"), paths, strict=True):
        file = f"{name}/gitops-repo.yaml"
        plane = edited(plane, file, f"branch: {name}, path: .", f"branch: all, path: {path}")
    diagnostics = findings(plane)
    assert shown(diagnostics.warnings) == [("gitops-repo-nested", place) for place in expected]
    assert diagnostics.problems == []


def test_kinds_on_the_wrong_branch() -> None:
    plane = sound()
    plane["main"] |= {name: plane["dev"].pop(name) for name in ("policy.yaml", "edge.yaml")}
    for name in ("policy.yaml", "edge.yaml"):
        del plane["stage"][name]
    plane["dev"]["qa.yaml"] = environment("qa")
    diagnostics = findings(plane)
    assert diagnostics.problems == []
    assert shown(diagnostics.warnings) == [
        ("policy-on-main", "main/policy.yaml:1"),
        ("environment-misplaced", "dev/qa.yaml:1"),
    ]
    assert shown(diagnostics.notes) == [("cluster-type-on-main", "main/edge.yaml:1")]


def test_an_environment_on_its_own_branch_is_told_there_alone() -> None:
    plane = sound() | {"qa": {**sound()["dev"], "qa.yaml": environment("qa")}}
    plane = edited(plane, "qa/gitops-repo.yaml", "branch: dev", "branch: qa")
    diagnostics = findings(plane)
    assert diagnostics.problems == []
    assert shown(diagnostics.warnings) == [("environment-misplaced", "qa/qa.yaml:1")]


@breaks(
    "a copy of main on an environment's branch is told", returning(_merged_into_environment, None)
)
def test_main_is_merged_into_the_branch_of_an_environment() -> None:
    plane = sound()
    (finding,) = findings({**plane, "dev": plane["dev"] | plane["main"]}).warnings
    assert shown([finding]) == [("branch-merged", "dev/templates.yaml:2")]
    assert "Templates and configuration of dev stay as they are" in finding.message
    assert "or it was made from main" in finding.message
    assert (
        "git rm -r --ignore-unmatch .environments templates.yaml registration.yaml;"
        in finding.advice
    )
    assert "after a merge alone, git revert -m 1" in finding.advice


def test_paths_in_a_command_are_quoted() -> None:
    plane = sound()
    plane["main"]["a; rm -rf ~.yaml"] = plane["main"].pop("templates.yaml")
    (finding,) = findings({**plane, "dev": plane["dev"] | plane["main"]}).warnings
    assert " 'a; rm -rf ~.yaml'" in finding.advice


def test_who_overrides_some_documents_of_main_means_it() -> None:
    plane = sound()
    plane["main"]["config.yaml"] = plane["dev"]["config.yaml"]
    plane["main"]["schema.yaml"] = plane["dev"]["schema.yaml"]
    del plane["stage"]["config.yaml"], plane["stage"]["schema.yaml"]
    plane["main"] = edited(plane, "main/config.yaml", "  REGION", "  ZONE: a\n  REGION")["main"]
    schema, config = sorted(findings(plane).warnings, key=lambda each: bool(each.advice))
    assert (schema.code, config.code) == ("object-overridden", "object-overridden")
    assert config.message.endswith("the environment branch wins, without ZONE of main")
    assert config.advice == "rename it to change single values: layers are merged"


def test_the_branch_of_an_environment_is_merged_into_main() -> None:
    plane = sound()
    merged = findings({**plane, "main": plane["main"] | plane["dev"]})
    (finding,) = merged.problems
    assert shown([finding]) == [("branch-merged", "main/gitops-repo.yaml:1")]
    assert "git rm base-repo.yaml gitops-repo.yaml edge.yaml" in finding.advice
    assert (merged.warnings, merged.notes) == ([], [])


def test_the_branch_of_the_only_environment_is_merged_into_main() -> None:
    """What passes stays passing: nobody else writes to the tree of this environment."""
    plane = sound()
    del plane["stage"], plane["main"]["stage.yaml"]
    plane = edited(plane, "main/dev.yaml", 'kalypso.io/next-environment: "stage", ', "")
    merged = findings({**plane, "main": plane["main"] | plane["dev"]})
    assert merged.problems == []
    assert "branch-merged" in [item.code for item in merged.warnings]


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


def test_a_copied_gitops_repo_names_its_own_branch() -> None:
    plane = edited(sound(), "stage/gitops-repo.yaml", "branch: stage", "branch: dev")

    def of_one_repository(name: str) -> Reading:
        read = reading(name, plane[name])
        documents = tuple(
            dataclasses.replace(
                each, where=dataclasses.replace(each.where, repository="plane", branch=name)
            )
            for each in read.documents
        )
        return dataclasses.replace(read, documents=documents)

    readings = [of_one_repository(name) for name in plane if name != "app"]
    app = {APP: RegisteredReading(reading("app", plane["app"]))}
    (found,) = of_level(validate_control_plane(readings, app, PlanOptions()), "error")
    assert (found.code, found.where and found.where.branch) == ("gitops-repo-shared", "stage")
    assert found.advice == "write branch: stage, or give each environment a path of its own"


def test_a_gitops_repo_on_main_hides_nothing() -> None:
    plane = sound()
    plane["main"]["gitops-repo.yaml"] = plane["dev"].pop("gitops-repo.yaml")
    plane = edited(plane, "dev/policy.yaml", "size: edge", "size: egde")
    diagnostics = findings(plane)
    assert shown(diagnostics.problems) == [
        ("gitops-repo-missing", "https://git.test/plane/:0"),
        ("gitops-repo-shared", "main/gitops-repo.yaml:4"),
    ]
    assert "move it from main" in diagnostics.problems[1].advice
    assert shown(diagnostics.warnings) == [("policy-without-cluster-types", "dev/policy.yaml:14")]


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


def test_a_missing_template_is_one_problem_of_its_cluster_types() -> None:
    plane = edited(sound(), "main/templates.yaml", "name: flux", "name: argo")
    for name in ("fog", "mist"):
        plane["dev"][f"{name}.yaml"] = plane["dev"]["edge.yaml"].replace(
            "name: edge", f"name: {name}"
        )
    of_dev, of_stage = findings(plane).problems
    assert shown([of_dev, of_stage]) == [
        ("template-missing", "dev/edge.yaml:9"),
        ("template-missing", "stage/edge.yaml:9"),
    ]
    assert of_dev.message.endswith("does not exist (the same for 2 other ClusterTypes)")
    assert of_stage.message.endswith("does not exist")


def test_the_same_error_on_two_branches_is_told_twice() -> None:
    errors = [
        Problem(
            "it is wrong", Location(".", "base-repo.yaml", 5, branch=name), code="field-invalid"
        )
        for name in ("dev", "stage", "dev")
    ]
    assert [item.where and item.where.branch for item in settled(errors, ())] == ["dev", "stage"]


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


@pytest.mark.parametrize("schema", ['{"type": "interger"}', '{"type": "object",}'])
def test_a_broken_schema_is_told_once(schema: str) -> None:
    plane = sound()
    text = plane["dev"]["schema.yaml"]
    start = text.index("schema: ")
    plane["dev"]["schema.yaml"] = text[:start] + f"schema: '{schema}'\n"
    assert [item.code for item in findings(plane).problems] == ["schema-invalid"]


def test_a_gitops_repo_that_is_left_out_is_told_where_it_stands_alone() -> None:
    plane = sound()
    plane["dev"].pop("gitops-repo.yaml")
    hidden = Problem(
        "no kustomization includes this file: GitOpsRepo 'dev' has no effect",
        Location("dev", "gitops-repo.yaml", 1),
        "add the file to the resources",
        "document-ignored",
    )
    readings = [reading(name, files) for name, files in plane.items() if name != "app"]
    readings = [
        dataclasses.replace(item, warnings=(hidden,)) if item.revision.branch == "dev" else item
        for item in readings
    ]
    app = {APP: RegisteredReading(reading("app", plane["app"]))}
    (found,) = validate_control_plane(readings, app, PlanOptions())
    assert shown([found]) == [("gitops-repo-missing", "dev/gitops-repo.yaml:1")]
    assert (found.level, found.advice) == ("error", hidden.advice)


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        pytest.param(
            "name: boards", "name: boards\n  labels: {workspace: other}", "app/workload.yaml:5",
            id="of the Workload",
        ),
        pytest.param(
            "environment: dev\n    labels:\n", "environment: dev\n    labels:\n        workload: other\n",
            "app/workload.yaml:10", id="of a target",
        ),
        pytest.param("name: boards", "name: boards\n  labels: {workspace: team}", "", id="the same value"),
    ],
)  # fmt: skip
def test_reserved_labels_have_notes(old: str, new: str, expected: str) -> None:
    text = sound()["app"]["workload.yaml"]
    indented = old.replace("    labels", "      labels"), new.replace("    labels", "      labels")
    assert text.count(indented[0]) == 1
    plane = edited(sound(), "app/workload.yaml", *indented)
    found = [item for item in shown(findings(plane).notes) if item[0] == "target-label-replaced"]
    assert found == ([("target-label-replaced", expected)] if expected else [])
