"""Jobs that run this repository's actions."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.actions.checkout import PYTHON, Machine, make_runner_temp
from tests.actions.composite import Job


@pytest.fixture(scope="session")
def tools(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Return a PATH with this Python first, then the programs of a runner's image."""
    folder = tmp_path_factory.mktemp("tools")
    (folder / "python3").write_text(f"#!/bin/sh\n{PYTHON}\n", encoding="utf-8")
    (folder / "python3").chmod(0o755)
    return f"{folder}:{os.environ['PATH']}"


@pytest.fixture(scope="session")
def runner_temp(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the RUNNER_TEMP of a job in which an action has run, with the packages of the tests.

    test_launch.py checks that launch.sh writes the same marker as here. `python -I` ignores
    PYTHONPATH, and the environment of these tests may have Kalypso from another folder.
    """
    return make_runner_temp(tmp_path_factory.mktemp("runner-temp"))


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    return Machine.make(tmp_path)


@pytest.fixture
def job(tmp_path: Path, tools: str, runner_temp: Path) -> Job:
    """Return a job of acme/control-plane that has only the variables of a runner."""
    home = tmp_path / "home"
    home.mkdir()
    variables = {
        "PATH": tools,
        "HOME": str(home),
        "RUNNER_TEMP": str(runner_temp),
        "GITHUB_ACTIONS": "true",
        "GITHUB_REPOSITORY": "acme/control-plane",
        "GITHUB_WORKSPACE": str(tmp_path / "job" / "workspace"),
    }
    return Job(tmp_path / "job", variables)
