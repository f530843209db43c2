"""The input `plugins` of the set-up action: schedulers for the next actions of the job."""

from __future__ import annotations

import hashlib
import subprocess
import sys
from pathlib import Path

import pytest

from tests.actions.checkout import POSIX, ROOT, make_runner_temp
from tests.actions.composite import Job
from tests.actions.organisation import acme_of_today, job_of
from tests.commands.chain import documents

pytestmark = [POSIX, pytest.mark.slow]

SAMPLE = ROOT / "samples" / "scheduler-plugin"


def test_a_job_with_the_sample_package(tmp_path: Path, job: Job) -> None:
    wheels = tmp_path / "wheels"
    build = [sys.executable, "-m", "hatchling", "build", "--target", "wheel", "-d", str(wheels)]
    subprocess.run(build, cwd=SAMPLE, check=True, capture_output=True)
    (wheel,) = wheels.iterdir()
    file = job.workspace / "plugins.txt"
    job.variables["RUNNER_TEMP"] = str(make_runner_temp(tmp_path / "temp"))
    with acme_of_today(tmp_path / "acme") as acme:
        environment = documents.environment(acme.url(), "dev", first=True)
        prices = "  annotations:\n    kalypso.io/scheduler: prices\n"
        acme.commit({".environments/dev.yaml": environment.replace("  annotations:\n", prices)})
        job_of(acme, job).variables["GITHUB_WORKSPACE"] = str(job.workspace)

        unknown = job.uses(ROOT / "actions" / "schedule", environment="dev")
        assert unknown.exit_code != 0
        assert "there is no scheduler 'prices'" in unknown.log

        file.write_text("acme-price-scheduler==1.0.0\n", encoding="utf-8")
        refused = job.uses(ROOT, plugins="plugins.txt", wheelhouse=str(wheels))
        assert refused.exit_code == 1
        (annotation,) = refused.annotations()
        assert "the packages of plugins.txt" in annotation[1]
        assert "each line needs == and --hash" in annotation[1]

        digest = hashlib.sha256(wheel.read_bytes()).hexdigest()
        file.write_text(f"acme-price-scheduler==1.0.0 --hash=sha256:{digest}\n", encoding="utf-8")
        set_up = job.uses(ROOT, plugins="plugins.txt", wheelhouse=str(wheels))
        assert set_up.exit_code == 0, set_up.log
        scheduled = job.uses(ROOT / "actions" / "schedule", environment="dev")
        assert scheduled.exit_code == 0, scheduled.log
        assert scheduled.outputs["assignments"] == "1"  # the cheapest of the two cluster types
