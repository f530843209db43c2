"""The inputs and the runtime of commands that read from GitHub, and a run of one as in a job.

In a job, results go to the runner (outputs, annotations, step summary) and to the log. An action
passes all inputs in one variable, so its command starts without Typer, and without the options of a
shell.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, TextIO, TypeVar

from kalypso_actions.cli.process import clock_of
from kalypso_actions.cli.streams import configure_logging, log_line, print_json, stderr
from kalypso_actions.clients.process import Programs
from kalypso_actions.commands.registry import ACTIONS, ChainCommand
from kalypso_actions.commands.shared.context import Runtime, control_plane_of_clone
from kalypso_actions.commands.shared.run import action_installer, run_command
from kalypso_actions.inputs.chain import GitHubInputs
from kalypso_actions.inputs.reading import (
    SECRET_VARIABLES,
    checked_inputs,
    collect_inputs,
    secrets_of,
)
from kalypso_actions.model.processes import Progress
from kalypso_actions.report.chain_document import ChainDocument
from kalypso_actions.report.documents import hidden_counts
from kalypso_actions.report.terminal import ProgressDisplay
from kalypso_actions.runner import Runner, read_job_context

Model = TypeVar("Model", bound=GitHubInputs)


def github_inputs(
    model: type[Model],
    given: Mapping[str, Any],
    progress: Progress,
    variables: Mapping[str, str] | None = None,
) -> tuple[Model, Runtime]:
    """Return the inputs from options and the environment, and the runtime; mask the secrets.

    The control plane defaults to that of the job, else to that of the current clone. `variables`
    are the environment's variables, if `make_runtime` has already taken them. Raises
    UsageError for wrong inputs.
    """
    runtime = make_runtime(progress, sys.stderr, log_line, variables)
    runtime = replace(runtime, job=read_job_context(runtime.environment))
    collected = collect_inputs(model, given, runtime.environment)
    if not collected.get(model.chain_input) and not runtime.job.repository:
        collected[model.chain_input] = control_plane_of_clone(runtime.environment)
    inputs = checked_inputs(model, collected)
    for secret in secrets_of(inputs):
        runtime.runner.mask(secret)
    return inputs, runtime


def make_runtime(
    progress: Progress,
    stream: TextIO,
    log: Callable[[str], None],
    variables: Mapping[str, str] | None = None,
) -> Runtime:
    """Take the environment's variables, and remove secrets from the process.

    Workflow commands go to `stream`, and messages for people to `log`. `variables` are those that
    an earlier call has taken.
    """
    environment = dict(os.environ if variables is None else variables)
    for name in SECRET_VARIABLES:  # Azure's library hands the whole environment to programs
        os.environ.pop(name, None)
    now, sleep = clock_of(environment)
    return Runtime(
        environment=environment,
        programs=Programs(environment),
        runner=Runner(environment, stream),
        progress=progress,
        log=log,
        now=now,
        sleep=sleep,
        started=now(),
        installer=action_installer(),
    )


def run_action(name: str) -> int:
    """Run a command whose inputs are all in the environment, and return the exit code."""
    return run_in_job(ACTIONS[name], {"output": "text"})


def run_in_job(command: ChainCommand, given: dict[str, Any]) -> int:
    """Run a command with the given options, and return the exit code."""
    as_json = given.pop("output") == "json"
    verbose = given.pop("verbose", False)
    configure_logging(calls=given.pop("debug", False))
    with ProgressDisplay(stderr, "rendering") as progress:
        runtime = make_runtime(progress.update, sys.stderr if as_json else sys.stdout, log_line)
        result, exit_code = run_command(command, given, runtime)
    document = result.document
    _print_findings(document, verbose=verbose)
    if as_json:
        print_json(document)
    return exit_code


def _print_findings(document: ChainDocument, *, verbose: bool) -> None:
    rest = hidden_counts(document.all_findings)
    if rest and not verbose:
        log_line(f"{rest}: --verbose shows more")
    if not (verbose or document.findings):
        return
    # A run without findings does not wait for these imports.
    from kalypso_actions.report import terminal  # noqa: PLC0415

    terminal.print_findings(stderr(), document.all_findings if verbose else document.findings)
