"""The measured fleets render completely and without a fault."""

from __future__ import annotations

import json
from pathlib import Path
from typing import get_args

import pytest

from bench.fleet import Shape, make_fleet
from bench.stages import measure, measure_runs
from tests.command_line import call_kalypso
from tests.git_repositories import git


@pytest.mark.slow
@pytest.mark.parametrize("shape", get_args(Shape))
def test_a_fleet_renders_to_as_many_assignments_as_it_says(tmp_path: Path, shape: Shape) -> None:
    fleet = make_fleet(tmp_path / "fleet", 1000, shape)
    document = json.loads(call_kalypso("render", *fleet.arguments(), "--output=json").stdout)
    assert document["problems"] == document["warnings"] == []
    assert len(document["assignments"]) == fleet.assignments == 1000
    assert {len(entry["files"]) for entry in document["assignments"]} == {3}
    assert {len(entry["policies"]) for entry in document["assignments"]} == {1, 2}
    assert len(document["changes"]["added"]) == 3 * 1000 + fleet.cluster_types


def test_the_same_numbers_give_the_same_fleet(tmp_path: Path) -> None:
    first, second = make_fleet(tmp_path / "one", 2000), make_fleet(tmp_path / "other", 2000)
    assert contents(first.folder) == contents(second.folder)


def contents(folder: Path) -> dict[str, bytes]:
    return {
        path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*.yaml")
    }


@pytest.mark.slow
def test_stages_and_runs_are_measured(tmp_path: Path) -> None:
    runs = measure_runs(tmp_path / "runs", "repeating", 20)
    assert [run.name for run in runs] == [
        "git fast-import",
        "onto nothing",
        "nothing changed",
        "1 % of the cluster types changed",
    ]
    subjects = git(tmp_path / "runs" / "runs.git", "log", "--format=%s", "dev").splitlines()
    assert subjects == ["Kalypso Scheduler commit"] * 2
    stages = measure(tmp_path / "stages", "distinct", 10)
    assert {"read", "parse", "schedule", "render", "compare", "commit", "push"} <= {
        stage.name for stage in stages
    }
    git_dir = tmp_path / "stages" / "pushed.git"
    assert len(git(git_dir, "ls-tree", "-r", "--name-only", "dev").split()) == 3 * 1000 + 21
