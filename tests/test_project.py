"""The project's own files agree with one another."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from packaging.version import Version

from kalypso_actions.model.entry_points import own_points

MAKE = re.compile(r"""(?:^ *|`|" )make (?:--no-print-directory )?([a-z0-9-]+)""", re.MULTILINE)
MAKE_IS_NAMED_IN = [
    ".ci/run",
    "CONTRIBUTING.md",
    "README.md",
    "tests/README.md",
    "tools/oracle/README.md",
]
ROOT = Path(__file__).resolve().parents[1]
PYPROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))

LOCKS = {
    "requirements.lock": PYPROJECT["project"]["dependencies"],
    "requirements-product.lock": PYPROJECT["project"]["dependencies"]
    + PYPROJECT["project"]["optional-dependencies"]["sandbox"]
    + PYPROJECT["dependency-groups"]["build"],
    "requirements-dev.lock": PYPROJECT["project"]["dependencies"]
    + PYPROJECT["dependency-groups"]["dev"],
    "requirements-hub.lock": PYPROJECT["project"]["optional-dependencies"]["hub-serve"],
    "requirements-placement.lock": PYPROJECT["project"]["optional-dependencies"]["placement"],
}


def test_the_entry_points_of_pyproject_are_installed() -> None:
    groups = PYPROJECT["project"]["entry-points"]
    installed = {
        group: {name: point.value for name, point in own_points(group).items()} for group in groups
    }
    assert installed == groups, "run make dev"


ENTRY = re.compile(
    r"^(?P<name>[A-Za-z0-9._-]+)==(?P<version>[^\s;]+)(?P<rest>.*(?:\n .*)*)", re.MULTILINE
)


def entries(lock: str) -> Iterator[re.Match[str]]:
    """Yield each package of a lock file with its lines."""
    return ENTRY.finditer((ROOT / lock).read_text(encoding="utf-8"))


def locked(lock: str) -> dict[str, Version]:
    return {canonicalize_name(entry["name"]): Version(entry["version"]) for entry in entries(lock)}


@pytest.mark.parametrize("lock", LOCKS)
def test_a_lock_satisfies_what_the_project_asks_for(lock: str) -> None:
    versions = locked(lock)
    for text in LOCKS[lock]:
        requirement = Requirement(text)
        assert versions[canonicalize_name(requirement.name)] in requirement.specifier


@pytest.mark.parametrize("lock", LOCKS)
def test_every_locked_package_has_hashes(lock: str) -> None:
    assert [entry["name"] for entry in entries(lock) if "--hash=sha256:" not in entry["rest"]] == []


@pytest.mark.parametrize("lock", ["requirements-product.lock", "requirements-dev.lock"])
def test_a_lock_has_the_versions_that_users_get(lock: str) -> None:
    users = locked("requirements.lock")
    assert {name: version for name, version in locked(lock).items() if name in users} == users


def test_a_lock_has_no_unneeded_package() -> None:
    """uv notes the origin of each package; one that left pyproject.toml would have none."""
    for lock in LOCKS:
        for entry in entries(lock):
            assert "# via" in entry["rest"], f"{lock}: {entry['name']}"


@pytest.mark.skipif(os.name == "nt", reason="the Makefile is for a shell of POSIX")
@pytest.mark.parametrize("file", MAKE_IS_NAMED_IN)
def test_every_target_that_is_named_exists(file: str) -> None:
    targets = set(re.findall(MAKE, (ROOT / file).read_text(encoding="utf-8")))
    done = subprocess.run(
        ["make", "--dry-run", *targets], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr


def test_ci_is_a_script_that_bash_can_read() -> None:
    command = ["git", "ls-files", "--stage", ".ci/run"]
    listed = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    assert listed.startswith("100755 ")
    script = (ROOT / ".ci" / "run").read_bytes()
    subprocess.run([shutil.which("bash") or "bash", "-n"], input=script, check=True)


WORKFLOWS = sorted((ROOT / ".github" / "workflows").iterdir())


@pytest.mark.parametrize("file", WORKFLOWS, ids=lambda path: path.name)
def test_actions_of_others_are_pinned(file: Path) -> None:
    """A workflow names the commit, which nobody can move, and the version for people."""
    pinned = re.compile(r"[\w./-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+")
    used = re.findall(r"^ *(?:- )?uses: (.*)$", file.read_text(encoding="utf-8"), re.MULTILINE)
    others = [action for action in used if not action.startswith("./")]
    assert [requirement for requirement in others if not pinned.fullmatch(requirement)] == []


def test_an_action_has_one_version() -> None:
    text = "".join(file.read_text(encoding="utf-8") for file in WORKFLOWS)
    versions: dict[str, set[str]] = {}
    for action, version in re.findall(r"uses: ([\w-]+/[\w-]+)\S*?@(.*)", text):
        versions.setdefault(action, set()).add(version)
    assert len(versions) > 3
    assert {
        action: versions_of_action
        for action, versions_of_action in versions.items()
        if len(versions_of_action) > 1
    } == {}


@pytest.mark.parametrize("file", WORKFLOWS, ids=lambda path: path.name)
def test_a_workflow_s_jobs_get_what_they_ask_for_and_no_more(file: Path) -> None:
    workflow = yaml.safe_load(file.read_text(encoding="utf-8"))
    assert workflow["permissions"] == {}
    for name, job in workflow["jobs"].items():
        assert "permissions" in job, name
        assert "timeout-minutes" in job, name
        for step in job["steps"]:
            if step.get("uses", "").startswith("actions/checkout@"):
                assert step["with"]["persist-credentials"] is False, name


def test_ci_has_the_versions_of_python_that_the_project_promises() -> None:
    workflow = yaml.safe_load((ROOT / ".github/workflows/ci.yml").read_text(encoding="utf-8"))
    begins = "Programming Language :: Python :: "
    promised = [
        classifier.removeprefix(begins)
        for classifier in PYPROJECT["project"]["classifiers"]
        if classifier.startswith(begins)
    ]
    matrix = workflow["jobs"]["tests"]["strategy"]["matrix"]
    assert matrix["python"] == promised
    assert PYPROJECT["project"]["requires-python"] == f">={promised[0]}"
    assert {system.partition("-")[0] for system in matrix["system"]} == {
        "ubuntu",
        "macos",
        "windows",
    }
