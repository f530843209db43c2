"""`kalypso report`: one page about the whole fleet."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.command_line import call_kalypso
from tests.commands.control_plane_clones import make_clone
from tests.git_repositories import commit, repository
from tests.output_schemas import validator


def test_a_clone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(make_clone(tmp_path))
    out = tmp_path / "report"
    gitops = repository(tmp_path / "gitops", branch="dev")
    merged = commit(gitops, {"store/till/reconciler.yaml": "kind: older"}, "Add the till")
    source = f"https://git.test/acme/gitops={gitops}"
    done = call_kalypso("report", "--out", out, "--title", "Ours & theirs", "--source", source)
    assert "2 assignments of 2 environments: " in done.stdout
    assert f"written to {out / 'index.html'}" in done.stdout
    assert "<title>Ours &amp; theirs</title>" in (out / "index.html").read_text(encoding="utf-8")
    document = json.loads((out / "report.json").read_text(encoding="utf-8"))
    assert [error.message for error in validator("kalypso.report/v1").iter_errors(document)] == []
    assignment, _ = document["assignments"]
    assert (assignment["environment"], assignment["target"]) == ("dev", "till")
    assert document["texts"][assignment["files"]["reconciler.yaml"]] == "kind: reconciler"
    (change,) = (document["changes"][index] for index in assignment["changes"])
    assert (change["subject"], change["author"]) == ("Add the till", "n")
    assert change["url"] == f"https://git.test/acme/gitops/commit/{merged}"
    dev, stage = (each["gitops"][0] for each in document["environments"])
    assert dev["page"] == f"https://git.test/acme/gitops/blob/{merged}"
    assert stage["fault"] == "there is no such branch, or the clone lacks its history"
    (decision,) = (document["decisions"][index] for index in assignment["decisions"])
    assert (decision["policy"], decision["where"]["path"]) == ("all", "fleet.yaml")
    fault = "the control plane is not a repository on https://github.com"
    assert [each["message"] for each in document["pipeline"]["problems"]] == [fault]
    assert f"the pipeline is not known: {fault}" in done.stdout


def test_no_control_plane(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    done = call_kalypso("report", "--out", "report")
    assert done.returncode == 2
    assert "no control plane is named" in done.stderr
