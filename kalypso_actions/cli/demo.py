"""The command demo."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from kalypso_actions.cli.output import Output, VerboseCalls, errors_as_json
from kalypso_actions.cli.streams import configure_logging, print_json
from kalypso_actions.commands.demo import LENGTH
from kalypso_actions.commands.demo import demo as run_demo
from kalypso_actions.errors import Problem
from kalypso_actions.inputs.checking import checked_inputs
from kalypso_actions.inputs.demo import DemoInputs
from kalypso_actions.report.demo_document import DemoDocument, DemoStepEntry, Timeline, print_end
from kalypso_actions.report.documents import Document, ProblemEntry

WIDTH = 100
"""The width of the timeline without a terminal, in columns."""


def demo(
    folder: Annotated[
        Path | None,
        typer.Option(
            "--dir", metavar="DIR", help="The folder that keeps the results. Default: a new one."
        ),
    ] = None,
    output: Output = "text",
    verbose: VerboseCalls = False,
) -> None:
    """Run the whole promotion chain for a sample organisation, on this machine alone."""
    configure_logging(calls=verbose)
    console = Console(width=None if sys.stdout.isatty() else WIDTH, highlight=False)
    timeline = Timeline(console)

    def show(step: DemoStepEntry) -> None:
        if output == "text":
            timeline.show(step)

    def failed(problems: Sequence[Problem]) -> Document:
        return DemoDocument(dir=str(folder or ""), problems=ProblemEntry.all_of(problems))

    with errors_as_json(output, failed):
        inputs = checked_inputs(DemoInputs, {"dir": folder})
        document = run_demo(inputs, dict(os.environ), datetime.now(UTC) - LENGTH, show)
    if output == "json":
        print_json(document)
    else:
        print_end(console, document, _program(sys.argv[0]))
    raise typer.Exit(1 if document.problems else 0)


def _program(argument: str) -> str:
    """Return the word that runs this program again: its name if it is on PATH, else its path.

    `make demo` runs it by its path.
    """
    name = "kalypso"
    if Path(argument).stem != name or shutil.which(name) == shutil.which(argument):
        return name
    return argument
