"""What the sandbox's events start, run as GitHub Actions would: by the workflow files.

A run's steps are Kalypso's actions, whose commands run here in this process, each with the inputs,
the token and the variables that its job would have.
"""

from __future__ import annotations

import itertools
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from kalypso_actions.clients.process import Programs
from kalypso_actions.commands.chain_commands import CHAIN
from kalypso_actions.commands.chain_run import run_command
from kalypso_actions.commands.chain_session import Surroundings
from kalypso_actions.commands.demo import expressions, workflow_files
from kalypso_actions.commands.demo.clock import Clock
from kalypso_actions.commands.demo.log import JobLog
from kalypso_actions.commands.demo.machine import Machine
from kalypso_actions.commands.demo.workflow_files import Job, Step, Workflow
from kalypso_actions.commands.outcome import Outcome
from kalypso_actions.errors import KalypsoError
from kalypso_actions.inputs.reading import ACTION_INPUTS
from kalypso_actions.model.progress import unwatched
from kalypso_actions.runner import Runner
from kalypso_actions.sandbox import Sandbox
from kalypso_actions.sandbox.world import Event, WorkflowRun

COMMANDS: Final = {chain.name: chain for chain in CHAIN}

LATENCY: Final = 15
"""Seconds from an event until a runner has taken the job."""


@dataclass(frozen=True, slots=True)
class Run:
    """A workflow that an event has started, and has not run yet.

    `attempt` counts from 1: somebody may run the same workflow again.
    """

    event: Event
    workflow: Workflow
    attempt: int = 1

    @property
    def file(self) -> str:
        """The name of its file."""
        return self.workflow.path.rpartition("/")[2]


@dataclass(frozen=True, slots=True)
class Done:
    """A step that was run.

    `command` is that of Kalypso, `given` are its inputs, `outcome` what it came to, `said` its
    lines for people. `folder` has its files.
    """

    run: Run
    command: str
    given: Mapping[str, str]
    outcome: Outcome
    exit_code: int
    said: Sequence[str]
    folder: Path

    @property
    def environment(self) -> str:
        """The environment that it was about; "" for all of them."""
        return self.given.get("environment", "")

    @property
    def is_verified(self) -> bool:
        """Whether it was but a look at the inputs of the job that comes next, and they hold."""
        return self.given.get("verify-only") == "true" and not self.exit_code


@dataclass(eq=False)
class Workflows:
    """Runs what the events of a sandbox start, from now on. Safe to use from several threads.

    `machine` has the variables of the machine around it, `secrets` those of the repositories'
    workflows. Each step's log, outputs and summary are kept in a folder of its own below `folder`.
    """

    sandbox: Sandbox
    clock: Clock
    machine: Mapping[str, str]
    secrets: Mapping[str, str] = field(repr=False)
    folder: Path

    def __post_init__(self) -> None:
        self._machine = Machine(self.sandbox, self.clock, self.machine)
        self._numbers = itertools.count(1)
        self._seen = len(self.sandbox.world.events)

    def due(self) -> list[Run]:
        """What the events since the last call have started, in their order.

        Raises KalypsoError for a workflow file that says more than is understood here.
        """
        with self.sandbox.lock:
            events = self.sandbox.world.events[self._seen :]
            self._seen += len(events)
            return [
                Run(event, workflow)
                for event in events
                for workflow in workflow_files.started_by(event, self.sandbox.git(event.repository))
            ]

    def run(self, run: Run) -> list[Done]:
        """Run the steps of a workflow; the first that fails is the last.

        GitHub's record says `in_progress` meanwhile, and `cancelled` after an exception.
        """
        record = self.record(run.event)
        if record:
            with self.sandbox.lock:
                record.status, record.conclusion = "in_progress", None
        try:
            done = self._steps(run, record.id if record else run.event.id)
        except BaseException:
            self.conclude(record, "cancelled")
            raise
        self.conclude(record, "failure" if done and done[-1].exit_code else "success")
        return done

    def _steps(self, run: Run, run_id: int) -> list[Done]:
        number = next(self._numbers)
        done: list[Done] = []
        for job in run.workflow.jobs:
            self.clock.sleep(LATENCY)
            for step in job.steps:
                done.append(self._step(run, job, step, run_id, number))
                if done[-1].exit_code:
                    return done
        return done

    def _step(self, run: Run, job: Job, step: Step, run_id: int, number: int) -> Done:
        token = self._machine.token(run.event, job)
        contexts = self._machine.contexts(run.event, token, self.secrets)
        environment = expressions.filled(job.environment, contexts)
        contexts["vars"] |= self._machine.of_environment(run.event, environment)
        words = {name: expressions.filled(one, contexts) for name, one in step.words.items()}
        given = {"token": token, **words}
        folder = self._new_folder(number, step.action, given)
        variables = self._machine.variables(run.event, job, environment, run_id, folder)
        variables["GITHUB_RUN_ATTEMPT"] = str(run.attempt)
        variables[ACTION_INPUTS] = json.dumps(given)
        outcome, exit_code, said = self._command(step.action, variables, folder)
        return Done(run, step.action, words, outcome, exit_code, said, folder)

    def _command(
        self, action: str, variables: Mapping[str, str], folder: Path
    ) -> tuple[Outcome, int, Sequence[str]]:
        """Run the command of an action: what it came to, its exit code, and what it has said."""
        if action not in COMMANDS:
            raise KalypsoError(
                f"there is no action {action!r}", advice=f"see {', '.join(COMMANDS)}"
            )
        said: list[str] = []
        with JobLog(folder / "log.txt") as log:

            def say(line: str) -> None:
                said.append(line)
                log.say(line, self.clock())

            around = Surroundings(
                environment=variables,
                programs=Programs(variables),
                runner=Runner(variables, log),
                progress=unwatched,
                say=say,
                now=self.clock,
                sleep=self.clock.sleep,
            )
            outcome, exit_code = run_command(COMMANDS[action], {}, around)
        return outcome, exit_code, said

    def _new_folder(self, number: int, command: str, given: Mapping[str, str]) -> Path:
        """`<run>-<command>-<environment>`, for what a step leaves."""
        verify = "verify" if given.get("verify-only") == "true" else ""
        parts = (f"{number:02}", command, given.get("environment", ""), verify)
        folder = self.folder / "-".join(part for part in parts if part)
        folder.mkdir(parents=True)
        return folder

    def record(self, event: Event) -> WorkflowRun | None:
        """GitHub's record of a run that was started by dispatch: there is one for each event."""
        if event.name != "workflow_dispatch":
            return None
        with self.sandbox.lock:
            dispatches = [
                one.id
                for one in self.sandbox.world.events
                if (one.name, one.repository) == (event.name, event.repository)
            ]
            runs = self.sandbox.repository(event.repository).runs
            return runs[dispatches.index(event.id)]

    def conclude(self, record: WorkflowRun | None, conclusion: str) -> None:
        """GitHub's record of a run, where there is one, says how it has ended."""
        if record:
            with self.sandbox.lock:
                record.status, record.conclusion = "completed", conclusion
