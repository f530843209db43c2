"""The time that an action takes to start: the first of a job, by uv and by pip, and later ones.

The first one installs the packages, once with an empty cache, and once without downloads (from
uv's cache, or a folder of wheels for pip). A Python that does nothing shows the machine's load.
"""

from __future__ import annotations

import json
import os
import shlex
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
LAUNCH = ROOT / "actions" / "launch.sh"
UV = Path(sys.executable).parent / "uv"
NEXT_ALLOWED, UV_ALLOWED, PIP_ALLOWED = 1.0, 3.0, 12.0
"""Seconds of a later action, and of the first by uv and by pip, without downloads."""
ROUNDS = 5
SCHEDULE = '{"environment": "dev", "control-plane": "acme/fleet", "app-id": "1"}'
"""Inputs of the action that imports most. It ends before any request: the App's key is missing."""


def measure() -> list[str]:
    """Print the figures; return the missed targets."""
    with tempfile.TemporaryDirectory(prefix="kalypso-launch-") as name:
        folder = Path(name)
        nothing = min(_seconds([sys.executable, "-I", "-c", ""], os.environ) for _ in range(ROUNDS))
        uv = _machine(folder / "uv", has_uv=True)
        fetching = _launch(uv, folder / "first")
        first_uv = _launch(uv, folder / "second")
        pip = _machine(folder / "pip", has_uv=False)
        fetching_pip = _launch(pip, folder / "third")
        wheels = json.dumps({"wheelhouse": str(_wheels(folder / "wheels"))})
        first_pip = _launch(pip, folder / "fourth", inputs=wheels)
        following = min(_launch(uv, folder / "second") for _ in range(ROUNDS))
        schedule = min(
            _launch(uv, folder / "second", "schedule", SCHEDULE, status=2) for _ in range(ROUNDS)
        )
    print(f"\nuntil an action's command runs, {os.cpu_count()} cores")
    for what, seconds in (
        ("a Python that does nothing", nothing),
        ("first of a job, uv, empty cache", fetching),
        ("first of a job, uv, full cache", first_uv),
        ("first of a job, pip, without a cache", fetching_pip),
        ("first of a job, pip, a wheelhouse", first_pip),
        ("every next one that does nothing", following),
        ("every next schedule", schedule),
    ):
        print(f"  {what:<40}{seconds:8.2f} s {seconds / nothing:8.0f} × nothing")
    return [
        f"{what} took {seconds:.1f} s, {allowed:.0f} s are allowed"
        for what, seconds, allowed in (
            ("the first action with uv", first_uv, UV_ALLOWED),
            ("the first action with pip", first_pip, PIP_ALLOWED),
            ("the next action", schedule, NEXT_ALLOWED),
        )
        if seconds > allowed
    ]


def _wheels(folder: Path) -> Path:
    """Return a folder with every wheel that the first action installs."""
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--require-hashes"]
    lock = str(ROOT / "requirements.lock")
    subprocess.run(
        [*command, "--only-binary", ":all:", "-r", lock, "--dest", str(folder)], check=True
    )
    return folder


def _machine(folder: Path, *, has_uv: bool) -> dict[str, str]:
    """Return a job's variables: a machine with this Python, empty caches, and perhaps uv."""
    folder.mkdir()
    python = folder / "python3"
    python.write_text(f'#!/bin/sh\nexec {shlex.quote(sys.executable)} "$@"\n', encoding="utf-8")
    python.chmod(0o755)
    if has_uv:
        (folder / "uv").symlink_to(UV)
    others = [path for path in os.environ["PATH"].split(":") if not shutil.which("uv", path=path)]
    return {
        **os.environ,
        "PATH": ":".join([str(folder), *others]),
        "UV_CACHE_DIR": str(folder / "cache"),
        "PIP_NO_CACHE_DIR": "1",
    }


def _launch(
    machine: Mapping[str, str],
    temporary: Path,
    command: str = "set-up",
    inputs: str = "{}",
    status: int = 0,
) -> float:
    """Return the seconds of an action; by default, the action does nothing.

    The folder is the job's RUNNER_TEMP. Raises RuntimeError if the action's exit code is not
    `status`.
    """
    temporary.mkdir(exist_ok=True)
    environment = {**machine, "RUNNER_TEMP": str(temporary), "KALYPSO_INPUTS": inputs}
    return _seconds([str(LAUNCH), command], environment, status)


def _seconds(command: list[str], environment: Mapping[str, str], status: int = 0) -> float:
    started = time.perf_counter()
    process = subprocess.run(command, env=environment, capture_output=True, check=False)
    seconds = time.perf_counter() - started
    if process.returncode != status:
        raise RuntimeError(f"{command} ended with {process.returncode}: {process.stderr.decode()}")
    return seconds
