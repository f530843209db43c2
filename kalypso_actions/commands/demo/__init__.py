"""`kalypso demo`: the promotion chain of a sample organisation, on this machine.

With `--application`, the chain of one of its applications.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Final

from kalypso_actions.clients.process import Programs
from kalypso_actions.commands.sandbox import (
    KEY_FILE,
    load_sandbox,
    private_folder,
    require_helm,
    write_private,
)
from kalypso_actions.errors import KalypsoError, UsageError
from kalypso_actions.inputs.local import DemoInputs
from kalypso_actions.report.demo_document import DemoDocument, DemoRepositoryEntry, DemoStepEntry
from kalypso_actions.report.documents import ProblemEntry

if TYPE_CHECKING:
    from kalypso_actions.commands.shared.context import SeenClusters
    from kalypso_sandbox import Sandbox

LENGTH: Final = timedelta(minutes=60)
"""The longest duration of the simulated story, which begins this long ago, so that it ends before
the present. A sandbox that serves it later uses the machine's clock, and must not go back in time.
"""


def demo(
    inputs: DemoInputs,
    machine: Mapping[str, str],
    start: datetime,
    report: Callable[[DemoStepEntry], None],
) -> DemoDocument:
    """Run the promotion chain of a sample organisation, and report each step.

    With `act`, only the steps of that act are reported. The folder of the inputs, or a new one,
    keeps everything. `machine` are the environment's variables. The simulated clock begins at
    `start`. Raises UsageError for an unusable folder, or if the sandbox's libraries are missing.
    """
    sandbox_class = load_sandbox()
    # These imports need the sandbox's libraries, too.
    from kalypso_actions.commands.demo import application, organisation  # noqa: PLC0415
    from kalypso_actions.commands.demo.scenario import ACTS, run_scenario  # noqa: PLC0415
    from kalypso_actions.commands.demo.scenario_runner import (  # noqa: PLC0415
        PLACES,
        InProcess,
        People,
        ScenarioRunner,
        write_report,
    )
    from kalypso_sandbox.workflow_runner.clock import Clock  # noqa: PLC0415
    from kalypso_sandbox.workflow_runner.runs import WorkflowRunner  # noqa: PLC0415

    if inputs.application:
        require_helm(Programs(machine))
    folder = _empty_folder(inputs.dir)
    clock = Clock(start)
    recorder = _Recorder(report)
    story, places = (application.ACTS, application.PLACES) if inputs.application else (ACTS, PLACES)
    acts = story[: inputs.act or None]
    problems: tuple[ProblemEntry, ...] = ()
    looks: list[SeenClusters] = []
    with sandbox_class(folder, Programs(machine), now=clock, sign_in=True) as sandbox:
        secrets = organisation.create_organisation(sandbox, inputs.cluster_reports)
        write_private(folder / KEY_FILE, secrets["KALYPSO_APP_PRIVATE_KEY"])
        of_team = application.create_application(sandbox) if inputs.application else {}
        workflows = WorkflowRunner(
            sandbox,
            clock,
            machine,
            secrets,
            folder / ("platform" if inputs.application else "runs"),
            InProcess(clock, looks),
        )
        people = People(sandbox, clock, machine)
        page = ""
        try:
            if inputs.application:
                run_scenario(ScenarioRunner(sandbox, clock, workflows, people, _skip), ACTS[:1])
                workflows = replace(workflows, secrets=of_team, folder=folder / "runs")
            runner = ScenarioRunner(sandbox, clock, workflows, people, _skip, places)
            if inputs.act:
                run_scenario(runner, acts[:-1])
                acts = acts[-1:]
            runner.report = recorder
            run_scenario(runner, acts)
            page = str(write_report(sandbox, clock, machine, folder / "report", looks))
        except KalypsoError as error:
            problems = ProblemEntry.all_of(error.problems)
        return DemoDocument(
            dir=str(folder),
            url=sandbox.url,
            report=page,
            cluster_options=organisation.cluster_options(sandbox),
            repositories=_repositories(sandbox),
            steps=tuple(recorder.steps),
            problems=problems,
        )


def _skip(step: DemoStepEntry) -> None:
    """Report no step of the acts before the one that is shown."""


class _Recorder:
    """Keeps the steps, and reports each."""

    def __init__(self, report: Callable[[DemoStepEntry], None]) -> None:
        self._report = report
        self.steps: list[DemoStepEntry] = []

    def __call__(self, step: DemoStepEntry) -> None:
        self.steps.append(step)
        self._report(step)


def _repositories(sandbox: Sandbox) -> tuple[DemoRepositoryEntry, ...]:
    return tuple(
        DemoRepositoryEntry(
            name=repository.full_name, path=str(sandbox.store.git(repository).git_dir)
        )
        for repository in sandbox.store.repositories.values()
    )


def _empty_folder(given: Path | None) -> Path:
    if given is None:
        return Path(tempfile.mkdtemp(prefix="kalypso-demo-"))
    folder = private_folder(given)
    if any(folder.iterdir()):
        raise UsageError(f"the folder {given} is not empty", advice="name a new one with --dir")
    return folder
