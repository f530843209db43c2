"""The Typer app."""

from __future__ import annotations

from typing import Annotated, Any

import typer
from typer.core import TyperCommand

from kalypso_actions import __version__
from kalypso_actions.cli.command_list import COMMANDS, HELP
from kalypso_actions.cli.lazy_group import HELP_COMMAND, LazyGroup


class RootGroup(LazyGroup):
    """All commands, and `help`."""

    table = COMMANDS

    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        self.add_command(TyperCommand(HELP_COMMAND, help="Show the help of a command."))


app = typer.Typer(
    cls=RootGroup,
    help="Kalypso: schedule, render and promote workloads for many clusters with GitOps.",
    no_args_is_help=True,
    context_settings=HELP,
    pretty_exceptions_enable=False,
)


@app.callback(invoke_without_command=True)
def _root(
    version: Annotated[
        bool, typer.Option("--version", is_eager=True, help="Print the version and exit.")
    ] = False,
) -> None:
    if version:
        typer.echo(__version__)
        raise typer.Exit
