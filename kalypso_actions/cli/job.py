"""Run a command of the promotion chain as in a job.

Results go to the runner (outputs, annotations, step summary) and to the log. An action passes all
inputs in one variable, so its command starts without Typer, and without the options of a shell.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

from kalypso_actions.cli.github_inputs import make_runtime
from kalypso_actions.cli.streams import configure_logging, log_line, print_json, stderr
from kalypso_actions.commands.registry import COMMANDS, ChainCommand
from kalypso_actions.commands.shared.run import run_command
from kalypso_actions.report.chain_document import ChainDocument
from kalypso_actions.report.documents import hidden_counts
from kalypso_actions.report.terminal import ProgressDisplay


def run_action(name: str) -> int:
    """Run a command whose inputs are all in the environment, and return the exit code."""
    return run_in_job(COMMANDS[name], {"output": "text", "verbose": False})


def run_in_job(command: ChainCommand, given: dict[str, Any]) -> int:
    """Run a command with the given options, and return the exit code."""
    as_json = given.pop("output") == "json"
    verbose = given.pop("verbose", False)
    configure_logging(calls=verbose)
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


def function_of_chain(name: str) -> Callable[..., None]:
    """Return the function of a command for Typer."""
    # An action has no options, so it needs no parser of them.
    import typer  # noqa: PLC0415

    from kalypso_actions.cli.command import function_of  # noqa: PLC0415

    command = COMMANDS[name]

    def run(given: dict[str, Any]) -> None:
        raise typer.Exit(run_in_job(command, given))

    function = function_of(command.model, run)
    function.__doc__ = command.summary
    return function
