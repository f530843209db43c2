"""An application's chain by its workflow templates and actions, run by act: two acts of the demo."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from kalypso_actions.clients.process import Programs
from kalypso_actions.commands.demo.application import ACTS, CONFIGS, PLACES
from kalypso_actions.commands.demo.scenario import run_scenario
from kalypso_sandbox import Sandbox
from tests.e2e.chain import opened
from tests.e2e.organisation import ROOT
from tests.e2e.state import masked, state

pytestmark = pytest.mark.e2e


def configured(sandbox: Sandbox, url: str) -> list[tuple[str, str, str]]:
    """Return the statuses of the configs."""
    return [
        (status.context, status.state, masked(status.description or "", url))
        for status in sandbox.repository(CONFIGS).statuses
    ]


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
