"""The commands of the promotion chain on the command line, with an option for each input."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import typer

from kalypso_actions.cli.job import run_in_job
from kalypso_actions.cli.options import with_options
from kalypso_actions.commands.registry import COMMANDS, ChainCommand


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
        raise typer.Exit(run_in_job(command, given))

    return with_options(command.model, command.name, command.summary, run)
