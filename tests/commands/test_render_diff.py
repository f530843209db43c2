"""`kalypso render --diff`, `--stat` and `--exit-code`."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from subprocess import CompletedProcess

import pytest

from kalypso_actions.comparison import Mask, unified_diff
from kalypso_actions.model.differences import FileChange
from tests.command_line import call_kalypso

FLEET = Path(__file__).parents[1] / "golden" / "fleet"
SERVER = "https://git.example/acme"


def render(*options: str) -> CompletedProcess[str]:
    places = {"control-plane": "main", "clinic": "apps/clinic", "archive": "apps/archive"}
    sources = [f"--source={SERVER}/{name}={FLEET / folder}" for name, folder in places.items()]
    return call_kalypso(
        "render", "dev", f"--environment-dir={FLEET / 'dev'}", *sources, "--source",
        f"{SERVER}/lost={FLEET / 'apps/archive'}", *options,
    )  # fmt: skip


@pytest.fixture(scope="module")
def rendered(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("rendered") / "out"
    assert render("--out", str(out)).returncode == 0
    return out


@pytest.fixture
def gitops(rendered: Path, tmp_path: Path) -> Path:
    """The rendered tree with a file that differs, one that is absent, and one too many."""
    tree = Path(shutil.copytree(rendered, tmp_path / "gitops"))
    config = tree / "ward/clinic-web/platform-config.yaml"
    config.write_text(config.read_text().replace("  LOG:", "  API_TOKEN: hunter2\n  LOG:"))
    (tree / "ward/clinic-web/namespace.yaml").unlink()
    (tree / "ward/clinic-web/platform-config.sh").write_text("gone\n")
    return tree


def test_no_difference(rendered: Path) -> None:
    done = render("--gitops", str(rendered), "--diff", "--exit-code")
    assert (done.stdout, done.returncode) == ("", 0)
    assert "0 problems" in done.stderr


def test_standard_output_is_the_diff_alone(gitops: Path) -> None:
    done = render("--gitops", str(gitops), "--diff")
    assert done.returncode == 0
    lines = done.stdout.splitlines()
    assert [line for line in lines if line.startswith(("---", "+++"))] == [
        "--- /dev/null",
        "+++ b/ward/clinic-web/namespace.yaml",
        "--- a/ward/clinic-web/platform-config.sh",
        "+++ /dev/null",
        "--- a/ward/clinic-web/platform-config.yaml",
        "+++ b/ward/clinic-web/platform-config.yaml",
    ]
    assert "-  API_TOKEN: ***" in lines
    assert "-gone" in lines
    assert "hunter2" not in done.stdout + done.stderr
    assert "LOG: ***" in render("--gitops", str(gitops), "--diff", "--mask", "lo*,x").stdout


def test_a_summary_of_the_files(gitops: Path) -> None:
    done = render("--gitops", str(gitops), "--stat", "--exit-code")
    assert done.returncode == 1
    assert done.stdout.splitlines() == [
        "added     ward/clinic-web/namespace.yaml       | 9 +++++++++",
        "deleted   ward/clinic-web/platform-config.sh   | 1 -",
        "modified  ward/clinic-web/platform-config.yaml | 1 -",
        "3 files: 1 added, 1 modified, 1 deleted; 9 insertions(+), 2 deletions(-)",
    ]


def test_for_programs(gitops: Path) -> None:
    done = render("--gitops", str(gitops), "--diff", "--output", "json", "--exit-code")
    assert done.returncode == 1
    diffs = json.loads(done.stdout)["diffs"]
    assert [(entry["change"], entry["insertions"], entry["deletions"]) for entry in diffs] == [
        ("added", 9, 0),
        ("deleted", 0, 1),
        ("modified", 0, 1),
    ]
    assert "hunter2" not in done.stdout


def test_the_branch_that_the_gitopsrepo_names(gitops: Path) -> None:
    named = "https://git.example/acme/gitops-east"
    done = render("--source", f"{named}={gitops}", "--stat")
    assert done.stdout.splitlines()[-1].startswith("3 files: 1 added, 1 modified, 1 deleted")


def test_only_a_secret_differs() -> None:
    file = FileChange("a", "modified", b"password: one", b"password: two")
    assert unified_diff(Mask().diff(file)) == "--- a/a\n+++ b/a\n\\ Only masked values differ.\n"
