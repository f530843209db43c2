"""The Typer app."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer.core import TyperCommand

from kalypso_actions import __version__
from kalypso_actions.cli.command_list import COMMANDS, HELP
from kalypso_actions.cli.lazy_group import HELP_COMMAND, LazyGroup

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint


class RootGroup(LazyGroup):
    """All commands, and `help`.

    Commands of entry points are looked for only by `--help` and for a name that is not our own.
    """

    table = COMMANDS
    plugins: Mapping[str, EntryPoint] | None = None

    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        self.add_command(TyperCommand(HELP_COMMAND, help="Show the help of a command."))

    def list_commands(self, ctx: Any) -> list[str]:
        """Return all names, `help` last."""
        self._add_plugins()
        names = super().list_commands(ctx)
        return [*(name for name in names if name != HELP_COMMAND), HELP_COMMAND]

    def resolve_command(self, ctx: Any, args: list[str]) -> tuple[str | None, Any, list[str]]:
        """Return the name, the command and the remaining arguments of a call."""
        named = args[1:2] if args[0] == HELP_COMMAND else args[:1]
        if not self.commands.keys() >= set(named):
            self._add_plugins()
        name, command, rest = super().resolve_command(ctx, args)
        point = (self.plugins or {}).get(name or "")
        if name and point:
            from kalypso_actions.cli.plugin_commands import load_plugin  # noqa: PLC0415

            command = load_plugin(name, point)
        return name, command, rest

    def _add_plugins(self) -> None:
        if self.plugins is None:
            # The other commands start without the time of this search.
            from kalypso_actions.cli.plugin_commands import (  # noqa: PLC0415
                plugin_points,
                plugin_summary,
            )

            points = plugin_points().items()
            self.plugins = {name: point for name, point in points if name not in self.commands}
            for name, point in self.plugins.items():
                self.add_command(TyperCommand(name, help=plugin_summary(point)))


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
