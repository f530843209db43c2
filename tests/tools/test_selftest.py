"""The sandbox of the self-test: steps with its BASH_ENV run in its repositories."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
CONTROL_PLANE = "acme/control-plane"
PYTHON = Path(sys.executable).as_posix()
BASH = shutil.which("bash") or "bash"
"""bash by its path: by name, Windows starts that of its Linux subsystem."""


def outputs_of(*arguments: str | Path) -> dict[str, str]:
    """Return the outputs of `python -m tools.selftest`, by name."""
    command = [sys.executable, "-m", "tools.selftest", *map(str, arguments)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True, timeout=90)
    return dict(line.split("=", 1) for line in done.stdout.splitlines())


class Steps:
    """The steps of a job."""

    def __init__(self, folder: Path, token: str) -> None:
        self._outputs = folder / "outputs"
        self._token = token

    def run(self, script: str, bash_env: str) -> tuple[int, str]:
        """Run a step like a runner; return its exit code and output."""
        environment = {**os.environ, "BASH_ENV": bash_env, "GITHUB_TOKEN": self._token}
        environment |= {
            "GITHUB_ACTIONS": "true",
            "GITHUB_REPOSITORY": "of/the-job",
            "GITHUB_OUTPUT": str(self._outputs),
        }
        done = subprocess.run(
            [BASH, "--noprofile", "--norc", "-eo", "pipefail", "-c", script],
            cwd=ROOT,
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
            timeout=90,
        )
        return done.returncode, done.stdout

    def kalypso(self, command: str, bash_env: str) -> tuple[int, str]:
        """Run a command of Kalypso in a step."""
        return self.run(f"{PYTHON} -m kalypso_actions {command}", bash_env)


@pytest.mark.slow
def test_the_commands_run_in_the_repositories_of_the_sandbox(tmp_path: Path) -> None:
    github = outputs_of("start", tmp_path / "selftest")
    steps, here = Steps(tmp_path, github["token"]), github["control-plane"]
    try:
        is_there = f'test "$GITHUB_REPOSITORY $GITHUB_SHA" = "{CONTROL_PLANE} {github["commit"]}"'
        assert steps.run(is_there, here) == (0, "")
        schedule = steps.kalypso("schedule --environment dev", here)
        assert schedule[0] == 0, schedule
        merged = outputs_of("merge", tmp_path / "selftest")
        notify = steps.kalypso(f"notify --control-plane {CONTROL_PLANE}", merged["gitops"])
        assert notify[0] == 0, notify
        assert f"commit_id {merged['commit']}" in notify[1]
    finally:
        assert outputs_of("stop", tmp_path / "selftest") == {}


@pytest.mark.slow
def test_ci_fails_where_main_is_broken(tmp_path: Path) -> None:
    github = outputs_of("start", tmp_path / "selftest", "--broken")
    try:
        exit_code, said = Steps(tmp_path, github["token"]).kalypso("ci", github["control-plane"])
        assert (exit_code, "not valid YAML" in said) == (1, True), said
        outputs = (tmp_path / "outputs").read_text(encoding="utf-8")
        assert re.search(r"^problems<<(\S+)\n1\n\1$", outputs, re.MULTILINE), outputs
    finally:
        outputs_of("stop", tmp_path / "selftest")
