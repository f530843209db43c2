"""Install what Kalypso needs, once per job, and print the path of the Python that has it.

launch.sh starts it, and it uses only the standard library. It makes a virtual environment in
RUNNER_TEMP with the packages of requirements.lock, of the input `plugins`, and of the extras that
the arguments name (requirements-EXTRA.lock); Kalypso itself comes from this checkout, with the
entry points of its pyproject.toml. It writes the marker beside the environment last, so no run uses
an incomplete one. If two actions run at the same time, each uses the environment that it completed.
"""

from __future__ import annotations

import hashlib
import importlib.machinery
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NoReturn

ROOT = Path(__file__).resolve().parents[1]
LOCK = ROOT / "requirements.lock"
PROJECT = ROOT / "pyproject.toml"
INPUTS = "KALYPSO_INPUTS"

OF_PIP_FOR_UV = {
    "PIP_INDEX_URL": "UV_DEFAULT_INDEX",
    "PIP_EXTRA_INDEX_URL": "UV_INDEX",
    "PIP_CERT": "SSL_CERT_FILE",
}
"""pip's variable for a source of packages -> uv's."""

MISLEADING = frozenset(
    {
        *("PIP_CONSTRAINT", "PIP_DRY_RUN", "PIP_NO_BINARY", "PIP_PREFIX", "PIP_PYTHON"),
        *("PIP_REQUIRE_VIRTUALENV", "PIP_REQUIREMENT", "PIP_ROOT", "PIP_TARGET", "PIP_USER"),
        *("UV_BREAK_SYSTEM_PACKAGES", "UV_CONSTRAINT", "UV_EXCLUDE_NEWER", "UV_NO_BINARY"),
        *("UV_OVERRIDE", "UV_PRERELEASE", "UV_PYTHON", "UV_RESOLUTION", "UV_SYSTEM_PYTHON"),
        *("VIRTUAL_ENV", "CONDA_PREFIX", "__PYVENV_LAUNCHER__"),
    }
)
"""A job's settings that would install something else, or elsewhere."""

SECRETS = (
    *("KALYPSO_", "GH_TOKEN", "GITHUB_TOKEN", "AZURE_CREDENTIALS"),
    *("ACTIONS_ID_TOKEN_REQUEST_TOKEN", "ACTIONS_RUNTIME_TOKEN"),
)
"""Prefixes of variables that an installer does not get, because no index needs them."""

MOST_SHOWN = 4000
"""Characters of an installer's output: the last ones, which contain the error."""


class InstallError(Exception):
    """A fault that the user can repair; `advice` says how."""

    def __init__(self, message: str, advice: str = "") -> None:
        super().__init__(message)
        self.advice = advice


def main() -> None:
    """Print the path of a Python that runs `-I -m kalypso_actions`."""
    try:
        inputs = os.environ.get(INPUTS, "")
        wheelhouse = wheelhouse_of(inputs)
        python = installed(temporary_folder(), wheelhouse)
        extras = [ROOT / f"requirements-{extra}.lock" for extra in sys.argv[1:]]
        for file in filter(None, [plugins_of(inputs), *extras]):
            install_more(python, file, wheelhouse)
    except (InstallError, OSError) as error:
        die(str(error), getattr(error, "advice", ""))
    sys.stdout.write(str(python))


def temporary_folder() -> Path:
    """Return the runner's folder for the files of a job.

    Raises InstallError outside of jobs, and if the folder cannot hold programs.
    """
    folder = os.environ.get("RUNNER_TEMP", "")
    if not folder:
        advice = "this script is for jobs of GitHub Actions; elsewhere, install by pip install ."
        raise InstallError("RUNNER_TEMP is not set", advice)
    if hasattr(os, "ST_NOEXEC") and os.statvfs(folder).f_flag & os.ST_NOEXEC:  # only Linux has it
        advice = "keep the runner's work folder where programs may run"
        raise InstallError(f"RUNNER_TEMP ({folder}) is mounted noexec", advice)
    return Path(folder)


def wheelhouse_of(inputs: str) -> Path | None:
    """Return the folder of wheels in an action's inputs. Raises InstallError if it is missing."""
    try:
        given = json.loads(inputs or "{}")["wheelhouse"]
    except (ValueError, KeyError, TypeError):
        return None  # the command itself reports wrong inputs
    if not given:
        return None
    folder = Path(given).resolve()
    if not folder.is_dir():
        raise InstallError(f"the input wheelhouse: {folder} is not a folder")
    return folder


def plugins_of(inputs: str) -> Path | None:
    """Return the requirements file of plugins in an action's inputs. Raises InstallError."""
    try:
        given = json.loads(inputs or "{}")["plugins"]
    except (ValueError, KeyError, TypeError):
        return None
    if not given:
        return None
    file = Path(os.environ.get("GITHUB_WORKSPACE", "."), given).resolve()
    if not file.is_file():
        raise InstallError(f"the input plugins: {file} is not a file")
    return file


def install_more(python: Path, file: Path, wheelhouse: Path | None) -> None:
    """Add wheels with known hashes, once; Kalypso's own packages keep their versions."""
    folder = python.parents[1]
    marker = folder / f"more-{hashlib.sha256(file.read_bytes()).hexdigest()[:16]}"
    if marker.exists():
        return
    offline = ["--no-index", "--find-links", str(wheelhouse)] if wheelhouse else []
    wanted = ["--require-hashes", "--only-binary", ":all:", *offline, "-r", str(file)]
    try:
        install_packages(python, [*wanted, "-c", str(LOCK)], folder)
    except InstallError as error:
        advice = "each line needs == and --hash, and versions that Kalypso's own lock allows"
        raise InstallError(f"the packages of {file.name}: {error}", advice) from error
    marker.touch()


def installed(temporary: Path, wheelhouse: Path | None) -> Path:
    """Return the Python of a complete environment; make one if there is none."""
    marker = temporary / f"kalypso-{fingerprint()}"
    if marker.exists():
        python = python_in(Path(marker.read_text(encoding="utf-8")))
        if python:
            return python
    folder = Path(tempfile.mkdtemp(prefix="kalypso-", dir=temporary))
    try:
        python = install(folder, wheelhouse)
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)
        raise
    written = folder / marker.name
    written.write_text(str(folder), encoding="utf-8")
    written.replace(marker)
    return python


def fingerprint() -> str:
    """Return a hash of the packages, the Python with its C library, and the checkout."""
    parts = (
        hashlib.sha256(LOCK.read_bytes()).hexdigest(),
        entry_points(),
        sys.version,
        sys.base_prefix,
        importlib.machinery.EXTENSION_SUFFIXES[0],
        str(ROOT),
    )
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()[:16]


def python_in(folder: Path) -> Path | None:
    """Return the Python of a virtual environment, in the layout of Windows or of other systems."""
    found = (folder / name for name in ("Scripts/python.exe", "bin/python"))
    return next((path for path in found if path.exists()), None)


def install(folder: Path, wheelhouse: Path | None) -> Path:
    """Make an environment in an empty folder; return its Python. Raises InstallError."""
    run([sys.executable, "-I", "-m", "venv", "--without-pip", str(folder)], folder)
    python = python_in(folder)
    if python is None:
        raise InstallError(f"{sys.executable} makes virtual environments without a Python")
    offline = ["--no-index", "--find-links", str(wheelhouse)] if wheelhouse else []
    wanted = ["--no-deps", "--require-hashes", "--only-binary", ":all:", *offline, "-r", str(LOCK)]
    install_packages(python, wanted, folder)
    code = "import sysconfig; print(sysconfig.get_path('purelib'), end='')"
    packages = Path(run([str(python), "-I", "-X", "utf8", "-c", code], folder))
    (packages / "kalypso_actions.pth").write_text(f"{ROOT}\n", encoding="utf-8")
    describe(packages)
    return python


def describe(packages: Path) -> None:
    """Write what Python finds entry points by: the metadata of an installed package."""
    initial = (ROOT / "kalypso_actions" / "__init__.py").read_text(encoding="utf-8")
    found = re.search(r'^__version__ = "(.+)"$', initial, re.MULTILINE)
    version = found[1] if found else "0"
    folder = packages / f"kalypso_actions-{version}.dist-info"
    folder.mkdir()
    files = {
        "METADATA": f"Metadata-Version: 2.1\nName: kalypso-actions\nVersion: {version}\n",
        "entry_points.txt": entry_points(),
    }
    files["RECORD"] = "".join(f"{folder.name}/{name},,\n" for name in (*files, "RECORD"))
    for name, text in files.items():
        (folder / name).write_text(text, encoding="utf-8")


def entry_points() -> str:
    """Return the entry points of pyproject.toml in the form of installed packages."""
    text = PROJECT.read_text(encoding="utf-8") if PROJECT.is_file() else ""
    groups = tomllib.loads(text).get("project", {}).get("entry-points", {})
    lines = []
    for group, points in groups.items():
        lines += [f"[{group}]", *(f"{name} = {value}" for name, value in points.items()), ""]
    return "\n".join(lines)


def install_packages(python: Path, wanted: Sequence[str], folder: Path) -> None:
    """Install by uv, which is quicker. If uv is missing or fails, install by pip.

    Companies often configure pip further than uv.
    Python compiles the modules that a command imports, and keeps the result; compiling all packages
    here would take two seconds more.
    """
    refused = ""
    uv = shutil.which("uv")
    if uv and Path(uv).is_absolute():  # Windows looks in the current folder, too
        tell("Installing Kalypso's dependencies by uv.")
        command = [uv, "pip", "install", "--python", str(python)]
        try:
            run([*command, *wanted], folder, translated(OF_PIP_FOR_UV))
        except InstallError as error:
            refused = f"{error}\n"
            tell(f"{error}\nuv failed; trying pip.")
        else:
            return
    tell("Installing Kalypso's dependencies by pip.")
    command = [*pip_for(python, folder), "install", "--quiet", "--no-compile"]
    try:
        run([*command, "--no-input", "--no-user", "--disable-pip-version-check", *wanted], folder)
    except InstallError as error:
        raise InstallError(f"{refused}{error}", advice_for_missing_wheels()) from error


def pip_for(python: Path, folder: Path) -> list[str]:
    """Return the start of a pip command for an environment without pip.

    It is the pip of this Python, or the one that is bundled with Python.
    """
    own = [sys.executable, "-I", "-m", "pip", "--python", str(python)]  # since pip 22.3
    try:
        run([*own, "--version"], folder)
    except InstallError:
        try:
            run([str(python), "-I", "-m", "ensurepip"], folder)
        except InstallError as error:
            advice = "install uv or pip first, or add a step with actions/setup-python before"
            raise InstallError(f"there is neither uv nor pip: {error}", advice) from error
        return [str(python), "-I", "-m", "pip"]
    return own


def run(arguments: Sequence[str], folder: Path, more: Mapping[str, str] | None = None) -> str:
    """Run a program, and return its output. Raises InstallError with its messages."""
    done = subprocess.run(
        arguments,
        cwd=folder,  # so that settings in the workspace have no effect
        env={**environment(), **(more or {})},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        encoding="utf-8",
        errors="replace",
        check=False,
    )
    if done.returncode:
        said = (done.stderr.strip() or done.stdout.strip())[-MOST_SHOWN:]
        raise InstallError(f"{Path(arguments[0]).name} ended with {done.returncode}: {said}")
    return done.stdout


def environment() -> dict[str, str]:
    """Return the job's variables, such as proxies and indexes, without Kalypso's secrets."""
    return {
        name: value
        for name, value in os.environ.items()
        if name not in MISLEADING and not name.startswith(("PYTHON", *SECRETS))
    }


def translated(names: Mapping[str, str]) -> dict[str, str]:
    """Return the job's variables under other names, unless the job has set those itself."""
    return {
        name: os.environ[given]
        for given, name in names.items()
        if os.environ.get(given) and not os.environ.get(name)
    }


def advice_for_missing_wheels() -> str:
    """Return advice for packages that cannot be installed."""
    if "musl" in importlib.machinery.EXTENSION_SUFFIXES[0]:
        return (
            "google-re2 has no wheels for Alpine: use an image with glibc and git, for example "
            "python:3.13"
        )
    version = f"{sys.version_info.major}.{sys.version_info.minor}"
    return (
        f"if a package has no wheel for this Python ({version}), choose another Python with "
        "actions/setup-python; if the index cannot be reached, set PIP_INDEX_URL or "
        "UV_DEFAULT_INDEX, or the input wheelhouse"
    )


def tell(text: str) -> None:
    """Print a text for people, in which the runner finds no command."""
    lines = (f"  {line}".replace("##[", "## [").replace("::", ": :") for line in text.splitlines())
    sys.stderr.write("\n".join(lines).strip() + "\n")


def die(message: str, advice: str) -> NoReturn:
    """End with an annotation, in which the runner decodes these escapes."""
    text = f"Kalypso cannot be installed: {message}" + (f"\n{advice}" if advice else "")
    for character, escape in (("%", "%25"), ("\r", "%0D"), ("\n", "%0A")):
        text = text.replace(character, escape)
    sys.stderr.write(f"::error title=kalypso::{text}\n")
    sys.exit(1)


if __name__ == "__main__":
    main()
