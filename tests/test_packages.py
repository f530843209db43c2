"""The wheel, the source distribution, the image and the hook contain only what they need."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from importlib import metadata
from pathlib import Path
from typing import Any

import pytest
import yaml
from packaging.requirements import Requirement

from kalypso_actions import __version__

ROOT = Path(__file__).resolve().parents[1]
SHIPPED = (
    *("kalypso_actions", "kalypso_go", "kalypso_placement", "kalypso_sandbox"),
    "workflows-templates",
)
BESIDE = {".gitignore", "LICENSE", "PKG-INFO", "README.md", "pyproject.toml"}
"""The files of the source distribution that are not installed."""

DOCKERFILE = (ROOT / "Dockerfile").read_text(encoding="utf-8").replace("\\\n", " ")
SAMPLE = [ROOT / "samples" / "control-plane" / branch for branch in ("main", "dev", "stage")]


def shipped_files() -> set[str]:
    """Return the files of the repository that both packages must contain, untracked ones too."""
    listing = ["git", "ls-files", "--cached", "--others", "--exclude-standard", *SHIPPED]
    done = subprocess.run(listing, cwd=ROOT, capture_output=True, encoding="utf-8", check=True)
    return {name for name in done.stdout.splitlines() if (ROOT / name).exists()}


def installed_files() -> set[str]:
    """Return the wheel's files, without its metadata."""
    return {re.sub("^workflows-", "kalypso_actions/workflows-", name) for name in shipped_files()}


def build(source: Path, target: str, into: Path) -> Path:
    """Build a package without the network, and return it."""
    command = [sys.executable, "-m", "hatchling", "build", "--target", target, "-d", str(into)]
    subprocess.run(command, cwd=source, check=True, capture_output=True)
    (package,) = into.glob({"wheel": "*.whl", "sdist": "*.tar.gz"}[target])
    return package


def files_of_wheel(wheel: Path) -> set[str]:
    with zipfile.ZipFile(wheel) as archive:
        return {name for name in archive.namelist() if ".dist-info/" not in name}


@pytest.mark.slow
def test_the_source_distribution_has_the_sources_and_builds_the_wheel(tmp_path: Path) -> None:
    top = f"kalypso_actions-{__version__}"
    with tarfile.open(build(ROOT, "sdist", tmp_path)) as archive:
        names = {name.removeprefix(f"{top}/") for name in archive.getnames()}
        archive.extractall(tmp_path, filter="data")
    assert names == shipped_files() | BESIDE
    assert files_of_wheel(build(tmp_path / top, "wheel", tmp_path)) == installed_files()


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build(ROOT, "wheel", tmp_path_factory.mktemp("wheel"))


@pytest.mark.slow
def test_the_wheel_has_the_package_and_the_workflows(wheel: Path) -> None:
    assert files_of_wheel(wheel) == installed_files()


@pytest.fixture(scope="module")
def installed(wheel: Path) -> Path:
    """Return the folder of programs of a new environment with the wheel and the locked packages."""
    environment = wheel.parent / "environment"
    subprocess.run([sys.executable, "-m", "venv", environment], check=True)
    programs = environment / ("Scripts" if os.name == "nt" else "bin")
    pip: list[str | Path] = [
        programs / "python",
        "-m",
        "pip",
        "install",
        "--quiet",
        "--no-index",
        "--no-deps",
        wheel,
    ]
    subprocess.run(pip, check=True)
    ask: list[str | Path] = [
        programs / "python",
        "-c",
        "import sysconfig; print(sysconfig.get_path('platlib'))",
    ]
    done = subprocess.run(ask, check=True, capture_output=True, encoding="utf-8")
    copy_locked_packages(Path(done.stdout.strip()))
    return programs


def copy_locked_packages(site: Path) -> None:
    """Copy the packages of requirements.lock from this environment, so that no network is needed."""
    lock = (ROOT / "requirements.lock").read_text(encoding="utf-8")
    for line in re.findall(r"^[\w.-]+==[^\\\n]*", lock, re.MULTILINE):
        requirement = Requirement(line)
        if requirement.marker and not requirement.marker.evaluate():
            continue
        package = metadata.distribution(requirement.name)
        for file in package.files or ():
            source, target = Path(str(package.locate_file(file))), site / file
            if ".." not in file.parts and source.suffix != ".pyc" and source.is_file():
                target.parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(source, target)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("arguments", "output"),
    [
        pytest.param(["--version"], __version__, id="version"),
        pytest.param(["validate", *SAMPLE], "0 problems, 0 warnings", id="validate"),
        pytest.param(["init", "--help"], "Usage: kalypso init", id="init"),
        pytest.param(["placement", "--help"], "Usage: kalypso placement", id="placement"),
        pytest.param(["sandbox", "--dir", "trial"], "kalypso-actions[sandbox]", id="no-sandbox"),
    ],
)
def test_the_wheel_works_by_itself(
    installed: Path, tmp_path: Path, arguments: list[str | Path], output: str
) -> None:
    variables = {"PATH": os.environ["PATH"], "HOME": os.devnull, "PYTHONUTF8": "1"}
    done = subprocess.run(
        [installed / "kalypso", *arguments],
        cwd=tmp_path,
        env={**variables, "SYSTEMROOT": os.environ.get("SYSTEMROOT", "")},
        capture_output=True,
        encoding="utf-8",
        check=False,
    )
    assert output in done.stdout + done.stderr


def instructions(name: str) -> list[list[str]]:
    """Return the words after each instruction of this name in the Dockerfile."""
    return [line.split() for line in re.findall(rf"^{name} (.*)$", DOCKERFILE, re.MULTILINE)]


def copied() -> list[str]:
    """Return the files and folders of the repository that the image is built from."""
    copies = [words[:-1] for words in instructions("COPY") if not words[0].startswith("--from")]
    return [name for words in copies for name in words]


def test_the_image_is_a_slim_python_without_root() -> None:
    images = {words[0] for words in instructions("FROM")}
    assert [name for name in images if not re.fullmatch(r"python:3\.\d+-slim-\w+", name)] == []
    assert len(images) == 1
    (user,) = instructions("USER")
    assert int(user[0]) > 0


def test_pip_in_the_image_takes_locked_packages_or_our_own() -> None:
    installs = re.findall(r"pip install (?:(?!&&).)*", DOCKERFILE)
    assert len(installs) == 3
    assert all("--require-hashes" in words or "--no-index" in words for words in installs)


@pytest.mark.slow
def test_the_image_copies_what_its_wheel_needs(tmp_path: Path) -> None:
    for name in copied():
        copy = shutil.copytree if (ROOT / name).is_dir() else shutil.copyfile
        copy(ROOT / name, tmp_path / name)
    assert files_of_wheel(build(tmp_path, "wheel", tmp_path / "dist")) == installed_files()


def test_the_hook_checks_the_whole_control_plane_when_a_document_changes() -> None:
    (hook,) = manifest()
    assert (hook["entry"], hook["pass_filenames"]) == ("kalypso validate", False)
    changed = {name: bool(re.search(hook["files"], name)) for name in ("a/b.yaml", "c.yml", "d.md")}
    assert changed == {"a/b.yaml": True, "c.yml": True, "d.md": False}


def test_the_guide_names_our_repository_and_the_hook() -> None:
    guide = (ROOT / "docs" / "guide" / "installing.md").read_text(encoding="utf-8")
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert set(re.findall(r"git\+(https:[\w./-]+\w)", guide)) == {project["urls"]["Source"]}
    assert re.findall(r"- id: (.+)", guide) == [hook["id"] for hook in manifest()]


def manifest() -> list[dict[str, Any]]:
    hooks: list[dict[str, Any]] = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_bytes())
    return hooks


@pytest.mark.slow
def test_pre_commit_reads_the_hook() -> None:
    command = [sys.executable, "-m", "pre_commit", "validate-manifest", ".pre-commit-hooks.yaml"]
    subprocess.run(command, cwd=ROOT, check=True)
