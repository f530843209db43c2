"""`kalypso report`: one page about the whole fleet."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.command_line import call_kalypso
from tests.commands.control_plane_clones import make_clone
from tests.test_reference import validator


def test_a_clone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(make_clone(tmp_path))
    out = tmp_path / "report"
    done = call_kalypso("report", "--out", str(out), "--title", "Ours & theirs")
    assert "2 assignments of 2 environments: " in done.stdout
    assert f"written to {out / 'index.html'}" in done.stdout
    assert "<title>Ours &amp; theirs</title>" in (out / "index.html").read_text(encoding="utf-8")
    document = json.loads((out / "report.json").read_text(encoding="utf-8"))
    assert [error.message for error in validator("kalypso.report/v1").iter_errors(document)] == []
    assignment, _ = document["assignments"]
    assert (assignment["environment"], assignment["target"]) == ("dev", "till")
    assert document["texts"][assignment["files"]["reconciler.yaml"]] == "kind: reconciler"


def test_no_control_plane(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    done = call_kalypso("report", "--out", "report")
    assert done.returncode == 2
    assert "no control plane is named" in done.stderr
