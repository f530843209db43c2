"""`kalypso diff`: compare two environments, or two commits of one."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.command_line import call_kalypso
from tests.commands.control_plane_clones import MAIN, URL, branch, template
from tests.git_repositories import commit_branch, git

CONFIG = "apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: all, labels: {{platform-config: 'true'}}}}\ndata: {}\n"
GITOPS = "https://git.test/acme/gitops"


def config(port: str, token: str) -> dict[str, str]:
    return {"config.yaml": CONFIG.format(json.dumps({"PORT": port, "API_TOKEN": token}))}


def fleet_of(environment: str, commit: str) -> dict[str, str]:
    files = branch(commit)
    text = files["fleet.yaml"].replace("environment: dev", f"environment: {environment}")
    return files | {"fleet.yaml": text.replace("branch: dev", f"branch: {environment}")}


@pytest.fixture
def clone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A clone in which dev is two commits of main ahead of stage."""
    origin = tmp_path / "origin"
    first = commit_branch(origin, MAIN | config("80", "first-token"))
    later = MAIN | config("8080", "second-token") | {"more.yaml": template("more")}
    commit_branch(origin, later)
    second = commit_branch(origin, later | {"README.md": "Hello"})
    commit_branch(origin, fleet_of("dev", second), "dev")
    commit_branch(origin, fleet_of("stage", first), "stage")
    folder = tmp_path / "clone"
    git(tmp_path, "clone", "--quiet", str(origin), str(folder))
    git(folder, "remote", "set-url", "origin", URL)
    monkeypatch.chdir(folder)
    return folder


def test_changes_that_stage_lacks(clone: Path) -> None:
    done = call_kalypso("diff", "dev", "stage")
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    first, second = (
        git(clone, "show", f"origin/{name}:base-repo.yaml").rpartition("commit: ")[2][:7]
        for name in ("stage", "dev")
    )
    assert lines[0] == f"stage at {first} → dev at {second}"
    assert f"main: 2 commits ({first}..{second})" in lines
    assert "  ~ ConfigMap all" in lines
    assert "  + Template more" in lines
    assert "  ~ PORT: 80 → 8080" in lines
    token = lines.index("  ~ API_TOKEN: *** → ***")
    assert lines[token + 1] == "      config.yaml:4, for store/till"
    assert "+  PORT: '8080'" in lines or '+  PORT: "8080"' in lines
    assert "-token" not in done.stdout
    masked = call_kalypso("diff", "dev", "stage", "--mask", "p*").stdout
    assert "  ~ PORT: *** → ***" in masked
    assert "8080" not in masked


def test_no_lines_of_files_below_messages(clone: Path) -> None:
    text = template("more").replace("manifests:", "password: LEAKone, password: LEAKtwo, m:")
    origin = clone.parent / "origin"
    commit_branch(origin, MAIN | config("80", "token") | {"more.yaml": text})
    git(clone, "fetch", "--quiet", str(origin), "+main:refs/remotes/origin/main")
    done = call_kalypso("diff", "stage", "--to", "main")
    assert "more.yaml:4" in done.stderr
    assert "LEAK" not in done.stdout + done.stderr


@pytest.mark.parametrize(
    ("environments", "heading"),
    [(["dev", "stage"], "main: 2 commits ("), (["stage", "dev"], "main: 2 commits go back (")],
)
def test_a_control_plane_elsewhere(
    clone: Path, tmp_path: Path, environments: list[str], heading: str
) -> None:
    origin = tmp_path / "origin"
    done = call_kalypso(
        "diff", *environments, "--control-plane", f"file://{origin}", "--source", f"{URL}={origin}"
    )
    assert done.returncode == 0, done.stderr
    assert heading in done.stdout


def test_the_other_way_round_commits_go_back(clone: Path) -> None:
    lines = call_kalypso("diff", "stage", "dev", "--stat").stdout.splitlines()
    assert any(line.startswith("main: 2 commits go back (") for line in lines)
    assert "  - Template more" in lines
    assert lines[-1].startswith("1 file: 0 added, 1 modified, 0 deleted; ")


def test_one_environment_and_two_commits(clone: Path) -> None:
    done = call_kalypso("diff", "stage", "--output", "json", "--exit-code")
    assert done.returncode == 1
    document = json.loads(done.stdout)
    assert document["commits"][0]["total"] == 2
    assert [
        commit["url"].partition("/commit/")[0] for commit in document["commits"][0]["commits"]
    ] == [
        URL,
        URL,
    ]
    values = document["comparison"]["values"]
    assert [(item["key"], item["after"]["value"]) for item in values] == [
        ("API_TOKEN", "***"),
        ("PORT", "8080"),
    ]
    assert "-token" not in done.stdout
    none = call_kalypso("diff", "dev", "--exit-code")
    assert none.returncode == 0
    assert none.stdout.splitlines()[1:] == ["no differences"]


def test_merged_trees(clone: Path, tmp_path: Path) -> None:
    repository = tmp_path / "gitops"
    shared = {"store/README.md": "ours", "README.md": "not compared"}
    first = commit_branch(repository, shared | {"store/till/reconciler.yaml": "a: 1\n"}, "stage")
    commit_branch(repository, {"README.md": "x"}, "dev")
    commit_branch(
        repository,
        shared | {"store/till/reconciler.yaml": "a: 2\n", "store/web/namespace.yaml": "n\n"},
        "dev",
    )
    source = f"{GITOPS}={repository}"
    done = call_kalypso("diff", "dev", "stage", "--deployed", "--source", source)
    assert done.returncode == 0, done.stderr
    assert f"(GitOps branch at {first[:7]})" in done.stdout
    lines = done.stdout.splitlines()
    assert "  + assignment store/web" in lines
    assert [line for line in lines if line in {"-a: 1", "+a: 2"}] == ["-a: 1", "+a: 2"]
    masked = call_kalypso(
        "diff", "dev", "stage", "--deployed", "--source", source, "--mask", "a,b"
    ).stdout
    assert "a: 2" not in masked
    back = call_kalypso(
        "diff", "dev", "--deployed", "--from", "dev", "--to", "dev", "--source", source
    )
    assert back.stdout.splitlines()[-1] == "no differences"
    last_merge = call_kalypso("diff", "dev", "--deployed", "--stat", "--source", source).stdout
    assert "  + assignment store/web" in last_merge.splitlines()
    assert "added     store/web/namespace.yaml" in last_merge
    first_of_stage = call_kalypso("diff", "stage", "--deployed", "--source", source)
    assert first_of_stage.returncode == 1
    assert "there is no branch, tag or commit" in first_of_stage.stderr


def test_environments_with_the_same_commit_of_main(clone: Path) -> None:
    """There is nothing to promote, although their own branches may differ."""
    done = call_kalypso("diff", "dev", "dev")
    assert done.stdout.splitlines()[1:] == ["no differences"]
    git(clone, "checkout", "--quiet", "stage")
    base = git(clone, "show", "origin/dev:base-repo.yaml")
    (clone / "base-repo.yaml").write_text(base)
    git(clone, "-c", "user.name=a", "-c", "user.email=a@b.c", "commit", "-qam", "Promote")
    done = call_kalypso("diff", "dev", "stage")
    assert done.stdout.splitlines()[1:] == [
        "no differences: stage has everything of main that dev has. "
        "--deployed also shows what the branch of each sets itself"
    ]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["dev", "stag"], "there is no Environment 'stag' on main"),
        (["dev", "stage", "--from", "main"], "--from and --to compare two commits of one"),
        (["a", "b", "c"], "at most 2 items"),
    ],
)
def test_wrong_use(clone: Path, arguments: list[str], said: str) -> None:
    done = call_kalypso("diff", *arguments)
    assert done.returncode == 2
    assert said in done.stderr
