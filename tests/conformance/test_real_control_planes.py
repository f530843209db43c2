"""Real control planes render to the bytes that upstream's operator committed for them.

The repositories are not part of the project: the tests read `../shared/data`, or the folder in
`KALYPSO_REAL_CONTROL_PLANES`.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from tests.conformance.real_control_planes import DATA, MICROSOFT, NEW, OLD, ROOT

NEW_COMMIT = "4a0821c4376423b6a9e6b010bac8fe96616bd6e7"
SOURCES_FILE = ".github/tracking/sources.json"

pytestmark = pytest.mark.skipif(
    not DATA.is_dir(), reason=f"the real control planes are not here: {DATA} does not exist"
)


def render(data: Path, out: Path, *options: str) -> dict[str, Any]:
    """Return the JSON output of `kalypso render dev` for the repositories in `data`."""
    sources = {
        "kalypso-control-plane": "control-plane-main",
        "kalypso-app-src": "app-src",
        "kalypso-svc-src": "svc-src",
    }
    command = [sys.executable, "-m", "kalypso_actions", "render", "dev", "--output", "json"]
    command += ["--environment-dir", str(data / "control-plane-dev"), "--out", str(out), *options]
    for name, folder in sources.items():
        command += ["--source", f"{MICROSOFT}/{name}={data / folder}"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr + done.stdout
    document: dict[str, Any] = json.loads(done.stdout)
    return document


def render_old(out: Path, *options: str) -> dict[str, Any]:
    return render(OLD, out, "--namespace-scheme", "legacy", "--config-file", "legacy", *options)


def render_new(out: Path, *options: str) -> dict[str, Any]:
    return render(NEW, out, "--base-commit", NEW_COMMIT, *options)


def tree(folder: Path) -> dict[str, bytes]:
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file() and path.relative_to(folder).as_posix() != SOURCES_FILE
    }


def generated(files: Mapping[str, bytes]) -> dict[str, bytes]:
    """Return the files without those at the root of the repository, which people maintain."""
    return {path: content for path, content in files.items() if "/" in path}


def test_old_form_onto_nothing(tmp_path: Path) -> None:
    document = render_old(tmp_path / "out")
    assert tree(tmp_path / "out") == generated(tree(OLD / "gitops-dev"))
    assert (tmp_path / "out" / SOURCES_FILE).is_file()
    assert {(a["clusterType"], a["deploymentTarget"]) for a in document["assignments"]} == {
        ("command-center", "hello-world-app-functional-test"),
        ("drone", "hello-world-app-functional-test"),
        ("large", "hello-world-app-performance-test"),
        ("large", "observability-prometheus"),
    }


def test_old_form_onto_its_own_tree(tmp_path: Path) -> None:
    document = render_old(tmp_path / "out", "--gitops", str(OLD / "gitops-dev"))
    changes = document["changes"]
    assert (changes["added"], changes["modified"], changes["deleted"]) == ([], [], [])
    assert tree(tmp_path / "out") == tree(OLD / "gitops-dev")


def test_current_form_onto_nothing(tmp_path: Path) -> None:
    render_new(tmp_path / "out")
    assert tree(tmp_path / "out") == tree(NEW / "expected-dev")


def test_current_form_onto_the_tree_before(tmp_path: Path) -> None:
    document = render_new(tmp_path / "out", "--gitops", str(NEW / "gitops-dev"))
    before, after = tree(NEW / "gitops-dev"), tree(NEW / "expected-dev")
    changes = document["changes"]
    assert changes["added"] == sorted(after.keys() - before.keys())
    assert changes["deleted"] == ["large/observability-prometheus/config.yaml"]
    assert changes["modified"] == sorted(
        path for path in after.keys() & before.keys() if after[path] != before[path]
    )
    assert generated(tree(tmp_path / "out")) == after
