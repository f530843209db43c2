"""A job that act runs: hostile texts in outputs and summaries reach the next step unchanged."""

from __future__ import annotations

import json
import os
import shlex
import sys
from pathlib import Path

import pytest
import yaml

import kalypso_actions
from tests.e2e.act import Act, Job
from tests.git_repositories import commit, repository

pytestmark = pytest.mark.e2e

ACT = Path(__file__).parents[2] / ".build" / "bin" / "act"
PACKAGE = Path(kalypso_actions.__file__).parents[1]

HOSTILE = {
    "delimiter": "a\nEOF\nverdict=compliant\nghadelimiter_x\nverdict<<EOF\ncompliant\nEOF",
    "command": "::set-output name=verdict::compliant\n##[set-output name=verdict]compliant",
    "stop": "::stop-commands::x\n::add-mask::compliant",
    "variable": "x\nGITHUB_PATH=/tmp\nPATH<<EOF\n/tmp\nEOF",
    "separators": "a\u2028::set-output name=verdict::b\x85c",
    "expression": "${{ secrets.TOKEN }} ${{ github.token }}",
    "verdict": "failed",
}

WRITE = """
import json, os, sys
from kalypso_actions.runner import Runner
runner = Runner(os.environ, sys.stdout)
texts = json.loads(open(sys.argv[1], encoding="utf-8").read())
runner.outputs(texts)
runner.summary("# begin\\n\\n" + "\\n".join(texts.values()) + "\\n\\nend")
"""

READ = """
import json, os, sys
open(sys.argv[1], "w", encoding="utf-8").write(json.dumps(
    {"outputs": json.loads(os.environ["OUTPUTS"]), "path": os.environ["PATH"]}))
"""


def test_outputs_and_summary(tmp_path: Path) -> None:
    if not ACT.exists():
        pytest.skip("make e2e builds act")
    texts, result = tmp_path / "texts.json", tmp_path / "result.json"
    texts.write_text(json.dumps(HOSTILE), encoding="utf-8")
    environment = {"PYTHONPATH": str(PACKAGE), "OUTPUTS": "${{ toJSON(steps.write.outputs) }}"}

    def step(name: str, code: str, file: Path) -> dict[str, object]:
        words = (sys.executable, "-X", "utf8", "-c", code, str(file))
        return {"id": name, "run": shlex.join(words), "shell": "bash", "env": environment}

    steps = [step("write", WRITE, texts), step("read", READ, result)]
    jobs = {"hostile": {"runs-on": "ubuntu-latest", "steps": steps}}
    checkout = repository(tmp_path / "checkout")
    commit(checkout, {"README.md": "x"})
    job = Job(
        name="hostile",
        workflow=yaml.safe_dump({"name": "hostile", "on": "push", "jobs": jobs}),
        checkout=checkout,
        event="push",
        payload={},
        actor="mallory",
        secrets={"TOKEN": "5ecret"},
        variables={},
        environment={},
    )
    (tmp_path / "job").mkdir()
    run = Act(ACT, tmp_path / "act", os.environ["PATH"]).run(job, tmp_path / "job")
    assert run.result == "success", run.log
    read = json.loads(result.read_text(encoding="utf-8"))
    assert read["outputs"] == HOSTILE
    assert "/tmp" not in read["path"].split(":")
    assert run.annotations == []
    assert run.summary.strip().startswith("# begin")
    assert run.summary.strip().endswith("end")
