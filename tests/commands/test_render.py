"""`kalypso render` for people: problems have file, line and advice."""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Callable
from io import StringIO
from pathlib import Path
from subprocess import CompletedProcess

import pytest
from rich.console import Console

from kalypso_actions.report.render_document import RenderDocument, print_render
from tests.command_line import call_kalypso, start_kalypso
from tests.git_repositories import commit_branch

Run = Callable[..., CompletedProcess[str]]
FLEET = Path(__file__).parents[1] / "golden" / "fleet"
CONTROL_PLANE = "https://git.example/acme/control-plane"


@pytest.fixture
def planes(tmp_path: Path) -> Path:
    """A copy of the fixture fleet that a test may break."""
    return Path(shutil.copytree(FLEET, tmp_path / "planes"))


def render(planes: Path, *options: str, run: Run = call_kalypso) -> CompletedProcess[str]:
    sources = {"control-plane": "main", "clinic": "apps/clinic", "archive": "apps/archive"}
    arguments = ["render", "dev", "--environment-dir", str(planes / "dev"), *options]
    for name, folder in {**sources, "lost": "apps/archive-of-old"}.items():
        arguments += ["--source", f"https://git.example/acme/{name}={planes / folder}"]
    return run(*arguments)


def edit(file: Path, old: str, new: str) -> None:
    text = file.read_text()
    assert old in text
    file.write_text(text.replace(old, new))


def test_a_table_of_assignments(planes: Path) -> None:
    done = render(planes)
    assert done.returncode == 0
    lines = [" ".join(line.split()) for line in done.stdout.splitlines()]
    assert lines[0] == "target cluster type policies files"
    assert (
        "clinic-web ward care-everywhere-north, front-on-large reconciler.yaml, namespace.yaml, platform-config.yaml"
        in lines
    )
    assert "manifests: 22 added, 0 modified, 0 deleted, 0 unchanged" in lines


@pytest.mark.parametrize(
    ("file", "old", "new", "said"),
    [
        pytest.param(
            "dev/cluster-types/all.yaml",
            "reconciler: fleet",
            "reconciler: flete",
            [
                "cluster-types/all.yaml:20",
                "ClusterType 'edge': reconciler names the Template 'flete', which does not exist",
                "did you mean 'fleet'?",
            ],
            id="a missing template",
        ),
        pytest.param(
            "dev/policies/all.yaml",
            "operator: DoesNotExist",
            "operator: Missing",
            ["policies/all.yaml:", "'Missing' is not a selector operator"],
            id="a bad selector",
        ),
        pytest.param(
            "dev/cluster-types/all.yaml",
            "name: lab",
            "name: ward",
            ["cluster-types/all.yaml:11", "ClusterType 'ward' is already defined in", "all.yaml:4"],
            id="a duplicate name",
        ),
        pytest.param(
            "dev/cluster-types/all.yaml",
            "site: south",
            "site: 5",
            [
                "cluster-types/all.yaml:12",
                "metadata.labels.site must be a text",
                "write it in quotes",
            ],
            id="a number as a label",
        ),
        pytest.param(
            "main/shared/common.yaml",
            '"required": ["INTERVAL"]',
            '"required": ["PERIOD"]',
            ["clinic-web on ward: Config data validation failed: PERIOD is required"],
            id="a schema violation",
        ),
        pytest.param(
            "main/templates/others.yaml",
            "{{ .Namespace }}\n        labels",
            "{{ .Nmspace }}\n        labels",
            ["templates/others.yaml:15", "can't evaluate field Nmspace in type scheduler.dataType"],
            id="a template that fails",
        ),
        pytest.param(
            "dev/probe.yaml",
            "kind: DeploymentTarget",
            "kind: [",
            ["probe.yaml:"],
            id="no YAML",
        ),
    ],
)
def test_faults(planes: Path, file: str, old: str, new: str, said: list[str]) -> None:
    edit(planes / file, old, new)
    done = render(planes, "--out", str(planes.parent / "out"))
    assert done.returncode == 1, done.stderr
    for words in said:
        assert words in done.stdout
    assert "Traceback" not in done.stderr
    assert not (planes.parent / "out").exists()


def test_every_fault_is_reported_in_one_run(planes: Path) -> None:
    edit(planes / "dev/cluster-types/all.yaml", "reconciler: fleet", "reconciler: flete")
    edit(planes / "dev/policies/all.yaml", "operator: DoesNotExist", "operator: Missing")
    document = json.loads(render(planes, "--output", "json").stdout)
    messages = " ".join(problem["message"] for problem in document["problems"])
    assert "flete" in messages
    assert "Missing" in messages
    assert all(problem["where"]["line"] for problem in document["problems"])


def test_a_registration_to_nowhere_is_a_warning(planes: Path) -> None:
    done = render(planes)
    assert done.returncode == 0
    assert "the application of WorkloadRegistration 'lost' is missing from" in done.stdout
    # And a ConfigMap not for the platform, a map in one, a Kustomization without an interval, and
    # an option of Argo CD that is none.
    assert "5 warnings" in done.stdout
    assert "apps/archive-of-old is not a folder" in done.stdout


def test_a_symlink_out_of_the_repository(planes: Path) -> None:
    (planes / "dev" / "passwd.yaml").symlink_to("/etc/passwd")
    done = render(planes)
    assert done.returncode == 1
    assert "passwd.yaml" in done.stdout
    assert "root:" not in done.stdout


def test_out_refuses_a_folder_of_others(planes: Path) -> None:
    thesis = planes.parent / "thesis" / "chapter1.txt"
    thesis.parent.mkdir()
    thesis.write_text("years of work")
    done = render(planes, "--out", str(thesis.parent))
    assert done.returncode == 2
    assert "is not empty, and is not an output of this command" in done.stderr
    assert thesis.read_text() == "years of work"


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["render", "dev", "--environment", "qa"], "two environments are named: 'dev' and 'qa'"),
        (
            ["render", "dev", "--environment-dir", "nowhere"],
            "--environment-dir nowhere: there is no such folder",
        ),
        (["render", "dev", "--control-plane", "x" * 999], "File name too long"),
        (["render", "dev", "--control-plane", "x", "--gitops", "x" * 999], "File name too long"),
        (["validate", "x" * 999], "File name too long"),
        (["render", "Dev", "--environment-dir", "x"], "'Dev' may hold lower-case letters"),
        (["render", "dev", "--environment-dir", "x", "--on-failure", "hide"], "hide"),
        (["render", "dev", "--environment-dir", "x", "--source", "x"], "is not of the form URL"),
        (["sing"], "No such command 'sing'"),
    ],
)
def test_wrong_usage(arguments: list[str], said: str) -> None:
    done = call_kalypso(*arguments)
    assert done.returncode == 2
    assert said in done.stderr
    assert "Traceback" not in done.stderr


def test_a_folder_that_is_no_clone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    done = call_kalypso("render", "dev")
    assert done.returncode == 2
    assert "the current folder is in no clone of a repository" in done.stderr


def test_a_clone_of_another_repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    commit_branch(tmp_path / "app", {"workload.yaml": "kind: Workload\n"})
    monkeypatch.chdir(tmp_path / "app")
    done = call_kalypso("render", "dev")
    assert done.returncode == 2
    assert f"a clone of {tmp_path / 'app'}, whose main has no Environment objects" in done.stderr
    assert "whose main has no Environment objects" in call_kalypso("validate").stderr


def test_json_is_one_document_and_nothing_else(planes: Path) -> None:
    done = render(planes, "--output", "json")
    document = json.loads(done.stdout)
    assert document["schema"] == "kalypso.render/v1"
    assert document["environment"] == "dev"
    assert document["assignments"][0] == {
        "workload": "clinic",
        "deploymentTarget": "clinic-web",
        "clusterType": "edge",
        "policies": ["care-everywhere-north"],
        "namespace": "dev-edge-clinic-web",
        "files": [
            "edge/clinic-web/reconciler.yaml",
            "edge/clinic-web/namespace.yaml",
            "edge/clinic-web/platform-config.sh",
        ],
    }


@pytest.mark.parametrize(
    ("arguments", "status", "said"),
    [
        (["render", "Dev"], 2, "--environment: 'Dev' may hold lower-case letters"),
        (["render", "dev", "--environment-dir", "nowhere"], 2, "there is no such folder"),
        (["render", "dev", "--control-plane", "nowhere"], 1, "there is no such folder"),
        (["validate", "nowhere"], 1, "there is no such folder"),
        (["template", "nowhere"], 2, "nowhere cannot be read"),
    ],
)
def test_json_has_the_error_that_ended_the_run(
    arguments: list[str], status: int, said: str
) -> None:
    done = call_kalypso(*arguments, "--output", "json")
    document = json.loads(done.stdout)
    assert document["schema"] == f"kalypso.{arguments[0]}/v1"
    assert said in document["problems"][0]["message"]
    assert done.returncode == status


def test_a_terminal_that_lacks_characters(planes: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    edit(planes / "dev/policies/all.yaml", "operator: In,", "operator: Ün,")
    monkeypatch.setenv("PYTHONIOENCODING", "ascii")
    text = render(planes, run=start_kalypso)
    document = render(planes, "--output", "json", run=start_kalypso)
    assert text.returncode == document.returncode == 1
    assert "'\\xdcn' is not a selector operator" in text.stdout
    assert (
        "'Ün' is not a selector operator" in json.loads(document.stdout)["problems"][0]["message"]
    )


def test_a_narrow_terminal_loses_nothing(planes: Path) -> None:
    shown = StringIO()
    document = RenderDocument.model_validate_json(render(planes, "--output", "json").stdout)
    print_render(Console(width=40, file=shown), document)
    assert "…" not in shown.getvalue().partition("added")[0]


def test_debug_logs_each_call_on_a_line(planes: Path) -> None:
    subprocess.run(["git", "init", "-q", "-b", "main", planes / "empty"], check=True)
    done = start_kalypso("render", "dev", "--control-plane", planes / "empty", "--debug")
    (asked, *_) = done.stderr.splitlines()
    assert f"{planes / 'empty'}/.git: git rev-parse --verify" in asked
    assert "hooksPath" not in done.stderr


def test_the_folder_of_a_clone_is_what_lies_in_it(planes: Path) -> None:
    """The folder is not the head of a branch with the environment's name."""
    subprocess.run(["git", "init", "-q", "-b", "wip", planes / "dev"], check=True)
    done = render(planes)
    assert done.returncode == 0
    assert "22 added" in done.stdout


def test_terminal_escapes_of_hostile_names_are_shown_not_obeyed(planes: Path) -> None:
    edit(planes / "dev/policies/all.yaml", "values: [front]", 'values: ["\\u001b[31mred"]')
    done = render(planes)
    assert done.returncode == 1
    assert "\x1b[31m" not in done.stdout
