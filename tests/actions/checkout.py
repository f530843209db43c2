"""A small repository of actions, and various machines to start them on.

It has the real launch.sh and install.py, which install one tiny package without the network. The
command prints its surroundings.
"""

from __future__ import annotations

import base64
import hashlib
import json
import os
import shlex
import shutil
import subprocess
import sys
import sysconfig
import venv
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import pytest

ROOT: Final = Path(__file__).resolve().parents[2]
POSIX: Final = pytest.mark.skipif(
    os.name == "nt", reason="made of links and shell scripts; selftest.yml runs actions on Windows"
)

PROGRAMS: Final = ("bash", "dirname", "sort", "sleep")
"""The programs that launch.sh and the stubs need, besides a Python."""

COMMAND: Final = """\
import json, os, sys
from importlib.metadata import entry_points
import marble
surroundings = {
    "arguments": sys.argv[1:],
    "python": sys.executable,
    "package": __file__,
    "marble": marble.__file__,
    "isolated": sys.flags.isolated,
    "utf8": sys.flags.utf8_mode,
    "variables": dict(os.environ),
    "points": {point.name: point.value for point in entry_points(group="kalypso_actions.colours")},
}
print(json.dumps(surroundings))
"""


def wheel(folder: Path) -> Path:
    """Make a wheel of the package `marble` 1.0."""
    files = {
        "marble/__init__.py": "",
        "marble-1.0.dist-info/METADATA": "Metadata-Version: 2.1\nName: marble\nVersion: 1.0\n",
        "marble-1.0.dist-info/WHEEL": "Wheel-Version: 1.0\nGenerator: tests\n"
        "Root-Is-Purelib: true\nTag: py3-none-any\n",
    }
    record = "marble-1.0.dist-info/RECORD"
    lines = [f"{name},{_digest(text)},{len(text)}" for name, text in files.items()]
    files[record] = "\n".join([*lines, f"{record},,", ""])
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "marble-1.0-py3-none-any.whl"
    with zipfile.ZipFile(path, "w") as archive:
        for name, text in files.items():
            archive.writestr(zipfile.ZipInfo(name), text)
    return path


def _digest(text: str) -> str:
    digest = base64.urlsafe_b64encode(hashlib.sha256(text.encode()).digest())
    return "sha256=" + digest.decode().rstrip("=")


@dataclass(frozen=True)
class Checkout:
    """The repository as a runner has fetched it."""

    folder: Path

    @classmethod
    def make(cls, folder: Path, wheels: Path) -> Checkout:
        """Write a lock of the wheel in `wheels`."""
        (folder / "actions").mkdir(parents=True)
        for name in ("launch.sh", "install.py"):
            shutil.copy(ROOT / "actions" / name, folder / "actions")
        package = folder / "kalypso_actions"
        package.mkdir()
        (package / "__init__.py").write_text('__version__ = "1.2"\n')
        (package / "__main__.py").write_text(COMMAND)
        checkout = cls(folder)
        checkout.register("red")
        checkout.lock(hashlib.sha256(wheel(wheels).read_bytes()).hexdigest())
        return checkout

    def register(self, colour: str) -> None:
        """Write a pyproject.toml with one entry point."""
        group = '[project.entry-points."kalypso_actions.colours"]'
        (self.folder / "pyproject.toml").write_text(f'{group}\nsky = "colours:{colour}"\n')

    def lock(self, digest: str) -> None:
        (self.folder / "requirements.lock").write_text(f"marble==1.0 --hash=sha256:{digest}\n")


@dataclass
class Machine:
    """A runner in a job: its programs, RUNNER_TEMP, and a workspace."""

    folder: Path
    checkout: Checkout
    wheels: Path
    variables: dict[str, str] = field(default_factory=dict)

    @classmethod
    def make(cls, folder: Path) -> Machine:
        """Make the machine, with a Python and uv."""
        wheels = folder / "wheels"
        machine = cls(folder, Checkout.make(folder / "checkout", wheels), wheels)
        for name in ("bin", "workspace", "temp", "home"):
            (folder / name).mkdir()
        for name in PROGRAMS:
            (folder / "bin" / name).symlink_to(str(shutil.which(name)))
        machine.program("python3", PYTHON)
        (folder / "bin" / "uv").symlink_to(UV)
        machine.variables = {
            "PATH": str(folder / "bin"),
            "HOME": str(folder / "home"),
            "RUNNER_TEMP": str(machine.temp),
            "RUNNER_TOOL_CACHE": str(folder / "tool-cache"),
            "UV_HTTP_RETRIES": "0",
            "PIP_RETRIES": "0",
            "PIP_CONFIG_FILE": os.devnull,
        }
        return machine

    @property
    def temp(self) -> Path:
        return self.folder / "temp"

    def program(self, name: str, script: str) -> Path:
        """Write a program from its script, on PATH or elsewhere."""
        path = self.folder / "bin" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"#!/bin/sh\n{script}\n")
        path.chmod(0o755)
        return path

    def has(self, installer: str) -> None:
        """Leave the machine this installer: uv or pip.

        If uv refuses to install, launch.sh tries pip. So the machine with uv has a pip that refuses
        at once.
        """
        if installer == "pip":
            (self.folder / "bin" / "uv").unlink()
            return
        pip = self.bare_python() / "pip" / "__main__.py"
        pip.parent.mkdir()
        pip.write_text("import sys\nsys.exit('no pip' if 'install' in sys.argv else 0)\n")

    def bare_python(self) -> Path:
        """Give the machine a Python without packages, even pip; return the folder for packages."""
        bare = self.folder / "bare"
        subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(bare)], check=True)
        self.program("python3", f'exec {shlex.quote(str(bare))}/bin/python "$@"')
        return next(bare.glob("lib/*/site-packages"))

    def offline(self) -> dict[str, str]:
        """Return the variable of an action with the folder of wheels as input."""
        return {"KALYPSO_INPUTS": json.dumps({"wheelhouse": str(self.wheels), "token": "secret"})}

    def start(self, variables: Mapping[str, str]) -> subprocess.Popen[str]:
        """Start the action `ci`."""
        return subprocess.Popen(
            [str(self.checkout.folder / "actions" / "launch.sh"), "ci", "two words"],
            cwd=self.folder / "workspace",
            env={**self.variables, **variables},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            encoding="utf-8",
            start_new_session=True,
        )

    def launch(self, variables: Mapping[str, str] | None = None) -> Launched:
        """Start it and wait for its end; offline unless there are variables."""
        process = self.start(self.offline() if variables is None else variables)
        output, errors = process.communicate(timeout=300)
        return Launched(process.returncode, output, errors)

    def markers(self) -> list[Path]:
        """Return the files that mark an installation as complete."""
        return [path for path in self.temp.glob("kalypso-*") if path.is_file()]


@dataclass(frozen=True)
class Launched:
    """The end of an action."""

    exit_code: int
    output: str
    errors: str

    @property
    def surroundings(self) -> Any:
        """The output of the action's command."""
        assert self.exit_code == 0, self.errors
        return json.loads(self.output)


PYTHON: Final = f'exec {shlex.quote(sys.executable)} "$@"'


def fingerprint() -> str:
    """Return the name that install.py gives to the environment of this repository's lock.

    A process of its own computes it, as in launch.sh: other tests may have changed this one.
    """
    code = "import runpy, sys; print(runpy.run_path(sys.argv[1])['fingerprint'](), end='')"
    script = str(ROOT / "actions" / "install.py")
    arguments = [sys.executable, "-I", "-X", "utf8", "-c", code, script]
    return subprocess.run(arguments, capture_output=True, text=True, check=True).stdout


UV: Final = str(Path(sys.executable).parent / "uv")


def make_runner_temp(folder: Path) -> Path:
    """Make the RUNNER_TEMP of a job in which an action has run; it has the packages of the tests."""
    prefix = folder / "installed"
    venv.create(prefix, symlinks=os.name == "posix")
    packages = Path(sysconfig.get_path("purelib", "venv", {"base": str(prefix)}))
    own = [str(ROOT), sysconfig.get_path("purelib"), sysconfig.get_path("platlib")]
    (packages / "this-tree.pth").write_text("\n".join(own), encoding="utf-8")
    (folder / f"kalypso-{fingerprint()}").write_text(str(prefix), encoding="utf-8")
    return folder
