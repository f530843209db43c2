"""The scan of deploy.yml: a job without secrets between rendering and proposing, run by the templates.

The jobs before and after it have the App's key; the scan has what an artifact holds.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Final

import pytest

from kalypso_actions.commands.demo.scenario_runner import InProcess
from kalypso_actions.commands.registry import APPLICATION, app_permissions
from kalypso_actions.commands.shared.workflow_templates import workflow_files
from kalypso_actions.errors import UsageError
from kalypso_actions.model.workflow_files import Placeholders
from kalypso_actions.report.application_document import AppDeployDocument
from kalypso_sandbox.workflow_runner.runs import CompletedStep, WorkflowRunner
from tests.breaks import breaks, turned
from tests.commands.app.shop import CONFIGS, GITOPS, SOURCE, Application

MARKS: Final = Placeholders("acme/kalypso-actions", "f" * 40, "acme/control-plane")
SCAN: Final = """\
test -z "${KALYPSO_INPUTS:-}${KALYPSO_TOKEN:-}${GITHUB_TOKEN:-}"
grep -q 'kind: Pod' "$KALYPSO_TREE/eu/gen_manifests.yaml"
test -d "$KALYPSO_CHARTS"
grep -q ghcr.io/acme/web/web:0.0.1 "$KALYPSO_IMAGES"
"""


@pytest.fixture
def runner(web: Application) -> WorkflowRunner:
    """The workflows of the application as the templates have them, with a scan."""
    sandbox = web.acme.sandbox
    web.acme.commit(workflow_files("application-source", MARKS), "main", SOURCE)
    app, key = sandbox.create_app(
        "acme", {"metadata": "read", **app_permissions(each.name for each in APPLICATION)}
    )
    variables = {"KALYPSO_APP_ID": str(app), "CONFIGS_REPO": CONFIGS, "MANIFESTS_REPO": GITOPS}
    sandbox.repository(SOURCE).variables |= {**variables, "SCAN": SCAN}
    machine = {"PATH": os.environ["PATH"], "HOME": str(web.acme.folder)}
    return WorkflowRunner(
        sandbox,
        web.acme.clock,
        machine,
        {"KALYPSO_APP_PRIVATE_KEY": key},
        web.acme.folder / "runs",
        InProcess(web.acme.clock),
    )


def ran(runner: WorkflowRunner) -> list[CompletedStep]:
    """Run what is due, to the end; return the steps."""
    done: list[CompletedStep] = []
    while due := runner.pending_runs():
        for run in due:
            done += runner.run(run)
    return done


def shown(steps: Sequence[CompletedStep]) -> list[tuple[str, str, int]]:
    """Return command, mode and exit code of each step."""
    return [(step.command, step.given.get("mode", ""), step.exit_code) for step in steps]


def test_the_scanned_tree_is_proposed(web: Application, runner: WorkflowRunner) -> None:
    commit = web.push({"src/a.txt": "1"})
    done = ran(runner)
    deploy = [("app-deploy", mode, 0) for mode in ("render", "scan", "propose")]
    assert shown(done) == [("app-ci", "", 0), *deploy]
    (scan,) = (step for step in done if step.given.get("mode") == "scan")
    assert not {"app-private-key", "token", "git-credentials"} & scan.given.keys()
    assert len(web.pulls()) == 1
    assert web.statuses(commit)["dev"][0] == "pending"


def test_a_refused_tree_is_not_proposed(web: Application, runner: WorkflowRunner) -> None:
    web.push({"src/a.txt": "1"})
    ran(runner)
    (pull,) = web.pulls()
    commit = web.push({"src/a.txt": "2"})
    web.acme.sandbox.repository(SOURCE).variables["SCAN"] = "echo a hole; exit 3"
    done = ran(runner)
    assert shown(done)[1:] == [
        ("app-deploy", "render", 0),
        ("app-deploy", "scan", 1),
        ("app-deploy", "propose", 1),
    ]
    assert web.statuses(commit)["dev"] == (
        "failure",
        "Failed to deploy: the job of the scan ended with 'failure'",
    )
    runs = web.acme.sandbox.repository(SOURCE).runs
    assert [run.conclusion for run in runs] == ["success", "failure"]
    (same,) = web.pulls()
    assert same["head"]["sha"] == pull["head"]["sha"]


def test_without_a_scan_one_job_runs(web: Application, runner: WorkflowRunner) -> None:
    del web.acme.sandbox.repository(SOURCE).variables["SCAN"]
    web.push({"src/a.txt": "1"})
    assert shown(ran(runner)) == [("app-ci", "", 0), ("app-deploy", "propose", 0)]
    assert len(web.pulls()) == 1


@breaks(
    "a tree is proposed that nobody has scanned",
    turned(
        "kalypso_actions.commands.app.deploy._judged_scan",
        "inputs.scanned_tree != deployment.proposed.digest",
        "False",
    ),
)
@pytest.mark.parametrize("scanned", ["", "another"])
def test_another_tree_than_the_scanned_one_waits(web: Application, scanned: str) -> None:
    web.released("1")
    done = web.deploy(mode="propose", scan="true", scanned_tree=scanned, scan_result="success")
    assert isinstance(done.document, AppDeployDocument)
    assert (done.document.action, done.failed) == ("wait", False)
    assert web.pulls() == []
    assert web.poll() == [], "the start is not overdue"
    web.end_runs()
    web.wait()
    assert [start[:2] for start in web.poll()] == [("deploy.yml", "dev")]


@breaks(
    "a cancelled scan lets the tree through",
    turned(
        "kalypso_actions.commands.app.deploy._judged_scan",
        "inputs.scan_result == 'success'",
        "inputs.scan_result != 'failure'",
    ),
)
@pytest.mark.parametrize("result", ["failure", "cancelled", "skipped", ""])
def test_only_a_scan_that_succeeded_counts(web: Application, result: str, tmp_path: Path) -> None:
    commit = web.released("1")
    rendered = web.deploy(mode="render", scan="true", scan_files=str(tmp_path / "files"))
    assert isinstance(rendered.document, AppDeployDocument)
    assert rendered.document.scan
    assert web.pulls() == []
    assert (tmp_path / "files" / "commit").read_text() == commit
    digest = rendered.document.digest
    given = {"mode": "propose", "scan": "true", "scanned_tree": digest}
    assert web.deploy(**given, scan_result=result).failed
    assert web.pulls() == []
    web.deploy(**given, scan_result="success", commit=commit, actor="somebody")
    assert len(web.pulls()) == 1


def test_a_tree_that_is_proposed_is_not_scanned_again(web: Application, tmp_path: Path) -> None:
    web.released("1")
    web.deploy()
    rendered = web.deploy(mode="render", scan="true", scan_files=str(tmp_path / "files"))
    assert rendered.document.outputs()["scan"] == "false"
    assert not (tmp_path / "files").exists()
    web.deploy(mode="propose", scan="true", scan_result="skipped")
    assert len(web.pulls()) == 1


def test_a_scan_with_other_files_or_without_files_is_told(web: Application, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no files of a run with mode render"):
        web.deploy(mode="scan", scan="true", scan_files=str(tmp_path))
    web.released("1")
    (tmp_path / "other").write_text("", encoding="utf-8")
    with pytest.raises(UsageError, match="has files"):
        web.deploy(mode="render", scan="true", scan_files=str(tmp_path))
