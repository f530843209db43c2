"""The command demo."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

from rich.console import Console

from kalypso_actions.cli.command import Command, Given
from kalypso_actions.commands.demo import LENGTH
from kalypso_actions.commands.demo import demo as run_demo
from kalypso_actions.inputs.local import DemoInputs
from kalypso_actions.report.demo_document import DemoDocument, DemoStepEntry, Timeline, print_end

WIDTH: Final = 100
"""The width of the timeline without a terminal, in columns."""


class Demo(Command[DemoInputs, DemoDocument]):
    """Run the whole promotion chain for a sample organisation, on this machine alone."""

    model, document = DemoInputs, DemoDocument

    def run(self, inputs: DemoInputs) -> DemoDocument:
        """Run the chain, and show each step."""
        timeline = Timeline(_console())

        def show(step: DemoStepEntry) -> None:
            if inputs.output == "text":
                timeline.show(step)

        return run_demo(inputs, dict(os.environ), datetime.now(UTC) - LENGTH, show)

    def echo(self, given: Given) -> Mapping[str, Any]:
        """Return the folder."""
        return {"dir": given.get("dir", "")}

    def show(self, inputs: DemoInputs, document: DemoDocument) -> None:
        """Print what the demo leaves."""
        del inputs
        print_end(_console(), document, _program(sys.argv[0]))


def _console() -> Console:
    return Console(width=None if sys.stdout.isatty() else WIDTH, highlight=False)


def _program(argument: str) -> str:
    """Return the word that runs this program again: its name if it is on PATH, else its path.

    `make demo` runs it by its path.
    """
    name = "kalypso"
    if Path(argument).stem != name or shutil.which(name) == shutil.which(argument):
        return name
    return argument
