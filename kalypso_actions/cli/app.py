"""The Typer app: its groups, which import a command when it is called."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Final

import typer
import typer.main
from typer.core import TyperCommand, TyperGroup

from kalypso_actions import __version__
from kalypso_actions.cli.command_list import (
    COMMANDS,
    GROUP_COMMANDS,
    GROUPS,
    HELP,
    LazyCommand,
    load,
)

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

HELP_COMMAND: Final = "help"


class LazyGroup(TyperGroup):
    """Loads a command when it is called; `--help` needs only names and summaries."""

    table: ClassVar[Mapping[str, LazyCommand]] = {}
    prefix: ClassVar[str] = ""
    """The words of a group in the names of its commands."""

    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        for words, command in self.table.items():
            name = words.rpartition(" ")[2]
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
        words = f"{self.prefix}{name}"
        return name, load(words) if words in self.table else command, rest


def command_group(word: str) -> Any:
    """Return a group such as `kalypso app`."""
    names = {"table": GROUP_COMMANDS[word], "prefix": f"{word} "}
    group = typer.Typer(
        cls=type("CommandGroup", (LazyGroup,), names),
        help=COMMANDS[word].summary,
        no_args_is_help=True,
        context_settings=HELP,
        add_completion=False,
        pretty_exceptions_enable=False,
        rich_markup_mode=None,
    )
    group.callback()(lambda: None)  # Typer makes a group only of an app with a function
    return typer.main.get_command(group)


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

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """Write the visible commands in their groups, each with its whole summary."""
        names = [name for name in self.list_commands(ctx) if not self.commands[name].hidden]
        grouped = {name for group in GROUPS.values() for name in group}
        others = {"Plug-ins": [name for name in names if name not in grouped]}
        for title, group in (GROUPS | others).items():
            rows = [(name, self.commands[name].help or "") for name in group if name in names]
            if rows:
                with formatter.section(title):
                    formatter.write_dl(rows)

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
    rich_markup_mode=None,
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
