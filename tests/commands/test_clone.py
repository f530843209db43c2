"""render and validate in a clone of a control plane: no option is needed."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from tests.breaks import breaks, returning
from tests.command_line import call_kalypso
from tests.commands.control_plane_clones import (
    API,
    FLEET,
    MAIN,
    URL,
    branch,
    make_clone,
)
from tests.git_repositories import commit_branch, git


@pytest.fixture
def clone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = make_clone(tmp_path)
    monkeypatch.chdir(folder)
    return folder


def test_render_finds_control_plane_environment_and_main(clone: Path) -> None:
    done = call_kalypso("render")
    assert done.returncode == 0, done.stderr + done.stdout
    assert done.stderr == (
        f"Rendering dev: the working tree of {clone}, a clone of https://git.test/acme/control-plane.\n"
    )
    head = git(clone, "rev-list", "--max-parents=0", "origin/main")[:7]
    assert done.stdout.startswith(f'dev has main at {head} "change": main is 2 commits ahead\n')


def test_render_reads_the_working_tree_of_a_folder_below(
    clone: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (clone / "fleet.yaml").write_text(FLEET.replace("name: till", "name: desk"))
    (clone / "below").mkdir()
    monkeypatch.chdir(clone / "below")
    document = json.loads(call_kalypso("render", "--json").stdout)
    assert [entry["deploymentTarget"] for entry in document["assignments"]] == ["desk"]
    assert document["main"]["ahead"] == 2


@pytest.mark.parametrize(
    "arguments",
    [["stage"], ["--environment", "stage"], ["stage", "--environment", "stage"]],
    ids=str,
)
def test_another_environment_is_read_from_its_branch(clone: Path, arguments: list[str]) -> None:
    (clone / "fleet.yaml").unlink()
    done = call_kalypso("render", *arguments)
    assert (done.returncode, "stage has main at" in done.stdout) == (0, True)
    assert done.stderr.startswith("Rendering stage: the branch stage of ")


@pytest.mark.parametrize("revision", ["main", "v2", "origin/main", "SHORT"])
def test_the_commit_of_main_has_a_name(clone: Path, revision: str) -> None:
    head = git(clone, "rev-parse", "origin/main")
    if revision == "origin/main":
        git(clone, "branch", "origin/main", "origin/main")
    document = json.loads(
        call_kalypso(
            "render", "--json", "--base-commit", revision.replace("SHORT", head[:9])
        ).stdout
    )
    assert (document["main"]["commit"], document["main"]["ahead"]) == (head, 0)


def test_an_environment_that_does_not_exist(clone: Path) -> None:
    done = call_kalypso("render", "prod")
    assert done.returncode == 2
    assert "there is no Environment 'prod' on main" in done.stderr
    assert "dev, stage" in done.stderr


def test_main_belongs_to_no_environment(clone: Path) -> None:
    git(clone, "checkout", "--quiet", "main")
    done = call_kalypso("render")
    assert done.returncode == 2
    assert "no environment is named, and main belongs to none" in done.stderr


def test_a_template_that_main_has_already(clone: Path) -> None:
    (clone / "fleet.yaml").write_text(FLEET.replace("reconciler: reconciler", "reconciler: more"))
    done = call_kalypso("render")
    assert done.returncode == 1
    assert "problem fleet.yaml:4:20: ClusterType 'store': " in done.stdout
    assert "main has the Template 'more' now" in done.stdout


def test_validate_reads_all_branches(clone: Path) -> None:
    (clone / "fleet.yaml").write_text(FLEET.replace("reconciler: reconciler", "reconciler: mroe"))
    done = call_kalypso("validate")
    assert done.returncode == 1
    assert done.stderr == (
        "Validating main (the branch main), dev (the working tree), stage (the branch stage) of "
        f"{clone}, a clone of https://git.test/acme/control-plane.\n"
    )
    assert "problem fleet.yaml:4:20: ClusterType 'store': reconciler names" in done.stdout
    assert "did you mean 'more'?" in done.stdout
    assert "dev has main at" in done.stdout


def test_validate_goes_on_without_an_absent_branch(clone: Path) -> None:
    git(clone, "branch", "--quiet", "--delete", "--remotes", "origin/stage")
    done = call_kalypso("validate", "--json")
    (warning,) = json.loads(done.stdout)["warnings"]
    assert (done.returncode, warning["code"]) == (0, "environment-branch-missing")
    assert (warning["where"]["path"], warning["advice"]) == (
        ".environments/stage.yaml",
        "git fetch origin stage",
    )
    assert call_kalypso("validate", "--strict").returncode == 1


@breaks(
    "a branch with another name goes unchecked",
    returning("kalypso_actions.planning.fleet_checks.repositories.branch_fault", ("", "")),
    case="full name",
)
@pytest.mark.parametrize(
    "name",
    ["refs/heads/stage", "origin/stage", '"stage "', "/stage"],
    ids=["full name", "of a remote", "space", "slash"],
)
def test_the_name_of_an_environments_branch(clone: Path, name: str) -> None:
    git(clone, "switch", "--quiet", "main")
    file = clone / ".environments/stage.yaml"
    file.write_text(file.read_text().replace("branch: stage", f"branch: {name}"))
    documents = [
        json.loads(call_kalypso("validate", "--json").stdout),
        json.loads(call_kalypso("render", "stage", "--json").stdout),
    ]
    git(clone, "commit", "--quiet", "-am", "name")
    documents += [
        json.loads(call_kalypso("validate", "--control-plane", str(clone), "--json").stdout),
        json.loads(call_kalypso("render", "--control-plane", str(clone), "stage", "--json").stdout),
    ]
    for document in documents:
        (problem,) = document["problems"]
        assert problem["code"] == "environment-branch-missing"
        assert problem["where"]["path"] == ".environments/stage.yaml"
        assert problem["where"]["line"] > 1
        assert problem["advice"] == "write stage"


@pytest.mark.parametrize("command", [["validate"], ["render", "dev"], ["report", "--out", "out"]])
@pytest.mark.parametrize("other", ["stage", "feature"])
def test_a_commit_that_is_not_on_main(clone: Path, command: list[str], other: str) -> None:
    commit = git(clone, "rev-parse", "origin/stage")
    if other == "feature":
        tree = git(clone, "rev-parse", "origin/main^{tree}")
        commit = git(clone, "commit-tree", tree, "-p", "origin/main", "-m", "feature")
    file = clone / "base-repo.yaml"
    file.write_text(re.sub("commit: [0-9a-f]+", f"commit: {commit}", file.read_text()))
    git(clone, "commit", "--quiet", "-am", "pin")
    document = json.loads(call_kalypso(*command, "--json").stdout)
    items = [*document["problems"], *document["warnings"]]
    for environment in document.get("environments", ()):
        items += [*environment["problems"], *environment["warnings"]]
    level = "problems" if other == "stage" else "warnings"
    (finding,) = items
    assert finding["code"] == "base-commit-foreign"
    assert finding in [
        *document[level],
        *(item for each in document.get("environments", ()) for item in each[level]),
    ]
    assert (finding["where"]["path"], finding["where"]["line"]) == ("base-repo.yaml", 4)
    assert ("branch of an environment" in finding["message"]) == (other == "stage")


def test_validate_of_a_folder_reads_the_folder(clone: Path) -> None:
    done = call_kalypso("validate", ".")
    assert done.stderr == ""
    assert "of 1 branch" in done.stdout


def test_render_judges_objects_of_main_over_all_environments(clone: Path) -> None:
    base = (clone / "base-repo.yaml").read_text()
    policy = FLEET.partition("kind: SchedulingPolicy")[2].partition("---")[0]
    shared = f"{API}\nkind: SchedulingPolicy{policy}".replace("name: all", "name: shared")
    origin = clone.parent / "origin"
    commit = commit_branch(origin, MAIN | {"shared.yaml": shared.replace("small", "smal")})
    git(clone, "fetch", "--quiet", str(origin), "main:main", "stage:stage")
    old = base.partition("commit: ")[2].partition("}")[0]
    (clone / "base-repo.yaml").write_text(base.replace(old, commit))
    done = call_kalypso("render", "--output", "json", f"--source={URL}={clone}")
    codes = [entry["code"] for entry in json.loads(done.stdout)["warnings"]]
    assert "policy-without-cluster-types" in codes


@pytest.mark.parametrize(
    "arguments",
    [["switch", "--quiet", "-c", "mine"], ["checkout", "--quiet", "--detach"]],
    ids=["branch", "detached"],
)
@pytest.mark.parametrize(("base", "file"), [("dev", "fleet.yaml"), ("main", "templates.yaml")])
def test_a_local_branch_replaces_its_origin(
    clone: Path, base: str, file: str, arguments: list[str]
) -> None:
    git(clone, "switch", "--quiet", base)
    git(clone, *arguments)
    (clone / file).write_text("kind: [\n")
    git(clone, "commit", "--quiet", "--all", "--message", "mine")
    done = call_kalypso("validate")
    assert done.returncode == 1
    assert f"{base} (the working tree, on " in done.stderr
    assert f"problem {file}:" in done.stdout


BASE_REPO = f"""\
    → if it was lost, restore it from the history of dev, else add base-repo.yaml to the branch dev:
      apiVersion: scheduler.kalypso.io/v1alpha1
      kind: BaseRepo
      metadata:
        name: main
      spec:
        repo: {URL}
        branch: main
        path: .
        commit: """


@pytest.mark.parametrize("arguments", [["validate"], ["render", "dev"]], ids=str)
def test_a_branch_without_a_base_repo_is_one_problem(clone: Path, arguments: list[str]) -> None:
    git(clone, "rm", "--quiet", "base-repo.yaml")
    git(clone, "commit", "--quiet", "--message", "remove")
    git(clone, "checkout", "--quiet", "main")
    git(clone, "branch", "stage", "origin/stage")
    done = call_kalypso(*arguments)
    assert (done.returncode, "1 problem, 0 warnings" in done.stdout) == (1, True)
    assert "problem branch dev: the branch of environment 'dev'" in done.stdout
    assert f"{BASE_REPO}{git(clone, 'rev-parse', 'origin/main')}\n" in done.stdout


def test_a_commit_that_the_clone_lacks_is_a_warning_at_its_line(clone: Path) -> None:
    commit = "abcdef0123" * 4
    (clone / "base-repo.yaml").write_text(branch(commit)["base-repo.yaml"])
    done = call_kalypso("validate")
    assert (done.returncode, done.stderr.count("Traceback")) == (0, 0), done.stderr
    assert f"warning base-repo.yaml:4:82: the commit {commit} of main" in done.stdout
    assert "→ git fetch origin main; if it stays absent" in done.stdout
    assert (
        "dev has main at abcdef0: how far main is ahead is unknown, because this clone lacks the "
        "commit\n"
    ) in done.stdout


def test_a_yaml_fault_leaves_open_what_changes(clone: Path, tmp_path: Path) -> None:
    folder = tmp_path / "gitops/store/till"
    folder.mkdir(parents=True)
    (folder / "reconciler.yaml").write_text("kind: reconciler\n")
    (clone / "fleet.yaml").write_text(FLEET.replace("spec:\n  dep", "spec:\n\tdep"))
    done = call_kalypso("render", "--gitops", str(tmp_path / "gitops"))
    assert done.returncode == 1
    assert "manifests: not compared, because of the problem in fleet.yaml:15:1\n" in done.stdout
    for text in ("deleted", "no assignments", "mass-removal"):
        assert text not in done.stdout
    assert done.stdout.endswith("\n1 problem, 0 warnings\n")


def test_a_line_of_another_branch_names_it(clone: Path) -> None:
    git(clone, "branch", "stage", "origin/stage")
    git(clone, "checkout", "--quiet", "stage")
    (clone / "fleet.yaml").write_text(FLEET.replace("kind: Sch", "kind: Sech"))
    git(clone, "commit", "--quiet", "--all", "--message", "break")
    git(clone, "checkout", "--quiet", "main")
    assert "fleet.yaml:12:7 (branch stage): unknown kind" in call_kalypso("validate").stdout


def test_sarif_names_branches_and_repositories_elsewhere(clone: Path) -> None:
    git(clone, "branch", "stage", "origin/stage")
    git(clone, "checkout", "--quiet", "stage")
    (clone / "fleet.yaml").write_text(FLEET.replace("kind: Sch", "kind: Sech"))
    git(clone, "rm", "--quiet", "base-repo.yaml")
    git(clone, "commit", "--quiet", "--all", "--message", "break")
    git(clone, "checkout", "--quiet", "dev")
    (run,) = json.loads(call_kalypso("validate", "--output", "sarif").stdout)["runs"]
    places = [result["locations"][0]["physicalLocation"] for result in run["results"]]
    assert [place["artifactLocation"]["uri"] for place in places] == [
        "clone@stage/fleet.yaml",
        "clone@stage",
    ]


def test_verbose_shows_the_reasons_of_acknowledged_warnings(clone: Path) -> None:
    codes = "kalypso.io/ignore: policy-without-cluster-types"
    annotation = f", annotations: {{{codes}, kalypso.io/ignore-reason: until May}}"
    text = FLEET.replace("{name: all}", f"{{name: all{annotation}}}")
    (clone / "fleet.yaml").write_text(text.replace("{size: small}}}\n---", "{size: smalll}}}\n---"))
    done = call_kalypso("validate", "-v")
    shown = done.stdout
    assert "acknowledged fleet.yaml:" in shown and "→ until May" in shown


def test_a_branch_of_the_clone_alone(clone: Path) -> None:
    done = call_kalypso("validate", ".@dev")
    assert (done.returncode, "0 problems, 0 warnings" in done.stdout) == (0, True)
    assert "of 1 ClusterType are not checked; validate together with the branch" in done.stdout
    wrong = call_kalypso("validate", ".@devv")
    assert "there is no branch 'devv'" in wrong.stdout


def test_a_revision_that_the_clone_lacks_without_a_network(clone: Path) -> None:
    done = call_kalypso("render", "--base-commit", "mian")
    assert done.returncode == 1
    assert "there is no branch, tag or commit 'mian'" in done.stderr
    assert "is 'main' meant?" in done.stderr
    assert "cannot be read" in done.stderr


def test_a_checked_out_branch_that_no_environment_names(clone: Path) -> None:
    prod = branch("0" * 40, "prod")
    commit_branch(clone, prod, "prod")
    done = call_kalypso("validate")
    assert (done.returncode, "add .environments/prod.yaml to main:" in done.stdout) == (1, True)
    done = call_kalypso("render", "prod")
    assert (done.returncode, "add one to main for the branch prod" in done.stderr) == (2, True)


def test_a_misspelled_branch_of_an_environment(clone: Path) -> None:
    git(clone, "switch", "--quiet", "main")
    file = clone / ".environments/stage.yaml"
    file.write_text(file.read_text().replace("branch: stage", "branch: stge"))
    done = call_kalypso("validate", "--json")
    (warning,) = json.loads(done.stdout)["warnings"]
    assert (done.returncode, warning["code"]) == (0, "environment-branch-missing")
    assert warning["advice"] == "did you mean stage? Otherwise git fetch origin stge"


def test_a_clone_whose_remote_has_another_name(clone: Path) -> None:
    git(clone, "remote", "rename", "origin", "upstream")
    done = call_kalypso("render")
    assert done.returncode == 0, done.stderr + done.stdout
    assert "main is 2 commits ahead" in done.stdout
    assert call_kalypso("render", "stage").returncode == 0


def test_the_files_that_git_does_not_see_are_not_read(clone: Path) -> None:
    """Of the working tree: ignored files, nested working trees, and files of a sparse checkout."""
    (clone / ".gitignore").write_text("node_modules/\n")
    git(clone, "worktree", "add", "--quiet", "--detach", "trees/stage", "origin/stage")
    expected = json.loads(call_kalypso("render", "--json").stdout)["assignments"]
    for folder in ("node_modules/package", "trees/stage", "trees/stage/new"):
        (clone / folder).mkdir(parents=True, exist_ok=True)
        (clone / folder / "other.yaml").write_text(FLEET.replace("name: till", "name: desk"))
    assert json.loads(call_kalypso("render", "--json").stdout)["assignments"] == expected
    git(clone, "sparse-checkout", "set", "--no-cone", "/*", "!/fleet.yaml")
    assert not (clone / "fleet.yaml").exists()
    assert json.loads(call_kalypso("render", "--json").stdout)["assignments"] == expected


@pytest.mark.parametrize("remote", ["origin", "hub"])
def test_a_clone_of_a_single_branch_names_what_it_lacks(
    clone: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, remote: str
) -> None:
    options = ("--quiet", "--single-branch", "--origin", remote)
    for name in ("main", "dev"):
        git(tmp_path, "clone", *options, "-b", name, str(tmp_path / "origin"), f"only-{name}")
    monkeypatch.chdir(tmp_path / "only-main")
    done = call_kalypso("render", "dev")
    command = f"git fetch {remote} dev:refs/remotes/{remote}/dev"
    assert done.returncode == 1
    assert "there is no branch 'dev'" in done.stderr
    assert f"fetch it first ({command})" in done.stderr
    monkeypatch.chdir(tmp_path / "only-dev")
    done = call_kalypso("render")
    command = f"git fetch {remote} main:refs/remotes/{remote}/main"
    assert done.returncode == 2
    assert f"without the branch main, which {command} fetches" in done.stderr
    git(tmp_path / "only-dev", *command.split()[1:])
    git(tmp_path / "only-dev", "remote", "set-url", remote, URL)
    assert call_kalypso("render").returncode == 0


@pytest.mark.parametrize("remote", ["origin", "hub"])
def test_a_shallow_clone_names_the_command_that_fetches_a_commit(
    tmp_path: Path, clone: Path, monkeypatch: pytest.MonkeyPatch, remote: str
) -> None:
    options = ("--quiet", "--depth=1", "--no-single-branch", "--origin", remote, "-b", "dev")
    git(tmp_path, "clone", *options, f"file://{tmp_path}/origin", "shallow")
    git(tmp_path / "shallow", "remote", "set-url", remote, URL)
    monkeypatch.chdir(tmp_path / "shallow")
    document = json.loads(call_kalypso("validate", "--json").stdout)
    absent = [item for item in document["warnings"] if item["code"] == "base-commit-absent"]
    assert absent[0]["advice"].startswith(f"git fetch --unshallow {remote} main; ")


def test_preview_knows_the_branch_by_any_remote(clone: Path) -> None:
    git(clone, "remote", "rename", "origin", "hub")
    git(clone, "checkout", "--quiet", "-B", "change", "hub/main~1")
    (clone / "notes.txt").write_text("1")
    git(clone, "add", "--all")
    git(clone, "commit", "--quiet", "-m", "note")
    document = json.loads(call_kalypso("preview", "--base", "hub/main", "--json").stdout)
    assert document["base"] == git(clone, "rev-parse", "hub/main~1")


KIOSK = f"""\
{API}
kind: DeploymentTarget
metadata: {{name: kiosk, labels: {{workload: kiosk, workspace: shop}}}}
spec: {{environment: dev, manifests: {{repo: r, branch: b, path: p}}}}
"""


def test_render_says_that_a_change_of_main_is_not_part_of_it(clone: Path) -> None:
    git(clone, "checkout", "--quiet", "-b", "change", "origin/main")
    assert "change" not in call_kalypso("render", "dev").stderr.replace(str(clone), "")
    commit_branch(clone, {**MAIN, "kiosk.yaml": KIOSK}, "change")
    assert "The branch change is not part of it: add --base-commit change.\n" in (
        call_kalypso("render", "dev").stderr
    )
    done = call_kalypso("render", "dev", "--base-commit", "change")
    assert "not part of it" not in done.stderr


@pytest.mark.parametrize(
    ("branch", "question"),
    [
        ("change", "kalypso explain dev --target kiosk --base-commit change"),
        ("main", "kalypso explain dev --target kiosk --base-commit main"),
        ("stage", "kalypso explain stage --target kiosk"),
    ],
)
def test_explain_names_the_branch_that_registers_a_target(
    clone: Path, branch: str, question: str
) -> None:
    if branch == "change":
        git(clone, "checkout", "--quiet", "-b", "change", "origin/main")
    else:
        git(clone, "checkout", "--quiet", branch)
    (clone / "kiosk.yaml").write_text(KIOSK)
    git(clone, "add", "kiosk.yaml")
    git(clone, "-c", "user.name=a", "-c", "user.email=a@b", "commit", "--quiet", "-m", "kiosk")
    done = call_kalypso("explain", "dev", "--target", "kiosk")
    assert done.returncode == 2
    assert "there is no deployment target 'kiosk' in dev" in done.stderr
    assert f"the branch {branch} registers it: {question}" in " ".join(done.stderr.split())
    assert "registers it" not in call_kalypso("explain", "dev", "--target", "kosk").stderr
