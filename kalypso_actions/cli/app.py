"""The Typer app."""

from __future__ import annotations

from typing import Annotated, Any, Final

import typer
from typer.core import TyperCommand, TyperGroup

from kalypso_actions import __version__
from kalypso_actions.cli.command_list import COMMANDS, HELP, load

HELP_COMMAND: Final = "help"


class LazyGroup(TyperGroup):
    """Loads a command when it is called; `--help` needs only names and summaries."""

    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        for name, command in COMMANDS.items():
            self.add_command(TyperCommand(name, help=command.summary, hidden=command.hidden))
        self.add_command(TyperCommand(HELP_COMMAND, help="Show the help of a command."))

    def resolve_command(self, ctx: Any, args: list[str]) -> tuple[str | None, Any, list[str]]:
        """Return name, command and remaining arguments of a call."""
        if args[0] == HELP_COMMAND:
            if len(args) == 1:
                return HELP_COMMAND, self, ["--help"]
            args = [args[1], "--help"]
        name, command, rest = super().resolve_command(ctx, args)
        return name, load(name) if name in COMMANDS else command, rest


app = typer.Typer(
    cls=LazyGroup,
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
