"""A command of the promotion chain, run as in a job: its inputs, its secrets, what it comes to."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any

from kalypso_actions.commands.registry import ChainCommand
from kalypso_actions.commands.runtime.context import Runtime, open_context
from kalypso_actions.commands.runtime.result import CommandResult
from kalypso_actions.errors import KalypsoError, Problem
from kalypso_actions.inputs.checking import checked_inputs
from kalypso_actions.inputs.reading import collect_inputs, secrets_of
from kalypso_actions.report import markdown
from kalypso_actions.report.documents import ProblemEntry
from kalypso_actions.runner import read_job_context


def run_command(
    command: ChainCommand, options: Mapping[str, Any], runtime: Runtime
) -> tuple[CommandResult, int]:
    """Run a command, and tell the runner what it came to; the outcome and the exit code.

    Inputs are `options`, and those of the environment. An error ends the command, and is told as
    any other outcome.
    """
    given: dict[str, Any] = {}
    try:
        given = collect_inputs(command.model, options, runtime.environment)
        inputs = checked_inputs(command.model, given)
        for secret in secrets_of(inputs):
            runtime.runner.mask(secret)
        function = command.function
        job = read_job_context(runtime.environment)
        with open_context(inputs, dataclasses.replace(runtime, job=job)) as context:
            try:
                outcome = function(inputs, context)
            finally:
                for line in context.github.quota.lines():
                    runtime.log(line)
        exit_code = 1 if outcome.failed else 0
    except KalypsoError as error:
        outcome = _ended(command, given, error.problems)
        exit_code = error.exit_code
    _tell(command.name, outcome, runtime)
    return outcome, exit_code


def _ended(
    command: ChainCommand, given: Mapping[str, Any], problems: Sequence[Problem]
) -> CommandResult:
    """What is told of a run that an error has ended."""
    known = {"environment": given.get("environment") or ""}
    fields = {key: value for key, value in known.items() if key in command.document.model_fields}
    entries = ProblemEntry.all_of(problems)
    summary = f"## kalypso {command.name}\n\n{markdown.findings((), entries)}"
    return CommandResult(command.document(problems=entries, **fields), summary, failed=True)


def _tell(name: str, outcome: CommandResult, runtime: Runtime) -> None:
    document = outcome.document
    title = f"kalypso {name}"
    runtime.runner.annotate("error", map(ProblemEntry.problem, document.problems), title)
    runtime.runner.annotate("warning", map(ProblemEntry.problem, document.warnings), title)
    runtime.runner.outputs(document.outputs())
    runtime.runner.summary(outcome.summary)
