"""`kalypso schemas`: schemas for editors."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from kalypso_actions.commands.schemas import editor_files
from tests.command_line import call_kalypso


def test_it_writes_them_again_and_keeps_other_files(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    out = tmp_path / ".schemas"
    out.mkdir()
    (out / "own.json").write_text("{}")
    (out / "kalypso.schema.json").write_text("old")
    done = call_kalypso("schemas", "--out", ".schemas")
    assert done.returncode == 0, done.stderr
    assert "# yaml-language-server: $schema=.schemas/kalypso.schema.json" in done.stdout
    written = {path.name: path.read_text(encoding="utf-8") for path in out.iterdir()}
    assert written == {**editor_files(), "own.json": "{}"}
    document = json.loads(call_kalypso("schemas", "--out", ".schemas", "--json").stdout)
    assert document["files"] == list(editor_files())


def test_a_folder_that_cannot_be_written(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    done = call_kalypso("schemas", "--out", str(tmp_path / "file"))
    assert done.returncode == 2
    assert "cannot be written: File exists" in done.stderr
