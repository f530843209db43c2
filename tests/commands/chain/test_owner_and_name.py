"""Commands for people read a control plane from GitHub by its owner and name."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.command_line import call_kalypso
from tests.commands.chain.organisation import CONTROL_PLANE, Job, Organisation


@pytest.fixture
def job(acme: Organisation, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    """The variables of a job outside of any clone."""
    monkeypatch.chdir(tmp_path)
    return acme.job_environment(Job()) | {"KALYPSO_TOKEN": acme.token, "COLUMNS": "200"}


def test_explain(job: dict[str, str]) -> None:
    named = ("--control-plane", CONTROL_PLANE)
    done = call_kalypso("explain", "dev", *named, "--target", "shop-web", variables=job)
    assert done.returncode == 0, done.stderr
    assert "shop-web" in done.stdout


def test_validate(job: dict[str, str]) -> None:
    done = call_kalypso("validate", "--control-plane", CONTROL_PLANE, variables=job)
    assert done.returncode == 0, done.stderr
    assert "of 3 branches: 0 problems" in done.stdout


def test_the_report_of_the_job_s_repository(job: dict[str, str], tmp_path: Path) -> None:
    """The inputs of the action hold the token, and the job's variables name the repository."""
    secret = job.pop("KALYPSO_TOKEN")
    job["KALYPSO_INPUTS"] = json.dumps({"token": secret})
    done = call_kalypso("report", "--out", "page", variables=job)
    assert "4 assignments of 2 environments" in done.stdout, done.stderr
    text = (tmp_path / "page" / "report.json").read_text()
    assert secret not in text
    pipeline = json.loads(text)["pipeline"]
    assert (pipeline["controlPlane"], pipeline["problems"]) == (CONTROL_PLANE, [])


def test_a_job_reads_allowed_repositories_only(acme: Organisation, job: dict[str, str]) -> None:
    inputs = {"token": acme.token, "allowed-repositories": "acme/gitops"}
    job["KALYPSO_INPUTS"] = json.dumps(inputs)
    done = call_kalypso("report", "--out", "page", variables=job)
    assert "0 assignments of 2 environments" in done.stdout
    document = json.loads(Path("page/report.json").read_text())
    warnings = document["environments"][0]["warnings"]
    assert "this repository is not among those that may be read" in str(warnings)
