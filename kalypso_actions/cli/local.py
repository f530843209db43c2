"""Shared by render and validate, which read repositories for a person."""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import Annotated

import typer

from kalypso_actions.cli.output import configure_logging
from kalypso_actions.clients.files_at_hand import FilesAtHand
from kalypso_actions.clients.process import Programs
from kalypso_actions.commands.runtime.local_context import LocalContext
from kalypso_actions.inputs import Source
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


def files_at_hand(sources: Iterable[Source] = ()) -> FilesAtHand:
    """Return the files of this machine, with the paths that replace URLs."""
    return FilesAtHand(Programs(os.environ), {source.url: source.path for source in sources})


def local_context(progress: ProgressDisplay, *, verbose: bool) -> LocalContext:
    """Build the context of a command that reads for a person at a terminal."""
    configure_logging(verbose=verbose)
    return LocalContext(Programs(os.environ), progress.update)
