"""`kalypso explain`: why an environment is as it is."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.command_line import call_kalypso
from tests.commands.control_plane_clones import (
    FLEET,
    MAIN,
    URL,
    branch,
    environment,
    make_clone,
)
from tests.git_repositories import commit_branch, git


@pytest.fixture
def clone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = make_clone(tmp_path)
    monkeypatch.chdir(folder)
    return folder


def test_the_working_tree_of_a_clone(clone: Path) -> None:
    text = (clone / "fleet.yaml").read_text(encoding="utf-8")
    (clone / "fleet.yaml").write_text(text.replace("size: small", "size: big", 1), "utf-8")
    done = call_kalypso("explain", "dev", "--target", "till", "--cluster-type", "store")
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert lines[0] == "till on store in dev: not assigned"
    assert "nearest miss: policy all: 1 of 2 terms fails  fleet.yaml:11:1" in lines
    assert lines[-1].startswith("  ✗ cluster type  size = small     it is big  fleet.yaml:16:")


@pytest.mark.parametrize("is_checked_out", [True, False])
def test_a_target_that_the_branch_of_a_change_registers(
    clone: Path, *, is_checked_out: bool
) -> None:
    """Commands read the branches of the control plane; the change of a colleague is another one."""
    git(clone, "checkout", "--quiet", "-b", "change", "origin/main")
    target = FLEET.split("---\n")[1].replace("name: till", "name: desk")
    (clone / "desk.yaml").write_text(target, encoding="utf-8")
    git(clone, "add", "desk.yaml")
    git(clone, "-c", "user.name=a", "-c", "user.email=a@b.example", "commit", "-qm", "Add a desk")
    if not is_checked_out:
        git(clone, "checkout", "--quiet", "dev")
    asked = "kalypso explain dev --target desk --base-commit change"
    done = call_kalypso("explain", "dev", "--target", "desk")
    assert f"the branch change registers it: {asked}" in done.stderr
    assert call_kalypso(*asked.split(" ")[1:]).returncode == 0


def test_a_control_plane_elsewhere_as_json(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    origin = tmp_path / "origin"
    commit_branch(origin, branch(commit_branch(origin, MAIN)), "dev")
    monkeypatch.chdir(tmp_path)
    place = ["--control-plane", f"file://{origin}", "--source", f"{URL}={origin}"]
    done = call_kalypso("explain", "dev", *place, "--target", "till", "--output", "json")
    assert done.returncode == 0, done.stderr
    document = json.loads(done.stdout)
    assert document["schema"] == "kalypso.explain/v1"
    assert [(pair["clusterType"], pair["policies"]) for pair in document["pairs"]] == [
        ("store", ["all"])
    ]


def test_the_scheduler_of_the_environment_s_annotation(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`placement` misses the Placement that a policy names; `labels` says that it has none."""
    origin = tmp_path / "origin"
    annotated = "{name: dev, annotations: {kalypso.io/scheduler: placement}}"
    declared = environment("dev").replace("{name: dev}", annotated)
    main = commit_branch(origin, MAIN | {".environments/dev.yaml": declared})
    files = branch(main)
    named = "{name: all, annotations: {kalypso.io/placement: none}}"
    files["fleet.yaml"] = files["fleet.yaml"].replace("{name: all}", named)
    commit_branch(origin, files, "dev")
    monkeypatch.chdir(tmp_path)
    place = ["--control-plane", f"file://{origin}", "--source", f"{URL}={origin}"]
    for options, scheduler, code in (
        ([], "placement", "placement-unknown"),
        (["--scheduler", "labels"], "labels", "placement-without-scheduler"),
    ):
        done = call_kalypso("explain", "dev", *place, *options, "--output", "json")
        document = json.loads(done.stdout)
        assert document["scheduler"] == scheduler
        assert [item["code"] for item in document["problems"]] == [code]


def test_an_environment_and_a_file(clone: Path) -> None:
    lines = call_kalypso("explain", "dev").stdout.splitlines()
    assert lines[:2] == ["dev: 1 policy", "  all  fleet.yaml:11:1"]
    done = call_kalypso("explain", "--file", "store/till/reconciler.yaml")
    assert done.stdout.startswith("store/till/reconciler.yaml in dev\n  Template reconciler  ")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["dve"], "did you mean dev?"),
        (["dev", "--target", "tile"], "did you mean till?"),
        (["dev", "--key", "A", "--file", "b"], "ask about a --key or a --file, not about both"),
    ],
    ids=["environment", "target", "two questions"],
)
def test_wrong_questions(clone: Path, arguments: list[str], said: str) -> None:
    done = call_kalypso("explain", *arguments)
    assert done.returncode == 2
    assert said in done.stderr
