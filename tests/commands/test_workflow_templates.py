"""The workflow templates that people copy, and their placeholders."""

from __future__ import annotations

import re
import subprocess
import sys
import zipfile
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any, Final, get_args

import pytest
import yaml

from kalypso_actions.commands import registry
from kalypso_actions.commands.registry import ACTIONS
from kalypso_actions.commands.shared.workflow_templates import (
    Place,
    templates_folder,
    workflow_files,
)
from kalypso_actions.errors import KalypsoError, UsageError
from kalypso_actions.model.workflow_files import Placeholders, fill_in
from tests.commands.chain import documents

ROOT: Final = Path(__file__).resolve().parents[2]
PLACES: Final = get_args(Place)
FILES: Final = sorted((ROOT / "workflows-templates").rglob("*.y*ml"))
MARKS: Final = Placeholders("acme/kalypso-actions", "f" * 40, "acme/control-plane")


def read(file: Path | str) -> dict[str, Any]:
    """Parse a workflow with all scalars as strings, so that `on` stays `on`."""
    text = file if isinstance(file, str) else file.read_text(encoding="utf-8")
    document = yaml.load(text, yaml.BaseLoader)
    assert isinstance(document, dict)
    return document


def name_of(file: Path) -> str:
    return f"{file.parent.name}/{file.name}"


GITHUBS: Final = re.compile(
    r"actions/((up|down)load-artifact|(upload-pages-artifact|deploy-pages))"
    r"@[0-9a-f]{40} # v\d+\.\d+\.\d+$"
)

EACH_FILE: Final = pytest.mark.parametrize("file", FILES, ids=name_of)


def test_the_templates_are_those_that_start_one_another() -> None:
    assert list(map(name_of, FILES)) == [
        "application-configs/notify-on-config-change.yml",
        "application-configs/preview.yml",
        "application-gitops/notify-on-pr.yml",
        "application-source/ci.yml",
        "application-source/deploy.yml",
        "application-source/poll.yml",
        "application-source/post-deployment.yml",
        "application-source/preview-comment.yml",
        "application-source/preview.yml",
        "control-plane/cd.yaml",
        "control-plane/check-promote.yaml",
        "control-plane/ci.yaml",
        "control-plane/poll.yaml",
        "control-plane/preview-comment.yaml",
        "control-plane/preview.yaml",
        "control-plane/report.yaml",
        "control-plane/rollback.yaml",
        "control-plane/schedule.yaml",
        "control-plane-environment/preview.yaml",
        "control-plane-environment/start-schedule.yaml",
        "control-plane-pages/report-pages.yaml",
        "control-plane-record/observe.yaml",
        "gitops/check-promote.yaml",
    ]
    assert {file.parent.name for file in FILES} == set(PLACES)


@EACH_FILE
def test_a_template_grants_nothing_by_default_and_explains_itself(file: Path) -> None:
    text, document = file.read_text(encoding="utf-8"), read(file)
    assert document["permissions"] == {}
    head = text.partition("\nname: ")[0].split("\n")
    assert all(line.startswith("#") for line in head)
    assert {"secrets", "Variables", "Approvals"} <= set(re.findall(r"\w+", "\n".join(head)))
    for job in document["jobs"].values():
        assert "permissions" in job
        assert 1 <= int(job["timeout-minutes"]) <= 360
        assert "run" not in {key for step in job["steps"] for key in step}


@EACH_FILE
def test_no_line_is_wider_than_the_others(file: Path) -> None:
    """Lines with a reason for an exception from the check for secrets may be wider."""
    for line in file.read_text(encoding="utf-8").split("\n"):
        assert len(line.partition(" # zizmor: ignore")[0]) <= 100, line


@EACH_FILE
def test_the_marks_are_known(file: Path) -> None:
    text = file.read_text(encoding="utf-8")
    assert set(re.findall(r"OWNER/[\w-]+", text)) <= {
        "OWNER/kalypso-actions",
        "OWNER/CONTROL-PLANE",
    }
    uses = re.findall(r"^ +uses: (.*)", text, re.MULTILINE)
    assert uses
    for action in uses:
        assert re.fullmatch(r"OWNER/kalypso-actions(/actions/[a-z-]+)?@REF", action) or (
            GITHUBS.match(action)
        )


DISPATCHES: Final = {
    "cd.yaml": {
        "promoted_commit_id": True,
        "environment": True,
        "promoted_from": False,
        "allow_rollback": False,
        "override": False,
    },
    "check-promote.yaml": {
        "environment": True,
        "promoted_commit_id": False,
        "commit_id": True,
        "gitops_repository": False,
        "started_at": False,
    },
    "schedule.yaml": {"environment": True, "force": False, "allow_removals": False},
}
"""The inputs of each workflow of the control plane, and whether they are required: upstream's
inputs, which other repositories send, and ours.
"""


@pytest.mark.parametrize("name", DISPATCHES)
def test_dispatch_inputs_are_the_contract_s(name: str) -> None:
    triggers = read(ROOT / "workflows-templates" / "control-plane" / name)["on"]
    assert set(triggers) == {"workflow_dispatch"}
    inputs = triggers["workflow_dispatch"]["inputs"]
    assert {key: declared["required"] == "true" for key, declared in inputs.items()} == DISPATCHES[
        name
    ]
    assert len(inputs) <= 10
    for key, declared in inputs.items():
        is_flag = key in {"allow_rollback", "force", "allow_removals", "adopt"}
        assert declared["type"] == ("boolean" if is_flag else "string")
        assert declared["description"]


OF_APPLICATIONS: Final = {
    "deploy.yml": {
        "environment": True,
        "commit_id": False,
        "promotion": False,
        "image_tag": False,
        "version": False,
        "allow_rollback": False,
        "allow_removals": False,
        "force": False,
        "adopt": False,
    },
    "preview.yml": {"environment": True, "pull_request": True},
    "post-deployment.yml": {
        "environment": True,
        "commit_id": False,
        "promoted_commit_id": False,
        "promotion": False,
        "image_tag": False,
        "version": False,
        "started_at": False,
    },
}
"""Upstream's inputs, of which only the environment is required, and ours."""


@pytest.mark.parametrize("name", OF_APPLICATIONS)
def test_dispatch_inputs_of_an_application(name: str) -> None:
    triggers = read(ROOT / "workflows-templates" / "application-source" / name)["on"]
    inputs = triggers["workflow_dispatch"]["inputs"]
    required = {key: declared["required"] == "true" for key, declared in inputs.items()}
    assert required == OF_APPLICATIONS[name]


@pytest.mark.parametrize(
    "name",
    ["application-gitops/notify-on-pr.yml", "application-configs/notify-on-config-change.yml"],
)
def test_every_push_to_an_environment_of_an_application_is_told(name: str) -> None:
    """Upstream's patterns miss names such as d2, and its filter of paths whole promotions."""
    push = read(ROOT / "workflows-templates" / name)["on"]["push"]
    assert set(push) == {"branches-ignore"}
    assert not any(fnmatchcase("d2", pattern) for pattern in push["branches-ignore"])


def test_an_application_asks_for_one_approval() -> None:
    """The jobs in an environment of the application are those that its reviewers approve."""
    asking = [
        (file.name, name)
        for file in FILES
        if file.parent.name.startswith("application-")
        for name, job in read(file)["jobs"].items()
        if "inputs.environment" in job.get("environment", "")
    ]
    assert asking == [("post-deployment.yml", "check")]


WITHOUT_EFFECT: Final = {"promotion", "image_tag", "version"}
"""Inputs of upstream's starters that the check of a merge has no use for."""


@pytest.mark.parametrize("name", DISPATCHES)
def test_commands_are_tested_with_the_same_inputs(name: str) -> None:
    """The sandbox refuses a dispatch with other inputs, like GitHub."""
    required, optional = documents.WORKFLOWS[name]
    assert dict.fromkeys(required, True) | dict.fromkeys(optional, False) == DISPATCHES[name]


@EACH_FILE
def test_every_dispatch_input_reaches_the_action(file: Path) -> None:
    inputs = ((read(file)["on"].get("workflow_dispatch") or {}) or {}).get("inputs", {})
    for job in read(file)["jobs"].values():
        values = [step.get("with", {}) for step in job["steps"]]
        if any(value.get("mode") == "scan" for value in values):
            continue  # it looks at files alone
        if "event_name == 'pull_request'" in job.get("if", ""):
            continue
        given = set(re.findall(r"inputs\.(\w+)", str(values)))
        ignored = WITHOUT_EFFECT if file.name == "post-deployment.yml" else set()
        assert given == set(inputs) - ignored


OF_REPORTS: Final = {
    ("report.yaml", "report"): {},
    ("report-pages.yaml", "report"): {"pages": "read"},
    ("report-pages.yaml", "deploy"): {"id-token": "write", "pages": "write"},
}
"""The permissions of jobs whose commands are not of the chain."""


@EACH_FILE
def test_a_job_s_own_token_may_do_what_its_command_needs(file: Path) -> None:
    """If the App does everything, the token has only the permissions of jobs."""
    places: dict[str, registry.Place] = {
        "gitops": registry.GITOPS,
        "application-source": registry.SOURCE,
        "application-gitops": registry.GITOPS_OF_APPLICATION,
        "application-configs": registry.CONFIGS,
    }
    place = places.get(file.parent.name, registry.CONTROL_PLANE)
    for name, job in read(file)["jobs"].items():
        if "report" in file.name:
            assert job["permissions"] == OF_REPORTS[file.name, name]
            continue
        (step,) = (step for step in job["steps"] if not step["uses"].startswith("actions/"))
        given = step["with"]
        command = given.get("run") or step["uses"].rpartition("@")[0].rpartition("/")[2]
        needs = ACTIONS[command]
        rows = needs.verify_only if "verify-only" in given else needs.permissions
        wanted = registry.highest(row for row in rows if row.place == place)
        if command == "cd" and given.get("mode") != "pull-request":
            wanted["pull-requests"] = "read"  # for the labels that a freeze lets in
        if command in {"ci", "preview"}:  # without secrets, as in pull requests of forks
            wanted = {"contents": "read"}
        elif command == "preview-comment":
            wanted = {
                "pull-requests": "write",
                "actions": "read",
            }  # for the step that fetches the artifact
        elif command == "notify":
            wanted = {"contents": "read"}  # of its own repository; the notifier does the rest
        elif given.get("mode") == "scan":
            wanted = {}  # neither a token nor a secret
            assert "secrets." not in str(job) and "environment" not in job
        elif "app-id" in given:
            wanted = {key: level for key, level in wanted.items() if key == "id-token"}
        assert job["permissions"] == wanted, name


@EACH_FILE
def test_a_dispatch_is_verified_before_a_job_enters_an_environment(file: Path) -> None:
    """GitHub creates a missing environment without any protection."""
    jobs = read(file)["jobs"]
    for job in jobs.values():
        if "inputs" in str(job.get("environment")):
            verify = jobs[job["needs"]]
            (before,), (after,) = verify["steps"], job["steps"]
            # The App of an application is in an environment that only the default branch may use.
            assert verify.get("environment", "kalypso") == "kalypso"
            assert before["uses"] == after["uses"]
            given = {key: value for key, value in before["with"].items() if key != "verify-only"}
            assert before["with"]["verify-only"] == "true"
            assert given.items() <= after["with"].items()


@EACH_FILE
def test_no_run_that_writes_is_cancelled(file: Path) -> None:
    document = read(file)
    for block in (document, *document["jobs"].values()):
        group = block.get("concurrency")
        if group:
            is_check = group["group"].startswith(("ci-", "preview-$"))
            wanted = "${{ github.event_name == 'pull_request' }}" if is_check else ""
            assert group["cancel-in-progress"] in {"false", wanted}


def test_previews_of_all_branches_are_alike() -> None:
    """GitHub refuses the push of a proposal's branch with a workflow that main lacks."""
    folder = ROOT / "workflows-templates"
    places = ("control-plane", "control-plane-environment")
    texts = {(folder / place / "preview.yaml").read_text() for place in places}
    assert len(texts) == 1


@pytest.mark.parametrize("place", PLACES)
def test_all_marks_are_filled_in(place: Place) -> None:
    files = workflow_files(place, MARKS)
    assert set(files) == {
        f".github/workflows/{file.name}" for file in FILES if file.parent.name == place
    }
    for text in files.values():
        assert not re.search(r"\b(OWNER|REF|CONTROL-PLANE)\b", text)
        assert "uses: acme/kalypso-actions" in text
        assert f"@{'f' * 40}\n" in text


def test_the_gitops_repository_knows_the_control_plane() -> None:
    (text,) = workflow_files("gitops", MARKS).values()
    (step,) = read(text)["jobs"]["notify"]["steps"]
    assert step["with"]["control-plane"] == "acme/control-plane"


@pytest.mark.parametrize("line", ["a: OWNER/x", "uses: a/b@REF", "uses: OWNER/kalypso-actions@v1"])
def test_an_unknown_mark_is_refused(line: str) -> None:
    with pytest.raises(
        KalypsoError, match=r"the placeholder (OWNER|REF|CONTROL-PLANE) is unknown"
    ) as caught:
        fill_in(f"name: x\n{line}\n", MARKS, "x.yaml")
    assert caught.value.problem.where is not None
    assert str(caught.value.problem.where) == "workflows-templates: x.yaml:2"


def test_a_value_that_looks_like_a_mark_is_a_value() -> None:
    marks = Placeholders("OWNER/kalypso-actions", "REF", "OWNER/CONTROL-PLANE")
    text = "uses: OWNER/kalypso-actions/actions/ci@REF"
    assert fill_in(text, marks, "x.yaml") == text


@pytest.mark.parametrize(
    ("actions", "ref", "control_plane", "message"),
    [
        ("kalypso-actions", "v1", "acme/control-plane", "'kalypso-actions' is not of the form"),
        ("acme/kalypso-actions", "v1", "acme/a\nb: c", "is not of the form owner/name"),
        ("acme/kalypso-actions", "", "acme/control-plane", "'' is neither a tag nor a commit"),
        ("acme/kalypso-actions", "v1\nx: y", "acme/control-plane", "is neither a tag nor a commit"),
    ],
)
def test_values_that_no_workflow_can_name(
    actions: str, ref: str, control_plane: str, message: str
) -> None:
    with pytest.raises(UsageError, match=message):
        Placeholders(actions, ref, control_plane)


def test_a_checkout_has_them_beside_the_package() -> None:
    assert templates_folder() == ROOT / "workflows-templates"


def test_the_wheel_has_them(tmp_path: Path) -> None:
    build = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(tmp_path)]
    subprocess.run(build, cwd=ROOT, check=True, capture_output=True)
    (wheel,) = tmp_path.glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(tmp_path)
    script = (
        "from kalypso_actions.commands.shared import workflow_templates as templates\n"
        "print(templates.templates_folder())"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], cwd=tmp_path, check=True, capture_output=True, text=True
    )
    folder = tmp_path / "kalypso_actions" / "workflows-templates"
    assert done.stdout.strip() == str(folder)
    assert {
        file.relative_to(folder).as_posix(): file.read_text() for file in folder.rglob("*.y*ml")
    } == {name_of(file): file.read_text() for file in FILES}


@pytest.mark.parametrize(
    "branch", ["kalypso/dev", "gh-readonly-queue/dev/pr-1-a", "revert-7-kalypso/dev"]
)
def test_branches_that_github_and_kalypso_make_start_nothing(branch: str) -> None:
    """The Revert button names its branch after the reverted one."""
    for file in FILES:
        push = read(file)["on"].get("push", {})
        if file.parent.name != "control-plane" and push and "branches" not in push:
            ignored = push["branches-ignore"]
            patterns = [pattern.replace("**", "*") for pattern in ignored if "**" in pattern]
            assert any(fnmatchcase(branch, pattern) for pattern in patterns), file
