"""The story, played once for all its tests, and the demo beside it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from kalypso_actions.clients.process import Programs
from kalypso_actions.commands.demo.scenario import ACTS, run_scenario
from kalypso_sandbox import Sandbox
from tests.e2e.chain import Chain, opened
from tests.e2e.jobs import FinishedJob
from tests.e2e.organisation import ROOT
from tests.e2e.state import State, state


@dataclass(frozen=True)
class Played:
    """Acme after all acts: its jobs, and its state."""

    finished: list[FinishedJob]
    state: State


@pytest.fixture(scope="package")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Iterator[subprocess.Popen[str]]:
    """Run the demo up to its fourth act at the same time, in a process of its own."""
    folder = tmp_path_factory.mktemp("demo") / "kept"
    command = [sys.executable, "-m", "kalypso_actions", "demo", "--act", "4"]
    with subprocess.Popen(
        [*command, "--output", "json", "--dir", str(folder)],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        yield process


@pytest.fixture(scope="package")
def chain(tmp_path_factory: pytest.TempPathFactory, demo: subprocess.Popen[str]) -> Iterator[Chain]:
    """Acme at rest, for all tests of the package."""
    with opened(tmp_path_factory.mktemp("e2e")) as chain:
        yield chain


@pytest.fixture(scope="package")
def played(chain: Chain) -> Played:
    """Return the end of the story, before anything else happens."""
    run_scenario(chain.stage, ACTS[:4])
    return Played(list(chain.jobs.finished), state(chain.sandbox, chain.sandbox.url))


@pytest.fixture(scope="package")
def of_demo(demo: subprocess.Popen[str]) -> State:
    """Return the state of Acme after the demo's fourth act."""
    output, _ = demo.communicate(timeout=600)
    document = json.loads(output)
    assert document["problems"] == []
    with Sandbox(Path(document["dir"]), Programs({"PATH": os.environ["PATH"]})) as sandbox:
        return state(sandbox, document["url"])
