"""`--now`: every command that plans decides Placements as at that time."""

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
TAINTS = (
    "[{key: edge, effect: NoSelect, timeAdded: '2026-03-01T11:30:00Z'}, "
    "{key: full, effect: NoSelectIfNew}]"
)
DECISION = {
    "policy": "all",
    "placement": "one",
    "target": "*",
    "clusterTypes": ["store"],
    "time": "",
}
RECORD = json.dumps({"schema": "kalypso.placements/v1", "placements": [DECISION]})
BEFORE, AFTER = "2026-03-01T13:29:59+01:00", "2026-03-01T12:30:00Z"


@pytest.fixture(scope="module")
def clone(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A clone whose dev has a Placement that tolerates a taint for an hour.

    Another taint spares the cluster type, because the GitOps branch has it selected so far.
    """
    folder = make_clone(tmp_path_factory.mktemp("now"))
    fleet = (folder / "fleet.yaml").read_text()
    tainted = f'{{name: store, annotations: {{kalypso.io/taints: "{TAINTS}"}}, labels:'
    fleet = fleet.replace("{name: store, labels:", tainted)
    named = "{name: all, annotations: {kalypso.io/placement: one}}"
    (folder / "fleet.yaml").write_text(fleet.replace("{name: all}", named))
    (folder / ".github" / "kalypso").mkdir(parents=True)
    (folder / ".github" / "kalypso" / "one.yaml").write_text(PLACEMENT)
    git(folder, "add", ".")
    name = ["-c", "user.name=somebody", "-c", "user.email=somebody@acme.example"]
    git(folder, *name, "commit", "--quiet", "--message", "Place")
    git(folder, "update-ref", "refs/remotes/origin/dev", "HEAD")
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
