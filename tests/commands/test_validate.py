"""`kalypso validate`: the documents of branches, checked together."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from tests.command_line import call_kalypso, start_kalypso
from tests.git_repositories import commit_branch, git

FLEET = Path(__file__).parents[1] / "golden" / "fleet"


ENVIRONMENT = """\
apiVersion: scheduler.kalypso.io/v1alpha1
kind: Environment
metadata: {{name: {name}}}
spec: {{controlPlane: {{repo: any, branch: {branch}, path: {path}}}}}
"""


@pytest.fixture
def planes(tmp_path: Path) -> Path:
    """A copy of the fixture fleet that a test may break."""
    return Path(shutil.copytree(FLEET, tmp_path / "planes"))


def validate(*places: object) -> tuple[int, dict[str, Any]]:
    done = call_kalypso("validate", *places, "--output", "json")
    assert "Traceback" not in done.stderr
    return done.returncode, json.loads(done.stdout)


def messages(document: dict[str, Any], kind: str = "problems") -> list[str]:
    """Return the messages, without those about the fleet's Templates, which quote nothing."""
    return [item["message"] for item in document[kind] if item["code"] != "template-unquoted"]


def edit(file: Path, old: str, new: str) -> None:
    text = file.read_text()
    assert old in text
    file.write_text(text.replace(old, new))


def test_a_sound_control_plane(planes: Path) -> None:
    code, document = validate(planes / "main", planes / "dev", planes / "stage")
    assert (code, messages(document)) == (0, [])
    assert document["schema"] == "kalypso.validate/v1"
    assert document["documents"] == 32


def test_environments_are_checked_though_main_ignores_them(planes: Path) -> None:
    edit(planes / "main/.environments/dev.yaml", "branch: dev", "branch: 5")
    code, document = validate(planes / "main")
    assert code == 1
    assert "spec.controlPlane.branch must be a text" in messages(document)[0]


@pytest.mark.parametrize(
    ("file", "old", "new", "said"),
    [
        ("main/templates/others.yaml", "{{ .Namespace }}\n        labels", "{{ .Namespace }\n        labels", "Template 'namespace' is invalid: "),
        ("main/templates/others.yaml", "hash .ConfigData", "env \"HOME\"", "env"),
        ("main/shared/common.yaml", '{"type": "object", "req', '{type: "object", "req', "ConfigSchema 'interval': invalid character 't' looking for beginning of object key string"),
        ("dev/policies/all.yaml", "operator: In,", "operator: Within,", "'Within' is not a selector operator"),
        ("dev/cluster-types/all.yaml", "reconciler: fleet", "reconciler: flete", "ClusterType 'edge': reconciler names the Template 'flete', which does not exist"),
        ("main/.environments/dev.yaml", "name: dev\n", "name: dev\n  annotations: {kalypso.io/next-environment: stgae}\n", "did you mean 'stage'? Environments on main: dev, stage"),
        ("dev/cluster-types/all.yaml", "reconciler: fleet", "reconciler: flete", "did you mean 'fleet'?"),
        ("main/.environments/dev.yaml", "kind: Environment", "kind: Enviroment", "unknown kind 'Enviroment' did you mean Environment?"),
        ("dev/cluster-types/all.yaml", "name: lab", "name: ward", "ClusterType 'ward' is already defined in"),
        ("main/.environments/dev.yaml", "name: dev\n", "name: dev\n  annotations: {kalypso.io/next-environment: stgae}\n", "Environment 'dev' names 'stgae' as next, which does not exist"),
    ],
)  # fmt: skip
def test_faults(planes: Path, file: str, old: str, new: str, said: str) -> None:
    edit(planes / file, old, new)
    code, document = validate(planes / "main", planes / "dev")
    assert code == 1
    texts = [f"{entry['message']} {entry['advice']}" for entry in document["problems"]]
    assert said in " ".join(texts)
    assert all(entry["where"]["path"] for entry in document["problems"])


def test_a_missing_template_is_reported_at_its_field(planes: Path) -> None:
    edit(planes / "dev/cluster-types/all.yaml", "reconciler: fleet", "reconciler: flete")
    _, document = validate(planes / "main", planes / "dev")
    (problem,) = document["problems"]
    assert (problem["where"]["line"], problem["where"]["column"]) == (20, 20)


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("kind: Template", "kind: [", "not valid YAML"),
        ("  type: ", "  typ: ", "spec.type is missing"),
        ("kind: Template", "kind: Templates", "unknown kind 'Templates'"),
    ],
    ids=["no YAML", "an invalid Template", "no Template"],
)
def test_the_fault_of_a_template_does_not_make_it_missing(
    planes: Path, old: str, new: str, said: str
) -> None:
    file = planes / "main/templates/others.yaml"
    file.write_text(file.read_text().replace(old, new))
    _, document = validate(planes / "main", planes / "dev")
    assert messages(document)
    assert all(said in message for message in messages(document))


def annotate(main: Path, name: str, next_environment: str) -> None:
    """Name the next environment in an Environment object, on its fifth line."""
    annotation = f"  annotations: {{kalypso.io/next-environment: {next_environment}}}\n"
    edit(main / f".environments/{name}.yaml", f"name: {name}\n", f"name: {name}\n{annotation}")


def test_environments_that_name_each_other_in_a_circle(planes: Path) -> None:
    annotate(planes / "main", "dev", "stage")
    annotate(planes / "main", "stage", "dev")
    code, document = validate(planes / "main")
    assert code == 1
    assert messages(document) == [
        "Environments name each other as next in a circle: "
        "'dev' names 'stage' (.environments/dev.yaml:5), "
        "'stage' names 'dev' (.environments/stage.yaml:5)"
    ]
    (problem,) = document["problems"]
    assert (problem["where"]["path"], problem["where"]["line"]) == (".environments/dev.yaml", 5)


def test_old_copies_of_environments_on_their_branches_do_not_count(planes: Path) -> None:
    shutil.copytree(planes / "main/.environments", planes / "dev/.environments")
    annotate(planes / "dev", "dev", "dev")
    annotate(planes / "main", "dev", "stage")
    code, document = validate(planes / "main", planes / "dev")
    assert (code, messages(document)) == (0, [])
    assert messages(document, "notes") == [
        "3 registered applications not read: what selects them is not checked",
        "no SchedulingPolicy selects the cluster type 'spare'",
        "Template 'flux': 'ne .Environment \"prod\"' compares .Environment with 'prod', which it is "
        "for no assignment",
        "what main has for 'stage' is not judged: the branch was not read",
    ]


def test_an_environment_that_nothing_leads_to_is_a_note(planes: Path) -> None:
    code, document = validate(planes / "main")
    note, unread = [item for item in document["notes"] if item["code"] != "template-unquoted"]
    assert (code, messages(document), messages(document, "warnings")) == (0, [], [])
    assert unread["code"] == "environment-unjudged"
    assert note["message"].startswith("no other Environment names 'stage' as next")
    assert note["where"]["path"] == ".environments/stage.yaml"
    assert "kalypso.io/next-environment: stage" in note["advice"]


def test_a_folder_without_documents_is_a_problem(tmp_path: Path) -> None:
    (tmp_path / "README.md").write_text("Hello\n")
    code, document = validate(tmp_path)
    assert (code, [entry["code"] for entry in document["problems"]]) == (1, ["documents-missing"])


@pytest.mark.parametrize("option", ["--verbose", "--notes", "", "--debug"])
def test_notes_are_counted_and_shown_with_an_option(planes: Path, option: str) -> None:
    # Only a separate process shows the log.
    start = start_kalypso if option in {"--verbose", "--debug"} else call_kalypso
    done = start("validate", planes / "main", *filter(None, [option]))
    assert done.returncode == 0
    lines = done.stdout.splitlines()
    counts = "of 1 branch: 0 problems, 0 warnings, 4 notes"
    shows = option in {"--verbose", "--notes"}
    assert lines[-1].endswith(counts if shows else f"{counts}: --notes shows more")
    assert len(lines) == (19 if shows else 2)
    assert (f"note {planes}/main/.environments/stage.yaml:1:1: " in done.stdout) is shows
    assert "git" not in done.stderr


def test_templates_of_a_branch_that_was_not_given_cannot_be_checked(planes: Path) -> None:
    code, document = validate(planes / "dev")
    assert code == 0
    assert "the Templates of 4 ClusterTypes are not checked" in messages(document, "notes")


def test_a_repository_of_workloads(planes: Path) -> None:
    code, document = validate(planes / "apps/clinic/workload")
    assert (code, messages(document)) == (0, [])
    edit(
        planes / "apps/clinic/workload/clinic.yaml",
        '\'{"required": ["REGION"]}\'',
        "'{\"type\": 5}'",
    )
    code, document = validate(planes / "apps/clinic/workload")
    assert code == 1
    assert messages(document)[0].startswith("configSchemas of 'clinic-web': ")


def test_a_workload_in_a_control_plane(planes: Path) -> None:
    shutil.copy(planes / "apps/archive/workload.yaml", planes / "main/workload.yaml")
    _, document = validate(planes / "main")
    assert messages(document) == ["Workload 'archive' is in a control-plane branch"]


def test_a_bare_repository_is_main_and_its_environments(planes: Path, tmp_path: Path) -> None:
    clone, bare = tmp_path / "clone", tmp_path / "bare.git"
    for branch in ("main", "dev", "stage"):
        folder = planes / branch
        files = {
            str(f.relative_to(folder)): f.read_text() for f in folder.rglob("*") if f.is_file()
        }
        commit_branch(clone, files, branch)
    git(tmp_path, "clone", "-q", "--bare", str(clone), str(bare))
    code, document = validate(bare)
    assert (code, messages(document)) == (0, [])
    assert [source["branch"] for source in document["sources"]] == ["main", "dev", "stage"]
    _, document = validate(f"{clone}@dev")
    assert [source["branch"] for source in document["sources"]] == ["dev"]
    for place in (bare, clone):
        _, document = validate("--control-plane", place)
        assert [source["branch"] for source in document["sources"]] == ["main", "dev", "stage"]


@pytest.mark.parametrize(
    ("other", "said"),
    [
        ("dev", "with --control-plane, neither places nor --workload are possible"),
        ("--workload", "with --control-plane, neither places nor --workload are possible"),
        ("--watch", "--watch follows the files of places, not a --control-plane"),
    ],
)
def test_a_control_plane_is_checked_alone(other: str, said: str) -> None:
    done = call_kalypso("validate", "--control-plane", "acme/control-plane", other)
    assert done.returncode == 2
    assert said in done.stderr


def test_every_branch_that_cannot_be_read_is_reported(planes: Path, tmp_path: Path) -> None:
    files = {
        f"{name}.yaml": ENVIRONMENT.format(name=name, branch=branch, path=path)
        for name, branch, path in (
            ("dev", "dev", "fleet"),
            ("qa", "qa", "."),
            ("prod", "prod", "."),
            ("broken", "5", "."),
        )
    }
    clone, bare = tmp_path / "clone", tmp_path / "bare.git"
    commit_branch(clone, files, "main")
    commit_branch(clone, {"elsewhere.yaml": "not: read", "fleet/a.yaml": "kind: ["}, "dev")
    git(tmp_path, "clone", "-q", "--bare", str(clone), str(bare))
    code, document = validate(bare, "nowhere")
    assert code == 1
    texts = messages(document)
    assert [text.partition(", which is not checked")[0] for text in texts[:2]] == [
        "Environment 'prod' names the branch 'prod'",
        "Environment 'qa' names the branch 'qa'",
    ]
    assert texts[2].startswith("there is no such folder")
    assert texts[3].startswith("Environment 'broken': spec.controlPlane.branch must be a text")
    assert texts[4].startswith("not valid YAML")
    assert len(texts) == 5


def test_a_shadowed_document_is_a_warning(planes: Path) -> None:
    edit(planes / "main/registrations/all.yaml", "name: clinic", "name: main")
    shutil.copy(planes / "main/shared/common.yaml", planes / "dev/common.yaml")
    code, document = validate(planes / "main", planes / "dev")
    warnings = messages(document, "warnings")
    assert code == 0
    assert any("shared/common.yaml:1; the environment branch wins" in text for text in warnings)
    assert any(text.startswith("WorkloadRegistration 'main' has the name of") for text in warnings)


def test_a_clone_is_its_working_tree(tmp_path: Path) -> None:
    clone = tmp_path / "clone"
    commit_branch(clone, {"a.yaml": "# nothing\n"})
    (clone / "a.yaml").write_text("kind: [\n")
    code, _ = validate(clone)
    assert code == 1


def test_values_that_surprise_are_warned_of(planes: Path) -> None:
    edit(planes / "dev/configs/all.yaml", "REGION: North", 'ENDPOINT: "Endpoint: x"')
    code, document = validate(planes / "dev")
    assert code == 0
    assert (
        "ConfigMap 'b-north': ENDPOINT looks like a text, but it is read as a mapping"
        in messages(document, "warnings")
    )


POLICY = """\
apiVersion: kalypso.io/v1alpha1
kind: PromotionPolicy
metadata: {name: stage}
spec: {requires: {deployed: [dev]}}
"""


@pytest.mark.parametrize(
    ("file", "text", "said"),
    [
        (".github/kalypso/promotion.yaml", POLICY, []),
        (".github/kalypso/promotion.yaml", POLICY.replace("[dev]", "[dve]"), ["the PromotionPolicy of 'stage' requires 'dve', which does not exist: nothing enters"]),
        (".github/kalypso/promotion.yaml", POLICY.replace("deployed", "deploid"), ["PromotionPolicy 'stage': unknown field spec.requires.deploid"]),
        (".github/kalypso/promotion.yaml", "{", ["not valid YAML: while parsing a flow node, did not find expected node content"]),
        (".github/kalypso/promotion.yaml", "", ["the file has no PromotionPolicy"]),
        (".github/kalypso/promotions.yaml", POLICY, ["PromotionPolicy 'stage' is not read: the policy is one PromotionPolicy in .github/kalypso/promotion.yaml"]),
        ("promotion.yaml", POLICY, ["nothing reads this PromotionPolicy"]),
    ],
    ids=["sound", "unknown environment", "misspelled field", "no YAML", "empty", "another file", "another folder"],
)  # fmt: skip
def test_the_policy_of_promotion(planes: Path, file: str, text: str, said: list[str]) -> None:
    place = planes / "stage" / file
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_text(text)
    code, document = validate(planes / "main", planes / "dev", planes / "stage")
    assert (code, messages(document)) == (1 if said else 0, said)
