"""render and validate in a job of GitHub Actions, and for code scanning."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.command_line import WIDE, call_kalypso
from tests.git_repositories import commit_branch, git

FAULT = "apiVersion: scheduler.kalypso.io/v1alpha1\nkind: Templat\nmetadata: {name: a}\n"
PAGE = "https://github.com/acme/control-plane/blob"


@pytest.fixture
def clone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The checkout of a job, in a folder of its workspace, with a fault in a file."""
    folder = tmp_path / "workspace" / "checkout"
    folder.parent.mkdir()
    commit_branch(folder, {"fleet/a.yaml": FAULT})
    git(folder, "remote", "add", "origin", "https://github.com/acme/control-plane.git")
    monkeypatch.chdir(folder.parent)
    return folder


def job(clone: Path) -> dict[str, str]:
    return {
        **WIDE,
        "GITHUB_ACTIONS": "true",
        "GITHUB_REPOSITORY": "acme/control-plane",
        "GITHUB_SERVER_URL": "https://github.com",
        "GITHUB_SHA": git(clone, "rev-parse", "HEAD"),
        "GITHUB_STEP_SUMMARY": str(clone.parent / "summary.md"),
    }


def test_a_job_gets_annotations_and_a_summary(clone: Path) -> None:
    done = call_kalypso("validate", "checkout/fleet", variables=job(clone))
    assert done.returncode == 1
    assert (
        "::error title=kalypso validate,file=fleet/a.yaml,line=2,col=7::unknown kind 'Templat' "
        "[kind-unknown]%0Adid you mean Template?"
    ) in done.stdout.splitlines()
    summary = (clone.parent / "summary.md").read_text()
    assert summary.startswith("## kalypso validate: 1 problem, 0 warnings\n")
    commit = git(clone, "rev-parse", "HEAD")
    assert f"[`fleet/a.yaml:2`]({PAGE}/{commit}/fleet/a.yaml#L2) in `acme/control-plane`" in summary


def test_json_stays_one_document(clone: Path) -> None:
    done = call_kalypso("validate", "checkout/fleet", "--json", variables=job(clone))
    assert json.loads(done.stdout)["problems"]
    assert done.stderr.startswith("::error title=kalypso validate,file=fleet/a.yaml,")


def test_a_clone_of_another_repository_is_not_annotated(clone: Path) -> None:
    variables = job(clone) | {"GITHUB_REPOSITORY": "acme/other"}
    done = call_kalypso("validate", "checkout/fleet", variables=variables)
    (line,) = (line for line in done.stdout.splitlines() if line.startswith("::error"))
    assert "file=" not in line
    assert "checkout/fleet: a.yaml:2: unknown kind" in line


def test_an_error_that_ends_the_run_is_in_the_summary(clone: Path) -> None:
    done = call_kalypso("render", "dev", "--environment-dir", "absent", variables=job(clone))
    assert done.returncode == 2
    summary = (clone.parent / "summary.md").read_text()
    assert summary.startswith("## kalypso render: dev has 1 problem\n")
    assert "there is no such folder" in summary


def test_sarif_names_files_from_the_root_of_the_clone(clone: Path) -> None:
    done = call_kalypso("validate", "checkout/fleet", "--output", "sarif")
    assert done.returncode == 1
    (run,) = json.loads(done.stdout)["runs"]
    (result,) = run["results"]
    place = result["locations"][0]["physicalLocation"]
    assert place["artifactLocation"]["uri"] == "fleet/a.yaml"
    assert clone.is_dir()


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (["validate", "absent"], 1),
        (["render", "dev", "--environment-dir", "absent"], 2),
    ],
)
def test_an_error_is_sarif_too(clone: Path, arguments: list[str], code: int) -> None:
    done = call_kalypso(*arguments, "--output", "sarif")
    assert clone.is_dir()
    assert (done.returncode, done.stderr) == (code, "")
    (run,) = json.loads(done.stdout)["runs"]
    assert len(run["results"]) == 1


def test_nothing_in_a_file_is_a_command(clone: Path) -> None:
    hostile = FAULT.replace("Templat", "'x::error::y%0A%'")
    (clone / "fleet" / "a.yaml").write_text(hostile)
    done = call_kalypso("validate", "checkout/fleet", variables=job(clone))
    commands = [line for line in done.stdout.splitlines() if line.lstrip().startswith("::")]
    assert len(commands) == 1
    assert "%250A" in commands[0]
