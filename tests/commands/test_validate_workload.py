"""`kalypso validate --workload`: an application team checks its own repository."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.command_line import WIDE, call_kalypso
from tests.docs.pages import ROOT, Page
from tests.git_repositories import commit_branch, git

WORKLOAD = """\
apiVersion: scheduler.kalypso.io/v1alpha1
kind: Workload
metadata:
  name: app
spec:
  deploymentTargets:
    - name: web
      environment: dev
      manifests:
        repo: https://git.test/app-gitops
        branch: dev
        path: ./web
"""
TARGET = WORKLOAD.partition("deploymentTargets:\n")[2]
FILE = "workload/workload.yaml"


def validate(*arguments: object) -> tuple[int, dict[str, Any]]:
    done = call_kalypso("validate", "--workload", *arguments, "--output", "json")
    assert "Traceback" not in done.stderr
    return done.returncode, json.loads(done.stdout)


@pytest.fixture
def application(tmp_path: Path) -> Path:
    """A clone of an application's repository, with a chart whose templates are no YAML."""
    files = {
        FILE: WORKLOAD,
        "helm/templates/all.yaml": "{{ if .Values.a }}\nkind: Deployment\n{{ end }}\n",
        "helm/Chart.yaml": "name: app\n",
    }
    commit_branch(tmp_path / "app", files)
    return tmp_path / "app"


def edit(folder: Path, old: str, new: str) -> None:
    text = (folder / FILE).read_text()
    assert old in text
    (folder / FILE).write_text(text.replace(old, new))


@pytest.mark.parametrize("place", ["", "workload", "@main"])
def test_a_sound_repository(application: Path, place: str) -> None:
    path = application / place if place != "@main" else f"{application}@main"
    code, document = validate(path)
    assert (code, document["problems"], document["warnings"]) == (0, [], [])
    assert document["documents"] == 1


def test_the_folder_that_the_registration_must_name_is_reported(
    application: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(application)
    done = call_kalypso("validate", "--workload")
    assert done.returncode == 0
    assert done.stderr == (
        "Checking ./workload of .: the WorkloadRegistration must name this path.\n"
    )


@pytest.mark.parametrize(
    ("old", "new", "line", "code", "text"),
    [
        ("kind: Workload", "kind: Workloads", 2, "kind-unknown", "did you mean Workload?"),
        ("kind: Workload", "kind: Wrokload", 2, "kind-unknown", "did you mean Workload?"),
        ("environment: dev", "environment: 5", 8, "field-invalid", "write it in quotes"),
        ("environment: dev", "environment: ''", 8, "name-invalid", "such as dev"),
        ("environment: dev", "environment: Dev", 8, "name-invalid", "such as dev"),
        ("      environment: dev\n", "", 7, "field-invalid", "environment is missing"),
        ("name: web", "name: Web", 7, "name-invalid", "'app-Web'"),
        (TARGET, TARGET * 2, 13, "target-duplicate", "rename one of the two"),
        (WORKLOAD, f"{WORKLOAD}---\n{WORKLOAD}", 17, "object-duplicate", "rename one of the two"),
        (WORKLOAD, f"{WORKLOAD}---\n{WORKLOAD.replace('Workload', 'Template')}", 14, "registration-foreign-kind", "delivers only Workloads"),
        ("      manifests:", "      configSchemas: ['{']\n      manifests:", 9, "schema-invalid", "configSchemas of 'app-web'"),
        ("  name: app", "\tname: app", 4, "yaml-invalid", "tab"),
    ],
)  # fmt: skip
def test_faults(application: Path, old: str, new: str, line: int, code: str, text: str) -> None:
    edit(application, old, new)
    exit_code, document = validate(application / "workload")
    (problem,) = document["problems"]
    assert (exit_code, problem["code"]) == (1, code)
    assert (problem["where"]["path"], problem["where"]["line"]) == ("workload.yaml", line)
    assert text in f"{problem['message']} {problem['advice']}"


@pytest.mark.parametrize(
    ("old", "new", "text"),
    [
        ("branch: dev", "brnach: dev", "no branch: rename brnach to branch"),
        ("        path: ./web\n", "", "no path: name the repository, branch and folder"),
        ("repo: https://git.test/app-gitops", "repo: ''", "no repo: name"),
    ],
)
def test_manifests_without_a_path(application: Path, old: str, new: str, text: str) -> None:
    edit(application, old, new)
    code, document = validate(application)
    (warning,) = document["warnings"]
    assert (code, document["problems"], warning["code"]) == (0, [], "manifests-incomplete")
    assert (warning["where"]["path"], warning["where"]["line"]) == (FILE, 9)
    assert text in f"{warning['message']}: {warning['advice']}"


def test_other_manifests_can_be_acknowledged(application: Path) -> None:
    edit(application, "        path: ./web\n", "")
    reason = "kalypso.io/ignore-reason: pulled as an OCI artifact"
    annotations = f"{{kalypso.io/ignore: manifests-incomplete, {reason}}}"
    edit(application, "name: app\n", f"name: app\n  annotations: {annotations}\n")
    code, document = validate(application)
    assert (code, document["warnings"], len(document["acknowledged"])) == (0, [], 1)


def test_a_folder_without_a_workload(application: Path) -> None:
    (application / FILE).unlink()
    code, document = validate(application / "workload")
    (problem,) = document["problems"]
    assert (code, problem["code"]) == (1, "workload-missing")
    assert "kind: Workload\n" in problem["advice"]


def test_sources_are_refused(application: Path) -> None:
    done = call_kalypso("validate", "--workload", application, "--source", "https://a.test=.")
    assert done.returncode == 2
    assert "nothing names one" in done.stderr


def test_a_job_gets_annotations_and_a_summary(
    application: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(application)
    git(application, "remote", "add", "origin", "https://github.com/acme/app.git")
    edit(application, "kind: Workload", "kind: Workloads")
    variables = {
        **WIDE,
        "GITHUB_ACTIONS": "true",
        "GITHUB_REPOSITORY": "acme/app",
        "GITHUB_SERVER_URL": "https://github.com",
        "GITHUB_SHA": git(application, "rev-parse", "HEAD"),
        "GITHUB_STEP_SUMMARY": str(application / "summary.md"),
    }
    done = call_kalypso("validate", "--workload", ".", variables=variables)
    assert done.returncode == 1
    assert f"::error title=kalypso validate,file={FILE},line=2,col=7::" in done.stdout
    summary = (application / "summary.md").read_text()
    assert summary.startswith("## kalypso validate: 1 problem, 0 warnings\n")


def test_the_example_of_the_guide_is_sound(tmp_path: Path) -> None:
    files = Page(ROOT / "docs" / "guide" / "applications.md").files()
    assert FILE in files
    for path, text in files.items():
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text(text)
    code, document = validate(tmp_path / "workload")
    assert (code, document["problems"], document["warnings"]) == (0, [], [])
    assert document["documents"] == 1
