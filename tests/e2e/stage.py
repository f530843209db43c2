"""The demo's stage, on which act runs the jobs."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import timedelta
from typing import Final

from kalypso_actions.commands.demo.scenario_runner import (
    PLACES,
    ChainPlaces,
    JobResult,
    People,
    ScenarioRunner,
)
from kalypso_actions.report.demo_document import DemoStepEntry
from kalypso_sandbox import Sandbox
from kalypso_sandbox.workflow_runner.runs import Run, WorkflowRunner
from tests.e2e.act import JobRun
from tests.e2e.clock import PresentClock
from tests.e2e.jobs import Jobs

LATE: Final = timedelta(minutes=10)
"""How long after a merge the runners start: by then, every cluster has the commit or has failed for
longer than the grace period, so no job has to wait.
"""


class LateScenarioRunner(ScenarioRunner):
    """Plays a story in which people have acted a while ago."""

    def __init__(
        self,
        sandbox: Sandbox,
        clock: PresentClock,
        workflows: WorkflowRunner,
        people: People,
        log: Callable[[DemoStepEntry], None],
        places: ChainPlaces = PLACES,
    ) -> None:
        super().__init__(sandbox, clock, workflows, people, log, places)
        self._present = clock

    def merge_proposal(self, environment: str) -> None:
        """Merge the proposal as a person."""
        with self._present.ago(LATE):
            super().merge_proposal(environment)


class ActScenarioRunner(LateScenarioRunner):
    """Plays the demo's story with jobs that act runs."""

    def __init__(
        self,
        sandbox: Sandbox,
        clock: PresentClock,
        workflows: WorkflowRunner,
        people: People,
        log: Callable[[DemoStepEntry], None],
        jobs: Jobs,
        places: ChainPlaces = PLACES,
    ) -> None:
        super().__init__(sandbox, clock, workflows, people, log, places)
        self._jobs = jobs

    def run(self, run: Run) -> JobResult:
        """Run the jobs of a workflow; return the result of the last one that was not skipped."""
        job = [job for job in self._jobs.run(run) if job.outcome.result != "skipped"][-1]
        return JobResult(
            command=job.command,
            environment=job.environment or _branch(run),
            word=_word(job.command, job.outcome),
            text=job.outcome.summary.partition("\n")[0],
            folder=job.folder,
        )


def _word(command: str, outcome: JobRun) -> str:
    """Return the demo's word for the result of a command, from the outputs of its action."""
    outputs = outcome.outputs
    match command:
        case "check-promote" | "app-check" if outputs.get("verdict"):
            word = outputs["verdict"]
        case _ if outcome.result != "success":
            word = "failed"
        case "start-schedule":
            word = "started"
        case "ci":
            word = "promoted" if json.loads(outputs["environments"]) else "checked"
        case "cd":
            word = "written" if outputs["changed"] == "true" else "unchanged"
        case "schedule":
            actions = [pull["action"] for pull in json.loads(outputs["pull-requests"])]
            word = ", ".join([*actions, *(["promoted"] if outputs["promoted"] == "true" else [])])
        case "app-ci":
            word = "released"
        case "app-deploy":
            word = "proposed" if outputs["changed"] == "true" else "unchanged"
        case "notify" | "app-notify":
            word = "started" if outputs["run-url"] else "done"
        case _:
            word = "done"
    return word


def _branch(run: Run) -> str:
    """Return the branch of a push that runs start-schedule; "" for any other run."""
    is_start = run.jobs[-1].steps[-1].action == "start-schedule"
    return run.event.ref.removeprefix("refs/heads/") if is_start else ""
