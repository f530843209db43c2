"""Each kind of finding: the documents that have it, its place, and the advice."""

from __future__ import annotations

from typing import Any

import pytest

from kalypso_actions.errors import Finding, Location
from kalypso_actions.planning.fleet_checks import FleetView
from kalypso_actions.planning.fleet_checks.documents import renamed_cluster_types
from kalypso_actions.planning.merged_findings import with_broken_schemas
from tests.breaks import breaks, returning, turned
from tests.planning.fleet_checks.control_planes import edited, environment, findings, shown, sound

BASE_REPO = sound()["dev"]["base-repo.yaml"]


def test_a_sound_control_plane_has_no_findings() -> None:
    diagnostics = findings(sound())
    assert (diagnostics.problems, diagnostics.warnings, diagnostics.notes) == ([], [], [])


@pytest.mark.parametrize(
    ("place", "old", "new", "code", "where", "said"),
    [
        pytest.param("dev/policy.yaml", "size: edge", "size: egde", "policy-without-cluster-types", "dev/policy.yaml:14", "did you mean size: edge?", id="cluster type's value"),
        pytest.param("dev/policy.yaml", "size: edge", "siez: edge", "policy-without-cluster-types", "dev/policy.yaml:14", "did you mean the label size?", id="cluster type's label"),
        pytest.param("dev/edge.yaml", "size: edge", "size:", "policy-without-cluster-types", "dev/policy.yaml:14", "a cluster type has the label size, but it is empty there", id="cluster type's empty label"),
        pytest.param("dev/policy.yaml", "size: edge", "tier: edge", "policy-without-cluster-types", "dev/policy.yaml:14", "did you mean the label size?", id="label of the same value"),
        pytest.param("dev/policy.yaml", "workspace: team", "workspace: taem", "policy-workspace-unknown", "dev/policy.yaml:7", "did you mean team? Workspaces: team", id="workspace"),
        pytest.param("dev/edge.yaml", "reconciler: flux", "reconciler: map", "template-type-wrong", "dev/edge.yaml:9", "Templates of type reconciler: flux", id="type of the reconciler"),
        pytest.param("main/templates.yaml", "type: namespace", "type: reconciler", "template-type-wrong", "main/templates.yaml:18", "write type: namespace, or add", id="type of the only Template"),
        pytest.param("dev/edge.yaml", "configType: map", "configType: space", "template-type-wrong", "dev/edge.yaml:11", "Templates of type config: map", id="type of the configuration"),
        pytest.param("dev/config.yaml", "region: west", "region: wets", "config-unmatched", "dev/config.yaml:7", "did you mean region: west?", id="ConfigMap's label"),
        pytest.param("dev/config.yaml", "region: west", "cluster-type: egde", "config-unmatched", "dev/config.yaml:7", "did you mean cluster-type: edge?", id="ConfigMap's cluster type"),
        pytest.param("dev/config.yaml", "data:\n  REGION", "---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: azure-app-config-1}\ndata:\n  region.west.OTHER: x\n  region.wets.REGION", "config-unmatched", "dev/config.yaml:14", "did you mean region: west?", id="label of an Azure key"),
        pytest.param("dev/config.yaml", '"true"', '"True"', "config-label-wrong", "dev/config.yaml:6", 'write platform-config: "true"', id="value of platform-config"),
        pytest.param("dev/config.yaml", '    platform-config: "true"\n', "", "config-label-missing", "dev/config.yaml:1", 'add the label platform-config: "true"', id="no platform-config"),
        pytest.param("main/templates.yaml", "type: config\n", "type: config\n  contentType: bash\n", "content-type-unknown", "main/templates.yaml:29", "write sh", id="content type"),
        pytest.param("dev/config.yaml", "platform-config", "platform_config", "config-label-wrong", "dev/config.yaml:6", 'write platform-config: "true"', id="platform_config"),
        pytest.param("dev/config.yaml", "platform-config", "plattform-config", "config-label-wrong", "dev/config.yaml:6", 'write platform-config: "true"', id="plattform-config"),
        pytest.param("dev/schema.yaml", "cluster-type: edge", "cluster-type: egde", "schema-unmatched", "dev/schema.yaml:6", "did you mean cluster-type: edge?", id="schema's label"),
        pytest.param("dev/schema.yaml", '{"type": "object"}', '{"properties": {"requierd": {"minLenght": 1}}}', "schema-keyword-unknown", "dev/schema.yaml:8", "did you mean minLength?", id="keyword of a schema"),
        pytest.param("dev/schema.yaml", '{"type": "object"}', '{"x-note": 1, "unevaluatedProperties": false}', "schema-keyword-unknown", "dev/schema.yaml:8", "a later draft", id="keyword of a later draft"),
        pytest.param("app/workload.yaml", "  deploymentTargets:", "  configSchemas: ['{\"requierd\": [\"A\"]}']\n  deploymentTargets:", "schema-keyword-unknown", "app/workload.yaml:6", "did you mean required?", id="keyword of a target's schema"),
        pytest.param("main/registration.yaml", "  workspace: team\n", "", "registration-without-workspace", "main/registration.yaml:5", "add spec.workspace; policies ask for team", id="no workspace"),
        pytest.param("main/templates.yaml", "space\nspec:\n  type: namespace\n  manifests:\n    - 'namespace: {{ .Namespace }}", "space\nspec:\n  type: namespace\n  manifests:\n    - 'namespace: {{ .Manifests.brnch }}", "template-field-unknown", "main/templates.yaml:20", "did you mean .Manifests.branch?", id="key of manifests"),
        pytest.param("app/workload.yaml", "environment: dev", "environment: devv", "target-environment-unknown", "app/workload.yaml:8", "did you mean dev? Environments: dev, stage", id="target's environment"),
    ],
)  # fmt: skip
def test_warnings(place: str, old: str, new: str, code: str, where: str, said: str) -> None:
    diagnostics = findings(edited(sound(), place, old, new))
    (warning,) = [item for item in diagnostics.warnings if item.code == code]
    assert shown([warning]) == [(code, where)]
    assert said in warning.advice
    assert diagnostics.problems == []


@pytest.mark.parametrize(
    ("place", "old", "new", "marked"),
    [
        pytest.param("dev/policy.yaml", "size: edge", "size: egde", "egde", id="value"),
        pytest.param("dev/policy.yaml", "size: edge", "siez: edge", "siez", id="label"),
        pytest.param("dev/policy.yaml", "workspace: team", "workspace: taem", "taem", id="field"),
        pytest.param("dev/config.yaml", "region: west", "region: wets", "wets", id="config"),
        pytest.param("dev/config.yaml", "region: west", "regin: west", "regin", id="config's key"),
        pytest.param("dev/config.yaml", '"true"', '"True"', '"True"', id="platform-config"),
    ],
)
def test_the_column_is_that_of_the_fault(place: str, old: str, new: str, marked: str) -> None:
    plane = edited(sound(), place, old, new)
    (where,) = [item.where for item in findings(plane).warnings if item.where]
    folder, _, file = place.partition("/")
    line = plane[folder][file].splitlines()[where.line - 1]
    assert line[where.column - 1 :].startswith(marked)


def test_a_workspace_of_another_environment() -> None:
    plane = sound()
    plane["dev"]["registration.yaml"] = plane["main"].pop("registration.yaml")
    (warning,) = findings(plane).warnings
    assert shown([warning]) == [("policy-workspace-unknown", "stage/policy.yaml:7")]
    assert warning.advice.startswith(
        "the WorkloadRegistration 'app' is on the branch of dev alone (registration.yaml): move it to"
    )


@pytest.mark.parametrize(
    ("place", "old", "new", "warnings"),
    [
        pytest.param(
            "dev/policy.yaml", "purpose: test", "purpose: tset",
            [("policy-without-targets", "dev/policy.yaml:10")],
            id="policy's label of targets",
        ),
        pytest.param(
            "app/workload.yaml", "dev\n      labels:\n        purpose: test", "dev\n      labels:\n        purpose: tset",
            [("target-unselected", "app/workload.yaml:7")],
            id="target's label",
        ),
        pytest.param(
            "dev/policy.yaml", "workspace: team", "workspace: taem",
            [("policy-workspace-unknown", "dev/policy.yaml:7")],
            id="policy's workspace",
        ),
        pytest.param(
            "main/registration.yaml", "  workspace: team\n", "",
            [("registration-without-workspace", "main/registration.yaml:5")],
            id="registration without workspace",
        ),
    ],
)  # fmt: skip
def test_all_that_follows_from_one_mistake(
    place: str, old: str, new: str, warnings: list[tuple[str, str]]
) -> None:
    diagnostics = findings(edited(sound(), place, old, new))
    assert (shown(diagnostics.warnings), diagnostics.problems) == (warnings, [])


def test_unselected_targets_of_a_workload_are_one_warning() -> None:
    plane = sound()
    plane["app"]["workload.yaml"] = plane["app"]["workload.yaml"].replace(
        "test\n      man", "x\n      man"
    )
    (warning,) = [item for item in findings(plane).warnings if item.code == "target-unselected"]
    assert "'boards-test' in dev, 'boards-trial' in stage" in warning.message
    assert warning.advice == ("SchedulingPolicy 'tests' asks for purpose = test; the target has x")


def test_equal_policies_are_a_warning() -> None:
    plane = sound()
    policy = plane["dev"]["policy.yaml"]
    plane["dev"]["again.yaml"] = policy.replace("name: tests", "name: again")
    (warning,) = findings(plane).warnings
    assert shown([warning]) == [("policies-equal", "dev/policy.yaml:4")]
    assert "selects the same as 'again' in dev: again.yaml:1" in warning.message


def test_the_later_one_of_two_equal_policies_is_reported() -> None:
    plane = sound()
    policy = plane["dev"]["policy.yaml"]
    plane["dev"]["policy.yaml"] = f"{policy}---\n{policy.replace('name: tests', 'name: again')}"
    (warning,) = findings(plane).warnings
    assert shown([warning]) == [("policies-equal", "dev/policy.yaml:19")]
    assert warning.message.startswith("SchedulingPolicy 'again' selects the same as 'tests'")


def test_a_target_that_an_invalid_policy_may_select_is_not_reported() -> None:
    plane = edited(sound(), "dev/policy.yaml", "purpose: test", "purpose: -test")
    diagnostics = findings(plane)
    assert shown(diagnostics.problems) == [("selector-invalid", "dev/policy.yaml:10")]
    assert diagnostics.warnings == []


def test_a_field_that_writes_no_value_is_one_warning() -> None:
    plane = edited(
        sound(),
        "main/templates.yaml",
        "flux\nspec:\n  type: reconciler\n  manifests:\n    - 'namespace: {{ .Namespace }}'",
        "flux\nspec:\n  type: reconciler\n  manifests:\n    - 'path: {{ .Manifests.pth }}'",
    )
    (warning,) = findings(plane).warnings
    assert shown([warning]) == [("template-field-unknown", "main/templates.yaml:10")]


def test_missing_values_are_an_error_if_wanted() -> None:
    old = "flux\nspec:\n  type: reconciler\n  manifests:\n    - 'namespace: {{ .Namespace }}'"
    plane = edited(sound(), "main/templates.yaml", old, old.replace("Namesp", "ConfigData.Namesp"))
    assert [item.code for item in findings(plane).warnings] == ["template-key-unset"]
    diagnostics = findings(plane, missing_values="error")
    assert ([i.code for i in diagnostics.problems], diagnostics.warnings) == (
        ["template-key-unset"],
        [],
    )


def test_long_lists_are_cut() -> None:
    plane = edited(sound(), "app/workload.yaml", "environment: dev", "environment: devv")
    for number in range(12):
        plane["main"][f"more{number}.yaml"] = environment(f"region{number}")
    (warning,) = [i for i in findings(plane).warnings if i.code == "target-environment-unknown"]
    assert "region3, region4 and 6 more; the Workload's" in warning.advice


def test_a_cluster_type_without_policies_is_a_note() -> None:
    plane = sound()
    edge = plane["dev"]["edge.yaml"]
    plane["dev"]["large.yaml"] = edge.replace("edge", "large")
    diagnostics = findings(plane)
    assert (shown(diagnostics.notes), diagnostics.warnings) == (
        [("cluster-type-unselected", "dev/large.yaml:1")],
        [],
    )


def test_a_policy_for_targets_of_other_environments_is_a_note() -> None:
    plane = edited(sound(), "app/workload.yaml", "environment: dev", "environment: stage")
    diagnostics = findings(edited(plane, "app/workload.yaml", "name: test", "name: attempt"))
    assert (shown(diagnostics.notes), diagnostics.warnings) == (
        [("policy-without-targets", "dev/policy.yaml:8")],
        [],
    )


def test_environments_of_other_control_planes_are_named_at_the_workload() -> None:
    plane = edited(sound(), "app/workload.yaml", "environment: dev", "environment: prod-eu")
    annotated = edited(
        plane,
        "app/workload.yaml",
        "  name: boards\n",
        "  name: boards\n  annotations: {kalypso.io/foreign-environments: 'prod-us, prod-eu'}\n",
    )
    code = "target-environment-unknown"
    assert code in [item.code for item in findings(plane).warnings]
    assert code not in [item.code for item in findings(annotated).warnings]


def test_a_type_that_kubernetes_refuses_is_a_problem() -> None:
    plane = edited(sound(), "main/templates.yaml", "type: config", "type: configmap")
    diagnostics = findings(plane)
    assert shown(diagnostics.problems) == [("template-type-unknown", "main/templates.yaml:28")]
    assert diagnostics.problems[0].advice == (
        "did you mean config? Types: reconciler, namespace, config"
    )
    assert diagnostics.warnings == []


def test_labels_that_exist_apart_are_not_enough() -> None:
    plane = sound()
    plane["dev"]["large.yaml"] = (
        plane["dev"]["edge.yaml"].replace("edge", "large").replace("west", "east")
    )
    plane["dev"]["policy.yaml"] = (
        plane["dev"]["policy.yaml"]
        .replace("size: edge\n", "size: edge\n        region: east\n")
        .replace("        region: east", "        region: east")
    )
    (warning,) = findings(plane).warnings
    assert warning.code == "policy-without-cluster-types"
    assert "no cluster type has all of region = east, size = edge" in warning.message
    label = plane["dev"]["large.yaml"].replace("size: large", "szie: edge")
    plane["dev"]["large.yaml"] = label
    (warning,) = [item for item in findings(plane).warnings if item.code == warning.code]
    assert warning.advice.startswith("a cluster type has szie: edge: did you mean size there?")


FIELD = "space\nspec:\n  type: namespace\n  manifests:\n    - 'namespace: {{ .Namespace }}"


def test_a_template_that_fails_is_a_problem_with_the_nearest_field() -> None:
    plane = edited(sound(), "main/templates.yaml", FIELD, FIELD.replace("Namesp", "Namsp"))
    diagnostics = findings(plane)
    (problem,) = diagnostics.problems
    assert shown([problem]) == [("template-failed", "main/templates.yaml:20")]
    assert problem.message == (
        "boards-test on edge: Template 'space' fails: no assignment has the field .Namspace"
    )
    suggestion, _, engine = problem.advice.partition("\n")
    assert (suggestion, diagnostics.warnings) == ("did you mean .Namespace?", [])
    assert engine.startswith("template: template:1:14: executing")


def test_the_field_of_a_template_that_nothing_uses_is_a_warning() -> None:
    plane = edited(sound(), "main/templates.yaml", FIELD, FIELD.replace("Namesp", "Namsp"))
    for name in ("dev", "stage"):
        plane[name]["edge.yaml"] = plane[name]["edge.yaml"].replace("vice: space", "vice: other")
    plane["main"]["other.yaml"] = (
        plane["main"]["templates.yaml"]
        .replace("name: space", "name: other")
        .replace("Namsp", "Namesp")
        .replace("name: flux", "name: x1")
        .replace("name: map", "name: x2")
    )
    diagnostics = findings(plane)
    assert shown(diagnostics.warnings) == [("template-field-unknown", "main/templates.yaml:20")]
    assert diagnostics.problems == []


KEY = "ConfigData.REGOIN | quote"


@pytest.mark.parametrize("missing", ["Manifests.image", "Labels.team"])
def test_a_missing_value_is_a_warning(missing: str) -> None:
    plane = edited(sound(), "main/templates.yaml", FIELD, FIELD.replace("Namespace", missing))
    (warning,) = findings(plane).warnings
    assert shown([warning]) == [("template-no-value", "main/templates.yaml:20")]
    assert (
        f"'{{{{ .{missing} }}}}' writes '<no value>' into 2 files (boards-test" in warning.message
    )


def test_a_key_that_no_layer_sets_is_one_warning_for_all_environments() -> None:
    plane = edited(sound(), "main/templates.yaml", FIELD, FIELD.replace("Namespace", KEY))
    (warning,) = findings(plane).warnings
    assert shown([warning]) == [("template-key-unset", "main/templates.yaml:20")]
    assert warning.message == (
        "no layer sets .ConfigData.REGOIN, which Template 'space' reads, for 2 assignments "
        "(boards-test on edge and 1 more)"
    )
    assert warning.advice.startswith("did you mean REGION? Otherwise set the key")


def test_a_configuration_that_a_schema_refuses_is_a_problem() -> None:
    plane = edited(sound(), "dev/schema.yaml", '{"type": "object"}', '{"required": ["TIMEOUT"]}')
    (problem,) = findings(plane).problems
    assert problem.code == "config-refused"
    assert "TIMEOUT is required" in problem.message


@breaks(
    "a broken ConfigSchema is told for each assignment, too",
    turned(with_broken_schemas, "item.where not in faults", "True"),
)
def test_a_broken_schema_is_told_instead_of_what_follows() -> None:
    where = Location("main", "schema.yaml", 3)
    fault = Finding("ConfigSchema 'a': no JSON", where, code="schema-invalid", level="warning")
    text = "web on large: Config data validation failed: no JSON"
    failed = Finding(text, where, code="schema-invalid", scope="assignment")
    (told,) = with_broken_schemas([failed, fault])
    assert (told.message, told.level, told.scope) == (fault.message, "error", "assignment")


SHARED: dict[str, Any] = {
    "policy.yaml": "policy-without-cluster-types",
    "config.yaml": "config-unmatched",
    "schema.yaml": "schema-unmatched",
}


@pytest.mark.parametrize(("file", "code"), SHARED.items(), ids=list(SHARED))
def test_mains_objects_are_judged_over_all_environments(file: str, code: str) -> None:
    plane = sound()
    plane["main"][f"shared-{file}"] = (
        plane["dev"][file]
        .replace("name: tests", "name: shared")
        .replace("name: region", "name: shared")
        .replace("size: edge", "size: large")
        .replace("region: west", "region: east")
        .replace("cluster-type: edge", "cluster-type: large")
    )
    assert code in [item.code for item in findings(plane).warnings]
    large = plane["stage"]["edge.yaml"].replace("edge", "large").replace("west", "east")
    plane["stage"]["large.yaml"] = large
    assert code not in [item.code for item in findings(plane).warnings]
    unreadable = {**plane, "stage": {"faulty.yaml": "kind: [\n"}}
    assert code not in [item.code for item in findings(unreadable).warnings]
    without_stage = {name: files for name, files in plane.items() if name != "stage"}
    assert code not in [item.code for item in findings(without_stage).warnings]


@breaks(
    "a cluster type that one environment has renamed is no note",
    returning(renamed_cluster_types, ()),
)
def test_a_cluster_type_that_one_environment_has_renamed() -> None:
    """A note, if the name is similar, no environment has both, and nothing else names the new."""
    plane = sound()
    of_edge = plane["dev"]["config.yaml"].replace("name: region", "name: edge")
    plane["main"]["edge.yaml"] = of_edge.replace("region: west", "cluster-type: edge")
    del plane["dev"]["schema.yaml"]
    assert findings(plane).notes == []
    renamed = edited(plane, "dev/edge.yaml", "name: edge", "name: edging")
    diagnostics = findings(renamed)
    assert (diagnostics.warnings, diagnostics.problems) == ([], [])
    assert shown(diagnostics.notes) == [("config-unmatched", "main/edge.yaml:7")]
    assert diagnostics.notes[0].message == (
        "ConfigMap 'edge' applies to nothing in dev: no cluster type or target there has "
        "cluster-type = edge, but one has cluster-type = edging"
    )
    assert "if edging is the new name of edge, add" in diagnostics.notes[0].advice
    another = edited(plane, "dev/edge.yaml", "name: edge", "name: large")
    both = {**renamed, "stage": {**renamed["stage"], "edging.yaml": renamed["dev"]["edge.yaml"]}}
    new = plane["main"]["edge.yaml"].replace("edge", "edging")
    named = {**renamed, "main": {**renamed["main"], "edging.yaml": new}}
    for silent in (another, both, named):
        assert "config-unmatched" not in [item.code for item in findings(silent).notes]
    everywhere = edited(renamed, "stage/edge.yaml", "name: edge", "name: edging")
    (warning,) = [w for w in findings(everywhere).warnings if w.code == "config-unmatched"]
    assert "did you mean cluster-type: edging?" in warning.advice


@breaks(
    "an environment that was not read is named",
    turned(FleetView.unjudged, "self.unread.values()", "()"),
)
@pytest.mark.parametrize(
    ("stage", "reason"),
    [
        (None, "the branch was not read"),
        (BASE_REPO.replace("name: main", "name: extra"), "a base repository was not read"),
    ],
    ids=["no branch", "no base repository"],
)
def test_an_environment_that_was_not_read(stage: str | None, reason: str) -> None:
    plane = sound()
    if stage is None:
        del plane["stage"]
    else:
        plane["stage"]["extra.yaml"] = stage
    diagnostics = findings(plane)
    (note,) = [item for item in diagnostics.notes if item.code == "environment-unjudged"]
    assert note.where
    assert (note.where.path, note.message) == (
        "stage.yaml",
        f"what main has for 'stage' is not judged: {reason}",
    )


def test_unread_objects_have_no_findings() -> None:
    plane = edited(sound(), "dev/policy.yaml", "purpose: test", "purpose: tset")
    diagnostics = findings(plane, with_app=False)
    assert (diagnostics.warnings, shown(diagnostics.notes)) == (
        [],
        [("registration-unread", "main/registration.yaml:6")],
    )


@pytest.mark.parametrize(
    ("fault", "line"),
    [
        ("not diagnostics", 7),
        ("the repository does not exist, or the credential may not see it", 7),
        ("there is no such branch", 8),
        ("there is no branch 'mian'", 8),
        ("the folder 'x' does not exist", 9),
    ],
)
def test_a_repository_that_cannot_be_read_leaves_its_application_out(fault: str, line: int) -> None:
    places = "\n    repo: https://git.test/app\n    branch: main\n    path: .\n"
    plane = edited(
        sound(),
        "main/registration.yaml",
        " {repo: https://git.test/app, branch: main, path: .}\n",
        places,
    )
    (problem,) = findings(plane, app_fault=f"https://git.test/app: {fault}").problems
    assert shown([problem]) == [("application-missing", f"main/registration.yaml:{line}")]
    assert f"'app' is missing from the fleet: https://git.test/app: {fault}" in problem.message


def test_a_fault_of_a_registered_document_is_one_problem() -> None:
    diagnostics = findings(
        edited(sound(), "app/workload.yaml", "kind: Workload", "kind: Workloads")
    )
    (problem,) = diagnostics.problems
    assert shown([problem]) == [("kind-unknown", "app/workload.yaml:2")]
    fault = "unknown kind 'Workloads': the fleet lacks its 2 deployment targets"
    assert problem.message == f"registration 'app': {fault}"
    assert (diagnostics.warnings, diagnostics.notes) == ([], [])


@pytest.mark.parametrize("branch", ["main", "dev"])
def test_a_fault_is_not_followed_by_warnings_about_what_it_hides(branch: str) -> None:
    plane = sound()
    plane[branch]["faulty.yaml"] = "kind: [\n"
    del plane["dev"]["edge.yaml"]
    assert findings(plane).warnings == []
