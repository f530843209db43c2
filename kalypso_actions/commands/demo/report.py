"""The report about the fleet at the end of the demo."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from io import StringIO
from pathlib import Path

from kalypso_actions.clients.process import Programs
from kalypso_actions.commands.demo.organisation import CONTROL_PLANE, OWNER
from kalypso_actions.commands.report import report
from kalypso_actions.commands.report.pipeline import read_pipeline
from kalypso_actions.commands.shared.context import Runtime
from kalypso_actions.commands.shared.local_context import LocalContext, sandbox_credentials
from kalypso_actions.inputs.local import ReportInputs
from kalypso_actions.model.progress import no_progress
from kalypso_actions.runner import Runner
from kalypso_sandbox import Sandbox
from kalypso_sandbox.workflow_runner.clock import Clock
from kalypso_sandbox.workflow_runner.runner_environment import RunnerEnvironment

TITLE = "Acme's fleet"


def write_report(sandbox: Sandbox, clock: Clock, machine: Mapping[str, str], folder: Path) -> Path:
    """Write the report about the organisation to a folder, and return its page.

    It reads the sandbox, as a person would with the token. Raises KalypsoError.
    """
    token = sandbox.create_token(owner=OWNER)
    environment = RunnerEnvironment(sandbox, machine).environment() | {"KALYPSO_TOKEN": token}
    programs = Programs(environment)
    runtime = Runtime(
        environment=environment,
        programs=programs,
        runner=Runner({}, StringIO()),
        progress=no_progress,
        log=lambda _: None,
        now=clock,
        sleep=clock.sleep,
    )
    url = f"{sandbox.url}/{CONTROL_PLANE}"
    inputs = ReportInputs(out=folder, title=TITLE, control_plane=url)
    credentials = sandbox_credentials(sandbox.url, token)
    context = LocalContext(programs, no_progress, credentials=credentials, now=clock())
    report(inputs, context, clock(), partial(read_pipeline, url, runtime))
    return folder / "index.html"
