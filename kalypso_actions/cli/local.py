"""Shared by render and validate, which read repositories for a person."""

from __future__ import annotations

import os
from typing import Annotated

import typer

from kalypso_actions.cli.output import configure_logging
from kalypso_actions.clients.process import Programs
from kalypso_actions.commands.runtime.local_context import LocalContext
from kalypso_actions.report.progress import ProgressDisplay

SourceOption = Annotated[
    list[str],
    typer.Option(
        "--source",
        metavar="URL[@BRANCH]=PATH",
        help="Read PATH, a git repository or a plain folder, instead of URL, without the network. "
        "Repeatable.",
    ),
]


def local_context(progress: ProgressDisplay, *, verbose: bool) -> LocalContext:
    """Build the context of a command that reads for a person at a terminal."""
    configure_logging(verbose=verbose)
    return LocalContext(Programs(os.environ), progress.update)
