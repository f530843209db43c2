"""Our control planes have no problems, warnings or notes."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from tests.command_line import call_kalypso

ROOT = Path(__file__).parents[2]
NORTHLINE = "https://github.northline.example"
SAMPLE = {
    f"{NORTHLINE}/passengers/departure-boards": "samples/apps/departure-boards",
    f"{NORTHLINE}/rolling-stock/wheel-inspection": "samples/apps/wheel-inspection",
}
SERVED = {
    f"https://github.com/acme/{name}": f"kalypso_actions/samples/{name}/main"
    for name in ("hello-world", "monitoring")
}
REGISTRATION = "kalypso_actions/samples/changes/registration"
"""The commit that registers hello-world: the demo begins with it, and a trial has it."""


@pytest.mark.parametrize(
    ("folder", "applications", "changes"),
    [
        ("samples/control-plane", SAMPLE, []),
        ("kalypso_actions/samples/control-plane", SERVED, [REGISTRATION]),
    ],
)
def test_samples(
    folder: str, applications: dict[str, str], changes: list[str], tmp_path: Path
) -> None:
    for source in (f"{folder}/main", *changes):
        shutil.copytree(ROOT / source, tmp_path / "main", dirs_exist_ok=True)
    branches = [tmp_path / "main", *(ROOT / folder / name for name in ("dev", "stage"))]
    sources = [f"--source={url}={ROOT / path}" for url, path in applications.items()]
    done = call_kalypso("validate", "--notes", *branches, *sources, "--output", "json")
    document = json.loads(done.stdout)
    entries = [*document["problems"], *document["warnings"], *document["notes"]]
    assert [entry["message"] for entry in entries] == []
    assert document["acknowledged"] == []
