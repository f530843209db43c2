"""The command sandbox."""

from __future__ import annotations

import logging
import os
import signal
import sys
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

import typer

from kalypso_actions.cli.output import Output, errors_as_json
from kalypso_actions.cli.streams import print_json
from kalypso_actions.clients.process import Programs
from kalypso_actions.commands.sandbox import sandbox as run_sandbox
from kalypso_actions.errors import Problem
from kalypso_actions.inputs.checking import checked_inputs
from kalypso_actions.inputs.sandbox import Flavour, SandboxInputs
from kalypso_actions.report.demo_document import SandboxDocument, sandbox_text
from kalypso_actions.report.documents import Document, ProblemEntry


def sandbox(
    folder: Annotated[
        Path,
        typer.Option("--dir", metavar="DIR", help="The folder that keeps the data between runs."),
    ],
    port: Annotated[
        int,
        typer.Option(
            metavar="N", help="A port of 127.0.0.1; 0 for that of the last run, or any free one."
        ),
    ] = 0,
    tls: Annotated[
        bool, typer.Option("--tls", help="Serve https, with a certificate authority of its own.")
    ] = False,
    flavour: Annotated[
        Flavour, typer.Option(help="ghes serves GitHub Enterprise Server 3.17.")
    ] = "github.com",
    repository: Annotated[
        list[str],
        typer.Option(metavar="OWNER/NAME", help="Create this empty repository. Repeatable."),
    ] = [],  # noqa: B006 - typer reads the default, nobody changes it
    output: Output = "text",
    verbose: Annotated[
        bool, typer.Option("--verbose", help="Show each request and each program started.")
    ] = False,
) -> None:
    """Serve GitHub and Azure Resource Graph on this machine, for trials and tests."""
    options = {
        "dir": folder,
        "port": port,
        "tls": tls,
        "flavour": flavour,
        "repository": repository,
    }
    if verbose:
        logging.basicConfig(level=logging.DEBUG, format="%(asctime)s %(message)s")

    def failed(problems: Sequence[Problem]) -> Document:
        return SandboxDocument(dir=str(folder), problems=ProblemEntry.all_of(problems))

    with errors_as_json(output, failed):
        given = checked_inputs(SandboxInputs, options)
        with _until_stopped() as stopped, run_sandbox(given, Programs(os.environ)) as document:
            if output == "json":
                print_json(document)
            else:
                typer.echo(sandbox_text(document))
            sys.stdout.flush()
            while not stopped.wait(1):  # Windows handles Ctrl-C only between two waits
                continue


@contextmanager
def _until_stopped() -> Iterator[threading.Event]:
    """Yield an event that SIGINT and SIGTERM set."""
    stopped = threading.Event()
    before = {
        number: signal.signal(number, lambda *_: stopped.set())
        for number in (signal.SIGINT, signal.SIGTERM)
    }
    try:
        yield stopped
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
