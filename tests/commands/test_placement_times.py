"""`--now`: every command that makes a plan decides Placements as at that time."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.command_line import call_kalypso
from tests.commands.control_plane_clones import make_clone
from tests.git_repositories import commit_branch, git

GITOPS = "https://git.test/acme/gitops"
PLACEMENT = """\
apiVersion: cluster.open-cluster-management.io/v1beta1
kind: Placement
metadata: {name: one}
spec: {tolerations: [{key: edge, operator: Exists, tolerationSeconds: 3600}]}
"""
EDGE = "{key: edge, effect: NoSelect, timeAdded: '2026-03-01T11:30:00Z'}"
FULL = "{key: full, effect: NoSelectIfNew}"
DECISION = {
    "policy": "all",
    "placement": "one",
    "target": "*",
    "clusterTypes": ["store"],
    "time": "",
}
RECORD = json.dumps({"schema": "kalypso.placements/v1", "placements": [DECISION]})
BEFORE, AFTER = "2026-03-01T13:29:59+01:00", "2026-03-01T12:30:00Z"


def make_tainted_clone(folder: Path, *taints: str) -> Path:
    """Make a clone whose dev has a Placement that tolerates the taint edge for an hour."""
    folder = make_clone(folder)
    fleet = (folder / "fleet.yaml").read_text()
    listed = f"[{', '.join(taints)}]"
    tainted = f'{{name: store, annotations: {{kalypso.io/taints: "{listed}"}}, labels:'
    fleet = fleet.replace("{name: store, labels:", tainted)
    named = "{name: all, annotations: {kalypso.io/placement: one}}"
    (folder / "fleet.yaml").write_text(fleet.replace("{name: all}", named))
    (folder / ".github" / "kalypso").mkdir(parents=True)
    (folder / ".github" / "kalypso" / "one.yaml").write_text(PLACEMENT)
    git(folder, "add", ".")
    git(folder, "config", "user.name", "somebody")
    git(folder, "config", "user.email", "somebody@acme.example")
    git(folder, "commit", "--quiet", "--message", "Place")
    git(folder, "update-ref", "refs/remotes/origin/dev", "HEAD")
    return folder


@pytest.fixture(scope="module")
def clone(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A clone with two taints: `full` spares the cluster type that the GitOps branch selected."""
    folder = make_tainted_clone(tmp_path_factory.mktemp("now"), EDGE, FULL)
    for branch in ("dev", "stage"):
        commit_branch(
            folder.parent / "gitops", {".github/tracking/placements.json": RECORD}, branch
        )
    return folder


@pytest.mark.parametrize(
    ("arguments", "warned"),
    [
        pytest.param("render dev --diff", "placement-finds-nothing", id="render"),
        pytest.param("explain dev", "placement-finds-nothing", id="explain"),
        pytest.param("validate", "placement-finds-nothing", id="validate"),
        pytest.param("diff dev", '"warningsKnown": 1', id="diff"),
        pytest.param("report --out ../report", "placement-finds-nothing", id="report"),
    ],
)
def test_a_replay(
    clone: Path, monkeypatch: pytest.MonkeyPatch, arguments: str, warned: str
) -> None:
    monkeypatch.chdir(clone)
    options = ["--scheduler", "placement", "--source", f"{GITOPS}={clone.parent / 'gitops'}"]
    for now, finds_nothing in ((BEFORE, False), (AFTER, True)):
        done = call_kalypso(*arguments.split(), *options, "--now", now, "--output", "json")
        assert json.loads(done.stdout)["schema"]
        assert (warned in done.stdout) is finds_nothing, done.stdout


@pytest.mark.parametrize(
    ("now", "changed"),
    [pytest.param(BEFORE, 1, id="tolerated"), pytest.param(AFTER, 0, id="no longer")],
)
def test_a_preview(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, now: str, changed: int) -> None:
    """A changed Template changes a file only where the Placement selects the cluster type."""
    folder = make_tainted_clone(tmp_path, EDGE)
    git(folder, "checkout", "--quiet", "-b", "change", "origin/main")
    text = (folder / "templates.yaml").read_text()
    (folder / "templates.yaml").write_text(text.replace("kind: reconciler", "kind: changed"))
    git(folder, "commit", "--quiet", "--all", "--message", "Change")
    monkeypatch.chdir(folder)
    done = call_kalypso("preview", "--scheduler", "placement", "--now", now)
    dev = done.stdout.partition("\nstage")[0]
    assert "~ Template reconciler" in dev, done.stderr
    assert dev.count("~ store/till/reconciler.yaml") == changed


def test_the_time_of_a_replay_is_recorded(clone: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(clone)
    out = clone.parent / "out"
    options = ["--scheduler", "placement", "--now", BEFORE]
    gitops = f"{clone.parent / 'gitops'}@dev"
    done = call_kalypso("render", "dev", *options, "--gitops", gitops, "--out", str(out))
    assert done.returncode == 0
    sources = json.loads((out / ".github" / "tracking" / "sources.json").read_text())
    assert sources["options"]["now"] == "2026-03-01T12:29:00Z"
    wrong = call_kalypso("render", "dev", "--now", "2026-03-01T12:00:00")
    assert (wrong.returncode, "--now: " in wrong.stderr) == (2, True)


def test_a_render_without_the_decisions_so_far(
    clone: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(clone)
    done = call_kalypso("render", "dev", "--scheduler", "placement", "--output", "json")
    document = json.loads(done.stdout)
    assert (document["assignments"], document["notes"][0]["code"]) == (
        [],
        "placement-without-record",
    )
