"""`--strict`: warnings fail validate and render, and nothing is written."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.command_line import call_kalypso
from tests.commands.control_plane_clones import FLEET, make_clone

WARNS = FLEET.replace("{size: small}}}\n---", "{size: smalll}}}\n---")
"""A policy that selects no cluster type."""

ACKNOWLEDGED = WARNS.replace(
    "{name: all}",
    "{name: all, annotations: {kalypso.io/ignore: policy-without-cluster-types, "
    "kalypso.io/ignore-reason: until May}}",
)


@pytest.fixture
def clone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = make_clone(tmp_path)
    monkeypatch.chdir(folder)
    return folder


@pytest.mark.parametrize("command", ["validate", "render"])
@pytest.mark.parametrize(
    ("fleet", "arguments", "status"),
    [
        pytest.param(FLEET, ["--strict"], 0, id="no warning"),
        pytest.param(WARNS, [], 0, id="not strict"),
        pytest.param(WARNS, ["--strict"], 1, id="a warning"),
        pytest.param(ACKNOWLEDGED, ["--strict"], 0, id="acknowledged"),
    ],
)
def test_warnings_fail_if_strict(
    clone: Path, command: str, fleet: str, arguments: list[str], status: int
) -> None:
    (clone / "fleet.yaml").write_text(fleet)
    done = call_kalypso(command, *arguments)
    assert (done.returncode, "; warnings fail (strict)" in done.stdout) == (status, status == 1)
    document = json.loads(call_kalypso(command, *arguments, "--json").stdout)
    assert (document["warningsFail"], document["problems"]) == (status == 1, [])


def test_a_strict_render_with_warnings_writes_nothing(clone: Path) -> None:
    (clone / "fleet.yaml").write_text(WARNS)
    out = clone.parent / "tree"
    assert call_kalypso("render", "--strict", "--out", out).returncode == 1
    assert not out.exists()
    assert call_kalypso("render", "--out", out).returncode == 0
    assert out.exists()
