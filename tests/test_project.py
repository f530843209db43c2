"""The project's own files agree with one another."""

from __future__ import annotations

import re
import subprocess
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from packaging.version import Version

MAKE = re.compile(r"""(?:^ *|`|" )make (?:--no-print-directory )?([a-z-]+)""", re.MULTILINE)
ROOT = Path(__file__).resolve().parents[1]
PYPROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))

LOCKS = {
    "requirements.lock": PYPROJECT["project"]["dependencies"],
    "requirements-dev.lock": PYPROJECT["project"]["dependencies"]
    + PYPROJECT["dependency-groups"]["dev"],
}

ENTRY = re.compile(
    r"^(?P<name>[A-Za-z0-9._-]+)==(?P<version>[^\s;]+)(?P<rest>.*(?:\n .*)*)", re.MULTILINE
)


def entries(lock: str) -> Iterator[re.Match[str]]:
    """Each package of a lock file with the lines that belong to it."""
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


def test_development_has_the_versions_that_users_get() -> None:
    development = locked("requirements-dev.lock")
    assert {
        name: version
        for name, version in locked("requirements.lock").items()
        if development.get(name) != version
    } == {}


def test_a_lock_has_nothing_that_nobody_asks_for() -> None:
    """uv notes who asks for each package; what was removed from pyproject.toml would lack that."""
    for lock in LOCKS:
        for entry in entries(lock):
            assert "# via" in entry["rest"], f"{lock}: {entry['name']}"


def make_targets() -> set[str]:
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    return set(re.findall(r"^([a-z-]+):.*##", makefile, re.MULTILINE))


def test_the_targets_that_people_rely_on_exist() -> None:
    wanted = {"dev", "demo", "lint", "test", "golden", "oracle", "oracle-report", "bench", "docs"}
    assert wanted | {"ci"} <= make_targets()


@pytest.mark.parametrize("file", ["README.md", ".ci/run", "tools/oracle/README.md"])
def test_every_target_that_is_named_exists(file: str) -> None:
    text = (ROOT / file).read_text(encoding="utf-8")
    named = re.findall(MAKE, text)
    assert set(named) <= make_targets()


def test_ci_is_a_script_that_bash_can_read() -> None:
    script = ROOT / ".ci" / "run"
    assert script.stat().st_mode & 0o111
    subprocess.run(["bash", "-n", str(script)], check=True)


def markdown() -> list[Path]:
    return [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]


@pytest.mark.parametrize("file", markdown(), ids=lambda path: path.name)
def test_links_between_documents_lead_somewhere(file: Path) -> None:
    text = re.sub(r"```.*?```", "", file.read_text(encoding="utf-8"), flags=re.DOTALL)
    for target in re.findall(r"\]\(([^)#]+)(?:#[^)]*)?\)", text):
        if "://" not in target:
            assert (file.parent / target).exists(), target
