"""A group of commands that imports a command when it is called."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Final

import typer
from typer.core import TyperCommand, TyperGroup

from kalypso_actions.cli.command_list import LazyCommand, load

HELP_COMMAND: Final = "help"


class LazyGroup(TyperGroup):
    """Loads a command when it is called; `--help` needs only names and summaries."""

    table: ClassVar[Mapping[str, LazyCommand]] = {}

    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        for name, command in self.table.items():
            self.add_command(TyperCommand(name, help=command.summary, hidden=command.hidden))

    def resolve_command(self, ctx: Any, args: list[str]) -> tuple[str | None, Any, list[str]]:
        """Return the name, the command and the remaining arguments of a call."""
        if args[0] == HELP_COMMAND:
            if ctx.resilient_parsing and len(args) == 1:
                return HELP_COMMAND, self, []  # a shell completes the names of commands
            if len(args) == 1:
                typer.echo(ctx.get_help())
                ctx.exit()
            args = [*args[1:], "--help"]
        name, command, rest = super().resolve_command(ctx, args)
        is_lazy = name in self.table
        return name, load(name, self.table[name]) if name and is_lazy else command, rest
