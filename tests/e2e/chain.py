"""The whole chain on this machine: the demo's story in a sandbox, with workflows run by act."""

from __future__ import annotations

import os
import shutil
import ssl
import sys
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Final

import requests

from kalypso_actions.clients.process import Programs
from kalypso_actions.commands.demo.application import PLACES as OF_APPLICATION
from kalypso_actions.commands.demo.organisation import CONTROL_PLANE, OWNER
from kalypso_actions.commands.demo.scenario import ACTS, run_scenario
from kalypso_actions.commands.demo.scenario_runner import PLACES, InProcess, People
from kalypso_sandbox import Sandbox
from kalypso_sandbox.embedded import AUTHORITY
from kalypso_sandbox.workflow_runner.runs import RunnerEnvironment, WorkflowRunner
from tests.e2e import organisation
from tests.e2e.act import Act
from tests.e2e.clock import PresentClock
from tests.e2e.jobs import FinishedJob, Jobs
from tests.e2e.organisation import ROOT
from tests.e2e.stage import ActScenarioRunner, LateScenarioRunner

PROGRAMS: Final = ROOT / ".build" / "bin"
PROGRAM: Final = PROGRAMS / "act"

LAG: Final = 1.0
"""Real seconds by which the sandbox lags behind a write; jobs must wait that long."""

ROOM: Final = 1 << 30
"""Bytes that the runner may need: an installation, and its packages once more."""

OF_INSTALLERS: Final = ("PIP_", "UV_", "HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY")
"""Prefixes of the machine's variables for the sources of packages."""


@dataclass
class Chain:
    """Acme, its stage and its jobs.

    `secrets` are those of Acme's repositories; `token` has all permissions in them.
    """

    sandbox: Sandbox
    stage: ActScenarioRunner
    workflows: WorkflowRunner
    jobs: Jobs
    secrets: Mapping[str, str] = field(repr=False)
    token: str = field(repr=False)

    def ask(self, path: str, body: Mapping[str, Any], token: str = "") -> None:
        """Post to GitHub's API, below `/repos/`, as a person, or with another token."""
        url = f"{self.sandbox.api_url}/repos/{path}"
        headers = {"authorization": f"Bearer {token or self.token}"}
        requests.post(url, json=body, headers=headers, timeout=60).raise_for_status()

    def dispatch(self, workflow: str, inputs: Mapping[str, str], token: str = "") -> None:
        """Start a workflow of the control plane's main as a person, or with another token."""
        path = f"{CONTROL_PLANE}/actions/workflows/{workflow}/dispatches"
        self.ask(path, {"ref": "main", "inputs": dict(inputs)}, token)

    def run_due(self) -> list[FinishedJob]:
        """Run all started workflows and those that they start; return the result of each job."""
        first = len(self.jobs.finished)
        while pending_runs := self.workflows.pending_runs():
            for run in pending_runs:
                self.jobs.run(run)
        return self.jobs.finished[first:]


@contextmanager
def opened(folder: Path, *, application: bool = False) -> Iterator[Chain]:
    """Start Acme in a new sandbox in `folder`, which also keeps the files of the jobs.

    With `application`, the chain is that of the application, which clusters run already.
    """
    if not PROGRAM.exists():
        raise FileNotFoundError(f"{PROGRAM} is missing: `make e2e` installs it")
    clock = PresentClock()
    machine = {"PATH": os.environ["PATH"], "HOME": str(folder)}
    with (
        tempfile.TemporaryDirectory(prefix="kalypso-e2e-", dir=_quick_folder()) as runner,
        Sandbox(folder / "sandbox", Programs(machine), now=clock, sign_in=True, lag=LAG) as sandbox,
    ):
        secrets = organisation.create_organisation(sandbox, clock)
        of_team = organisation.create_application(sandbox, clock) if application else {}
        workflows = WorkflowRunner(
            sandbox, clock, machine, secrets, folder / "unused", InProcess(clock)
        )
        people = People(sandbox, clock, machine)
        places = PLACES
        if application:
            platform = LateScenarioRunner(sandbox, clock, workflows, people, lambda _: None)
            sandbox.store.lag = 0  # nobody waits in this process
            run_scenario(platform, ACTS[:1])
            sandbox.store.lag = LAG
            secrets, places = of_team, OF_APPLICATION
            workflows = replace(workflows, secrets=secrets)
        jobs = Jobs(
            sandbox,
            workflows,
            RunnerEnvironment(sandbox, machine),
            Act(PROGRAM, Path(runner), _path_of_jobs(folder / "tools")),
            secrets,
            _environment_of_jobs(sandbox, Path(runner)),
            folder / "runs",
        )
        stage = ActScenarioRunner(sandbox, clock, workflows, people, lambda _: None, jobs, places)
        token = sandbox.create_token(owner=OWNER)
        yield Chain(sandbox, stage, workflows, jobs, secrets, token)


def _quick_folder() -> Path | None:
    """Return a folder in memory, if it has room and may execute programs.

    Each job installs thousands of files.
    """
    memory = Path("/dev/shm")
    if not memory.is_dir() or os.statvfs(memory).f_flag & os.ST_NOEXEC:
        return None
    return memory if shutil.disk_usage(memory).free > ROOM else None


def _path_of_jobs(tools: Path) -> str:
    """Return the machine's PATH with uv, a Python and helm, without this project's environment.

    GitHub's runners have helm: https://github.com/actions/runner-images
    """
    tools.mkdir()
    own = Path(sys.prefix) / "bin"
    (tools / "uv").symlink_to(own / "uv")
    (tools / "helm").symlink_to(PROGRAMS / "helm")
    (tools / "python3").symlink_to(Path(sys.base_prefix) / "bin" / "python3")
    others = [folder for folder in os.environ["PATH"].split(os.pathsep) if Path(folder) != own]
    return os.pathsep.join([str(tools), *others])


def _environment_of_jobs(sandbox: Sandbox, folder: Path) -> dict[str, str]:
    """Return the variables for the sources of packages and for trusted certificates.

    Jobs trust the sandbox's authority and those of the machine. uv's cache lies beside the
    installed packages, so that uv copies nothing.
    """
    environment = {
        name: value for name, value in os.environ.items() if name.upper().startswith(OF_INSTALLERS)
    }
    environment["UV_CACHE_DIR"] = str(folder / "uv")
    return environment | _authorities(sandbox, folder / "authorities.pem")


def _authorities(sandbox: Sandbox, file: Path) -> dict[str, str]:
    """Return variables that name a file with the sandbox's authority and those of the machine."""
    own = Path(sandbox.environment()["SSL_CERT_FILE"]).read_text(encoding="ascii")
    authorities = ssl.get_default_verify_paths().cafile
    others = Path(authorities).read_text(encoding="utf-8") if authorities else ""
    file.write_text(f"{others}\n{own}", encoding="utf-8")
    return dict.fromkeys(AUTHORITY, str(file))
