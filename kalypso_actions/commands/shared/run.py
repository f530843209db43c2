"""Run a command of the promotion chain as in a job: read inputs, mask secrets, write outputs."""

from __future__ import annotations

import dataclasses
import importlib
import json
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar

from kalypso_actions.clients.process import ProcessError
from kalypso_actions.commands.registry import ChainCommand
from kalypso_actions.commands.shared.context import (
    CommandContext,
    Runtime,
    control_plane_of_clone,
    open_context,
)
from kalypso_actions.commands.shared.result import CommandResult
from kalypso_actions.errors import KalypsoError, MissingExtraError, Problem
from kalypso_actions.inputs.chain import GitHubInputs, RollbackInputs
from kalypso_actions.inputs.reading import checked_inputs, collect_inputs, secrets_of
from kalypso_actions.model.object_ids import is_commit_id
from kalypso_actions.report import markdown
from kalypso_actions.report.documents import ProblemEntry
from kalypso_actions.runner import read_job_context

Model = TypeVar("Model", bound=GitHubInputs)


def run_command(
    command: ChainCommand, options: Mapping[str, Any], runtime: Runtime
) -> tuple[CommandResult, int]:
    """Run a command, pass its result to the runner, and return the result and the exit code.

    The inputs are `options` and those of the environment. An error is reported like a result.
    """
    given: dict[str, Any] = {}
    try:
        given = collect_inputs(command.model, options, runtime.environment)
        job = read_job_context(runtime.environment)
        name = command.model.chain_input
        if not (given.get(name) or job.repository):
            given[name] = control_plane_of_clone(runtime.environment)
        inputs = checked_inputs(command.model, given)
        for secret in secrets_of(inputs):
            runtime.runner.mask(secret)
        function = command.function
        with open_context(inputs, dataclasses.replace(runtime, job=job)) as context:
            inputs = with_commit_id(inputs, context)
            try:
                result = function(inputs, context)
            except MissingExtraError as error:  # the command has written nothing yet
                install_extra(error, inputs.wheelhouse, context.runtime)
                result = function(inputs, context)
            finally:
                for line in context.github.quota.lines():
                    runtime.log(line)
        exit_code = 1 if result.failed else 0
    except KalypsoError as error:
        result = _error_result(command, given, error.problems)
        exit_code = error.exit_code
    _report(command.name, result, runtime)
    return result, exit_code


def with_commit_id(inputs: Model, context: CommandContext) -> Model:
    """Return the inputs with the id of the commit that `commit` or rollback's `to` names.

    HEAD is the head of main. Raises KalypsoError for an unknown revision.
    """
    name = "to" if isinstance(inputs, RollbackInputs) else "commit"
    revision = getattr(inputs, name, None)
    if not revision or is_commit_id(revision):
        return inputs
    url = context.url(context.control_plane)
    commit = context.repositories.resolve(url, context.main(), revision)
    context.runtime.log(f"{name} {revision} is {commit}.")
    return inputs.model_copy(update={name: commit})


def _error_result(
    command: ChainCommand, given: Mapping[str, Any], problems: Sequence[Problem]
) -> CommandResult:
    """Return the result of a run that an error ended."""
    known = {"environment": given.get("environment") or ""}
    fields = {key: value for key, value in known.items() if key in command.document.model_fields}
    entries = ProblemEntry.all_of(problems)
    summary = f"## kalypso {command.name}\n\n{markdown.findings(problems)}"
    return CommandResult(command.document(problems=entries, **fields), summary, failed=True)


def _report(name: str, result: CommandResult, runtime: Runtime) -> None:
    document = result.document
    title = f"kalypso {name}"
    runtime.runner.annotate(document.findings, title)
    runtime.runner.outputs(document.outputs())
    runtime.runner.summary(result.summary)


_INSTALLER_VARIABLES = ("PIP_", "UV_")


def action_installer() -> Path | None:
    """Return the script that has installed this package for an action; None elsewhere."""
    script = Path(__file__).resolve().parents[3] / "actions" / "install.py"
    return script if script.is_file() else None


def install_extra(missing: MissingExtraError, wheelhouse: str, runtime: Runtime) -> None:
    """Install a locked extra into the environment of the job's actions.

    Raises `missing` outside of an action, and KalypsoError if the installation fails.
    """
    if runtime.installer is None or not runtime.job.in_actions:
        raise missing
    runtime.log(f"{missing.problem.message}: installing the extra {missing.extra}.")
    base = str(getattr(sys, "_base_executable", sys.executable))  # not that of the environment
    names = [name for name in runtime.environment if name.startswith(_INSTALLER_VARIABLES)]
    try:
        runtime.programs.run(
            [base, "-I", "-X", "utf8", str(runtime.installer), missing.extra],
            extra={"KALYPSO_INPUTS": json.dumps({"wheelhouse": wheelhouse})},
            inherit=[*names, "RUNNER_TEMP"],
        )
    except ProcessError as error:
        message = f"the extra {missing.extra} cannot be installed: {error.stderr or error}"
        raise KalypsoError(message, advice=missing.problem.advice) from error
    importlib.invalidate_caches()
