"""The group `kalypso app`."""

from __future__ import annotations

import typer
import typer.main

from kalypso_actions.cli.command_list import APP_COMMANDS, COMMANDS, HELP
from kalypso_actions.cli.lazy_group import LazyGroup


class AppGroup(LazyGroup):
    """The commands of an application team."""

    table = APP_COMMANDS


_typer = typer.Typer(
    cls=AppGroup,
    help=COMMANDS["app"].summary,
    no_args_is_help=True,
    context_settings=HELP,
    add_completion=False,
    pretty_exceptions_enable=False,
)


@_typer.callback()
def _root() -> None:
    """Do nothing: Typer makes a group only of an app with a function."""


app = typer.main.get_command(_typer)
