"""Run the actions of workflow files in this process."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass

from kalypso_actions.clients.process import Programs
from kalypso_actions.commands.registry import COMMANDS
from kalypso_actions.commands.shared.context import Runtime
from kalypso_actions.commands.shared.run import run_command
from kalypso_actions.errors import KalypsoError
from kalypso_actions.inputs.reading import ACTION_INPUTS
from kalypso_actions.model.progress import no_progress
from kalypso_actions.runner import Runner
from kalypso_sandbox.workflow_runner.clock import Clock
from kalypso_sandbox.workflow_runner.runs import JobLog, StepResult


@dataclass(frozen=True, slots=True)
class InProcess:
    """Runs the command of an action as its job does, with its inputs and variables."""

    clock: Clock

    def __call__(
        self, action: str, inputs: Mapping[str, str], variables: Mapping[str, str], log: JobLog
    ) -> StepResult:
        """Run an action. Raises KalypsoError for an unknown action."""
        if action not in COMMANDS:
            raise KalypsoError(
                f"there is no action {action!r}", advice=f"see {', '.join(COMMANDS)}"
            )
        environment = {**variables, ACTION_INPUTS: json.dumps(inputs)}
        lines: list[str] = []

        def write_line(line: str) -> None:
            lines.append(line)
            log.write_line(line, self.clock())

        runtime = Runtime(
            environment=environment,
            programs=Programs(environment),
            runner=Runner(environment, log),
            progress=no_progress,
            log=write_line,
            now=self.clock,
            sleep=self.clock.sleep,
        )
        result, exit_code = run_command(COMMANDS[action], {}, runtime)
        return StepResult(result, exit_code, lines)
