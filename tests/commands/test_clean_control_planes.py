"""Our control planes have no problems, warnings or notes that they do not acknowledge."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.command_line import call_kalypso

ROOT = Path(__file__).parents[2]
NORTHLINE = "https://github.northline.example"
SAMPLE = {
    f"{NORTHLINE}/passengers/departure-boards": "samples/apps/departure-boards",
    f"{NORTHLINE}/rolling-stock/wheel-inspection": "samples/apps/wheel-inspection",
}
DEMO = {"https://github.com/acme/monitoring": "kalypso_actions/samples/monitoring/main"}


@pytest.mark.parametrize(
    ("folder", "applications", "acknowledged"),
    [
        ("samples/control-plane", SAMPLE, []),
        # The team registers hello-world in the course of the demo.
        ("kalypso_actions/samples/control-plane", DEMO, ["policy-workspace-unknown"] * 3),
    ],
)
def test_samples(folder: str, applications: dict[str, str], acknowledged: list[str]) -> None:
    branches = [ROOT / folder / name for name in ("main", "dev", "stage")]
    sources = [f"--source={url}={ROOT / path}" for url, path in applications.items()]
    done = call_kalypso("validate", *branches, *sources, "--output", "json")
    document = json.loads(done.stdout)
    entries = [*document["problems"], *document["warnings"], *document["notes"]]
    assert [entry["message"] for entry in entries] == []
    assert [entry["code"] for entry in document["acknowledged"]] == acknowledged
