"""The commands of the promotion chain.

Inputs come from an action, from options or from the environment. Results go to the runner
(outputs, annotations, step summary) and to the terminal.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import typer

from kalypso_actions.cli.options import with_options
from kalypso_actions.cli.output import configure_logging, log_line, print_json, stderr
from kalypso_actions.cli.runtime import make_runtime
from kalypso_actions.commands.registry import COMMANDS, ChainCommand
from kalypso_actions.commands.runtime.run import run_command
from kalypso_actions.report.progress import ProgressDisplay
from kalypso_actions.report.terminal import (
    hidden_counts,
    print_acknowledged,
    print_findings,
    print_notes,
)


def run_in_job(command: ChainCommand, given: dict[str, Any]) -> None:
    """Run a command with the given options, as in a job. Raises typer.Exit."""
    as_json = given.pop("output") == "json"
    verbose = given.pop("verbose")
    configure_logging(calls=verbose)
    with ProgressDisplay(stderr(), "rendering") as progress:
        runtime = make_runtime(progress.update, sys.stderr if as_json else sys.stdout, log_line)
        result, exit_code = run_command(command, given, runtime)
    document = result.document
    if verbose:
        print_notes(stderr(), document.notes)
        print_acknowledged(stderr(), document.acknowledged)
    elif rest := ", ".join(hidden_counts(document.notes, document.acknowledged)):
        log_line(f"{rest}: --verbose shows more")
    print_findings(stderr(), document.warnings, document.problems)
    if as_json:
        print_json(document)
    raise typer.Exit(exit_code)


def __getattr__(name: str) -> Callable[..., None]:
    """Return the function of a command, such as `check_promote`, for `command_list.load`.

    A command starts faster without the options of the others.
    """
    command = COMMANDS.get(name.replace("_", "-"))
    if command is None:
        raise AttributeError(name)
    return _function(command)


def _function(command: ChainCommand) -> Callable[..., None]:
    """Return the function that Typer turns into the command."""

    def run(given: dict[str, Any]) -> None:
        run_in_job(command, given)

    return with_options(command.model, command.name, command.summary, run)
