"""`kalypso render --commit-to`: one commit on a branch of a repository on this machine."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from subprocess import CompletedProcess

import pytest

from tests.command_line import call_kalypso
from tests.git_repositories import commit_branch, git, repository
from tests.workers import work_here

FLEET = Path(__file__).parents[1] / "golden" / "fleet"
SOURCES = {"control-plane": "main", "clinic": "apps/clinic", "archive": "apps/archive"}
SOURCES |= {"lost": "apps/archive-of-old"}


@pytest.fixture
def planes(tmp_path: Path) -> Path:
    """A copy of the fixture fleet that a test may change."""
    return Path(shutil.copytree(FLEET, tmp_path / "planes"))


@pytest.fixture
def bare(tmp_path: Path) -> Path:
    folder = tmp_path / "gitops.git"
    git(tmp_path, "init", "--quiet", "--bare", str(folder))
    return folder


def render(planes: Path, *options: str) -> CompletedProcess[str]:
    arguments = ["render", "dev", "--environment-dir", str(planes / "dev"), *options]
    for name, folder in SOURCES.items():
        arguments += ["--source", f"https://git.example/acme/{name}={planes / folder}"]
    return call_kalypso(*arguments)


def committed(planes: Path, place: str) -> str:
    """Return the commit of the document."""
    done = render(planes, f"--commit-to={place}", "--output=json")
    assert done.returncode == 0, done.stderr
    return str(json.loads(done.stdout)["commit"])


def test_a_new_branch_and_one_commit_for_each_change(
    planes: Path, bare: Path, tmp_path: Path
) -> None:
    first = committed(planes, f"{bare}@dev")
    assert git(bare, "rev-parse", "dev") == first
    assert render(planes, f"--out={tmp_path / 'out'}").returncode == 0
    out = {path.relative_to(tmp_path / "out").as_posix() for path in files(tmp_path / "out")}
    assert set(git(bare, "ls-tree", "-r", "--name-only", "dev").splitlines()) == out
    message = git(bare, "log", "-1", "--format=%B", "dev")
    assert message.startswith("Kalypso Scheduler commit\n\nKalypso-Digest: v1:")

    assert committed(planes, f"{bare}@dev") == ""
    templates = planes / "main" / "templates" / "reconcilers.yaml"
    text = templates.read_text(encoding="utf-8")
    assert "prune: true" in text
    templates.write_text(text.replace("prune: true", "prune: false"), encoding="utf-8")
    second = committed(planes, f"{bare}@dev")
    assert git(bare, "rev-list", "dev").split() == [second, first]
    assert git(bare, "for-each-ref", "--format=%(refname)") == "refs/heads/dev"


def test_workers_write_the_same_files(
    planes: Path, bare: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    committed(planes, f"{bare}@dev")
    written = work_here(monkeypatch)
    committed(planes, f"{bare}@again")
    assert len(written) > 10
    assert git(bare, "rev-parse", "dev^{tree}") == git(bare, "rev-parse", "again^{tree}")
    assert git(bare, "fsck", "--strict", "--no-progress") == ""
    other = tmp_path / "sha256.git"
    git(tmp_path, "init", "--quiet", "--bare", "--object-format=sha256", str(other))
    written.clear()
    committed(planes, f"{other}@dev")
    assert not written
    assert git(other, "ls-tree", "-r", "--name-only", "dev") == git(
        bare, "ls-tree", "-r", "--name-only", "dev"
    )


def test_a_comparison_has_the_contents_that_workers_render(
    planes: Path, bare: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    written = work_here(monkeypatch)
    done = render(planes, f"--commit-to={bare}@dev", "--diff")
    assert done.returncode == 0, done.stderr
    assert "+  prune: true" in done.stdout
    assert not written


def test_files_of_others_stay(planes: Path, tmp_path: Path) -> None:
    clone = repository(tmp_path / "clone", branch="main")
    commit_branch(clone, {"notes.md": "text\n", "main.md": "text\n"}, branch="main")
    git(clone, "branch", "dev")
    committed(planes, f"{clone}@dev")
    paths = git(clone, "ls-tree", "-r", "--name-only", "dev").split()
    assert {"notes.md", "main.md", ".github/tracking/sources.json"} <= set(paths)
    assert git(clone, "status", "--porcelain") == ""


def test_a_branch_that_is_checked_out_is_left_alone(planes: Path, tmp_path: Path) -> None:
    clone = repository(tmp_path / "clone", branch="dev")
    commit_branch(clone, {"notes.md": "text\n"}, branch="dev")
    head = git(clone, "rev-parse", "dev")
    done = render(planes, f"--commit-to={clone}@dev")
    assert done.returncode == 1
    assert "the branch 'dev' is checked out in a work tree" in done.stderr
    assert git(clone, "rev-parse", "dev") == head


def test_problems_leave_the_branch_alone(planes: Path, bare: Path) -> None:
    for file in files(planes / "main"):
        if b"kind: Template" in file.read_bytes():
            file.unlink()
    done = render(planes, f"--commit-to={bare}@dev")
    assert done.returncode == 1
    assert "committed" not in done.stdout
    assert git(bare, "for-each-ref") == ""


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--commit-to=gitops"], "--commit-to needs REPOSITORY@BRANCH"),
        (["--commit-to=.@dev"], "--commit-to .: there is no such repository"),
        (["--commit-to=.@dev", "--out=x"], "only one of --out and --commit-to is possible"),
        (["--commit-to=.@dev", "--gitops=x"], "only one of --gitops and --commit-to is possible"),
    ],
    ids=lambda value: value if isinstance(value, str) else " ".join(value),
)
def test_wrong_options(
    planes: Path, options: list[str], words: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(planes)
    done = render(planes, *options)
    assert done.returncode == 2
    assert words in done.stderr


def files(folder: Path) -> list[Path]:
    return [path for path in sorted(folder.rglob("*")) if path.is_file()]
