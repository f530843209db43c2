"""An application's chain by its workflow templates and actions, run by act: two acts of the demo."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Final

import pytest

from kalypso_actions.clients.process import Programs
from kalypso_actions.commands.demo.application import ACTS, CONFIGS, PLACES, SOURCE
from kalypso_actions.commands.demo.scenario import run_scenario
from kalypso_sandbox import Sandbox
from tests.e2e.chain import Chain, opened
from tests.e2e.organisation import ROOT
from tests.e2e.state import masked, state

pytestmark = pytest.mark.e2e

SCAN: Final = """\
test -z "${KALYPSO_INPUTS:-}${KALYPSO_TOKEN:-}${GITHUB_TOKEN:-}${KALYPSO_APP_PRIVATE_KEY:-}"
grep -q 'kind: Deployment' "$KALYPSO_TREE/smoke-test/gen_manifests.yaml"
test -d "$KALYPSO_CHARTS"
grep . "$KALYPSO_IMAGES"
! grep -q :%s$ "$KALYPSO_IMAGES"
"""
"""A stand-in for a scanner: it refuses an image tag, and sees no secret."""


def configured(sandbox: Sandbox, url: str) -> list[tuple[str, str, str]]:
    """Return the statuses of the configs."""
    return [
        (status.context, status.state, masked(status.description or "", url))
        for status in sandbox.repository(CONFIGS).statuses
    ]


def scan(chain: Chain) -> None:
    """Let deploy.yml refuse the image of a commit, and propose it once people allow the image."""
    source, stage = chain.sandbox.repository(SOURCE), chain.stage
    before = state(chain.sandbox, chain.sandbox.url, PLACES)
    source.variables["SCAN"] = SCAN % "0.0.1-3"
    commit = stage.push("main", {"src/greeting.txt": "Hello?\n"}, "Ask", "?", SOURCE)
    refused = chain.run_due()
    assert [(job.name, job.outcome.result) for job in refused] == [
        ("release", "success"),
        ("render", "success"),
        ("scan", "failure"),
        ("deploy", "failure"),
    ]
    assert ":0.0.1-3\n" in refused[2].outcome.log
    after = state(chain.sandbox, chain.sandbox.url, PLACES)
    assert (after.files[f"{PLACES.gitops}@dev"], after.pull_requests) == (
        before.files[f"{PLACES.gitops}@dev"],
        before.pull_requests,
    )
    told = "Failed to deploy: the job of the scan ended with 'failure'"
    stage.statuses(commit, {"dev": ("failure", told)})
    source.variables["SCAN"] = SCAN % "0.0.1-2"
    workflow = f"{SOURCE}/actions/workflows/deploy.yml/dispatches"
    chain.ask(workflow, {"ref": "main", "inputs": {"environment": "dev", "commit_id": commit}})
    allowed = chain.run_due()
    assert [(job.name, job.outcome.result) for job in allowed] == [
        (name, "success") for name in ("render", "scan", "deploy")
    ]
    stage.statuses(commit, {"dev": ("pending", "Promoted 0.0.1-3")})
    key = chain.secrets["KALYPSO_APP_PRIVATE_KEY"].splitlines()[1]
    for job in (refused[2], allowed[1]):
        assert not any(key in path.read_text() for path in job.folder.iterdir() if path.is_file())


def test_a_commit_comes_to_every_ring_by_act_as_in_the_demo(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "kalypso_actions", "demo", "--application", "--act", "2"]
    with subprocess.Popen(
        [*command, "--output", "json", "--dir", str(tmp_path / "demo")],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        text=True,
    ) as demo:
        with opened(tmp_path / "e2e", application=True) as chain:
            run_scenario(chain.stage, ACTS[:2])
            jobs = [(job.run.file, job.name, job.environment) for job in chain.jobs.finished]
            played = state(chain.sandbox, chain.sandbox.url, PLACES)
            of_configs = configured(chain.sandbox, chain.sandbox.url)
            results = {job.outcome.result for job in chain.jobs.finished}
            scan(chain)
            entered = {job.deploys_to for job in chain.jobs.finished if job.name == "check"}
        output, _ = demo.communicate(timeout=600)
    assert results == {"success"}
    assert jobs[:5] == [
        ("ci.yml", "release", ""),
        ("deploy.yml", "deploy", "dev"),
        ("notify-on-pr.yml", "notify", ""),
        ("post-deployment.yml", "verify", "dev"),
        ("post-deployment.yml", "check", "dev"),
    ]
    assert entered == set(PLACES.environments)
    document = json.loads(output)
    assert document["problems"] == []
    with Sandbox(Path(document["dir"]), Programs({"PATH": os.environ["PATH"]})) as sandbox:
        assert played == state(sandbox, document["url"], PLACES)
        assert of_configs == configured(sandbox, document["url"])
