"""Messages of render and validate in a clone while a person repairs its control plane."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.command_line import call_kalypso
from tests.commands.control_plane_clones import FLEET, MAIN, make_clone
from tests.git_repositories import commit_branch, git


@pytest.fixture
def clone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = make_clone(tmp_path)
    monkeypatch.chdir(folder)
    return folder


def commit(clone: Path, branch: str, files: dict[str, str]) -> None:
    """Commit files on a branch of the clone, and check dev out."""
    git(clone, "checkout", "--quiet", branch)
    for name, text in files.items():
        (clone / name).write_text(text)
    git(clone, "add", "--all")
    git(clone, "commit", "--quiet", "--message", "repair")
    git(clone, "checkout", "--quiet", "dev")


def test_a_repair_on_main_is_not_promoted_yet(clone: Path) -> None:
    broken = MAIN["templates.yaml"].replace("kind: reconciler", "kind: {{ .Wrkload }}", 1)
    commit(clone, "main", {"templates.yaml": broken})
    pinned = git(clone, "rev-parse", "main")
    old = (clone / "base-repo.yaml").read_text()
    first = git(clone, "rev-list", "--max-parents=0", "origin/main")
    commit(clone, "dev", {"base-repo.yaml": old.replace(first, pinned)})
    before = call_kalypso("render").stdout
    assert f"problem templates.yaml:4:38 (main at {pinned[:7]}): till on store" in before
    assert "changed this file" not in before
    commit(clone, "main", {"templates.yaml": MAIN["templates.yaml"]})
    after = call_kalypso("render").stdout
    assert f"problem templates.yaml:4:38 (main at {pinned[:7]}): till on store" in after
    advice = "main has changed this file since: promote it, or try --base-commit main\n"
    assert advice in after
    assert call_kalypso("render", "--base-commit", "main").returncode == 0


def test_a_branch_with_a_fault_is_not_judged(clone: Path) -> None:
    git(clone, "branch", "stage", "origin/stage")
    commit(clone, "stage", {"fleet.yaml": FLEET.replace("spec:\n  dep", "spec:\n\tdep")})
    done = call_kalypso("render", "dev")
    assert done.returncode == 0, done.stdout
    assert "no SchedulingPolicy" not in done.stdout
    line = (
        "warning fleet.yaml:15:1 (branch stage): environment 'stage' is not judged: not valid YAML"
    )
    assert line in done.stdout


REGISTRATION = """\
apiVersion: scheduler.kalypso.io/v1alpha1
kind: WorkloadRegistration
metadata: {name: desk}
spec: {workload: {repo: https://git.test/acme/desk, branch: main, path: .}, workspace: shop}
"""
WORKLOAD = """\
apiVersion: scheduler.kalypso.io/v1alpha1
kind: Workload
metadata: {name: desk}
spec:
  deploymentTargets:
    - {name: all, environment: dev, manifests: {repo: r, branch: b, path: p}}
"""


@pytest.mark.parametrize("command", ["validate", "render"])
def test_a_source_whose_edits_are_not_committed(clone: Path, command: str) -> None:
    (clone / "registration.yaml").write_text(REGISTRATION)
    commit_branch(clone.parent / "desk", {"workload.yaml": WORKLOAD})
    git(clone.parent / "desk", "checkout", "--quiet", "main")
    source = "--source=https://git.test/acme/desk=../desk"
    assert "uncommitted" not in call_kalypso(command, source).stdout
    (clone.parent / "desk/workload.yaml").write_text(WORKLOAD.replace("dev", "stage"))
    shown = call_kalypso(command, source).stdout
    assert "warning ../desk: uncommitted changes are not read: workload.yaml" in shown
    assert "→ commit them, or give a copy without .git; the commit of main is read" in shown
    for name in ("new.yaml", "ignored.yaml", "notes.txt"):
        (clone.parent / "desk" / name).write_text(WORKLOAD)
    (clone.parent / "desk/.gitignore").write_text("ignored.yaml\n")
    shown = call_kalypso(command, source).stdout
    assert "warning ../desk: uncommitted changes are not read: new.yaml and 1 more" in shown


@pytest.mark.parametrize(
    ("source", "said", "advice"),
    [
        (
            "https://git.test/acme/dessk=../origin",
            "--source: nothing here reads https://git.test/acme/dessk",
            "did you mean https://git.test/acme/desk?",
        ),
        (
            "https://git.test/acme/desk=../dsk",
            "--source https://git.test/acme/desk: there is no such folder",
            "check PATH, from the current folder",
        ),
    ],
)
def test_a_source_that_replaces_nothing(clone: Path, source: str, said: str, advice: str) -> None:
    (clone / "registration.yaml").write_text(REGISTRATION)
    shown = call_kalypso("validate", "--source", source).stdout
    assert said in shown
    assert advice in shown


def test_unread_applications_are_reported_without_verbose(clone: Path) -> None:
    (clone / "registration.yaml").write_text(REGISTRATION)
    shown = call_kalypso("validate").stdout.splitlines()
    assert (
        "1 registered application not read: what selects it is not checked; give --source "
        in shown[-2]
    )
    assert shown[-1].endswith(": --notes shows more")


def test_an_environment_is_no_folder(clone: Path) -> None:
    done = call_kalypso("validate", "dev")
    assert done.returncode == 2
    assert "did you mean the branch .@dev?" in done.stderr
    assert "did you mean dev? Environments: dev, stage" in call_kalypso("render", "deb").stderr


@pytest.mark.parametrize("command", ["validate", "render"])
def test_the_folder_of_manifests_in_a_repository_at_hand(clone: Path, command: str) -> None:
    (clone / "registration.yaml").write_text(REGISTRATION)
    desk = clone.parent / "desk"
    url = "https://git.test/acme/desk"
    for folder, told in (("./deploy/dve", ["did you mean deploy/dev?"]), ("deploy/dev", [])):
        manifests = f"manifests: {{repo: {url}, branch: main, path: {folder}}}"
        text = WORKLOAD.replace("manifests: {repo: r, branch: b, path: p}", manifests)
        assert manifests in text
        commit_branch(desk, {"workload.yaml": text, "deploy/dev/a.txt": ""}, "main")
        done = call_kalypso(command, "--source", f"{url}={desk}", "--json")
        warnings = json.loads(done.stdout)["warnings"]
        found = [item for item in warnings if item["code"] == "manifests-folder-missing"]
        assert [item["advice"] for item in found] == told
