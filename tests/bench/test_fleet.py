"""The fleets that are measured are real ones: they render without a fault, and fully."""

from __future__ import annotations

from pathlib import Path
from typing import get_args

import pytest

from bench.fleet import Shape, make_fleet
from bench.run import render


@pytest.mark.parametrize("shape", get_args(Shape))
def test_a_fleet_renders_to_as_many_assignments_as_it_says(tmp_path: Path, shape: Shape) -> None:
    fleet = make_fleet(tmp_path / "fleet", 1000, shape)
    document = render(fleet, []).document
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
