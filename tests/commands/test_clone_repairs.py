"""What render and validate say in a clone while somebody repairs its control plane."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.command_line import call_kalypso
from tests.commands.control_plane_clones import FLEET, MAIN, make_clone
from tests.git_repositories import git


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
    assert f"problem templates.yaml:4 (main at {pinned[:7]}): till on store" in before
    assert "changed this file" not in before
    commit(clone, "main", {"templates.yaml": MAIN["templates.yaml"]})
    after = call_kalypso("render").stdout
    assert f"problem templates.yaml:4 (main at {pinned[:7]}): till on store" in after
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
