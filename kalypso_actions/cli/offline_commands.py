"""The commands that read no control plane: template, schemas, demo and sandbox."""

from __future__ import annotations

import logging
import os
import shutil
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import ClassVar, Final

import typer
from rich.console import Console

from kalypso_actions.cli.command import Command
from kalypso_actions.cli.process import ServerMemory
from kalypso_actions.cli.streams import print_json, stderr, stdout
from kalypso_actions.clients.files_at_hand import FilesAtHand
from kalypso_actions.clients.process import Programs
from kalypso_actions.commands.demo import LENGTH
from kalypso_actions.inputs.local import DemoInputs, SandboxInputs, SchemasInputs, TemplateInputs
from kalypso_actions.model.counts import counted
from kalypso_actions.report.demo_document import (
    DemoDocument,
    DemoStepEntry,
    SandboxDocument,
    Timeline,
    exports,
    print_end,
    sandbox_text,
)
from kalypso_actions.report.documents import SchemasDocument
from kalypso_actions.report.render_document import TemplateDocument, print_template

WIDTH: Final = 100
"""The width of the timeline without a terminal, in columns."""


class TemplateCommand(Command[TemplateInputs, TemplateDocument]):
    """`kalypso template`."""

    model, document, place = TemplateInputs, TemplateDocument, "template:template"
    echoed: ClassVar = {"template": "name"}

    def show(self, document: TemplateDocument) -> None:
        """Print the text, and to standard error the findings."""
        print_template(stdout(), stderr(), document, FilesAtHand(Programs(os.environ)))


class SchemasCommand(Command[SchemasInputs, SchemasDocument]):
    """`kalypso schemas`."""

    model, document, place = SchemasInputs, SchemasDocument, "schemas:schemas"
    echoed: ClassVar = {"dir": "out"}

    def run(self) -> SchemasDocument:
        """Write the schemas."""
        document: SchemasDocument = self.call(self.inputs.out)
        return document

    def show(self, document: SchemasDocument) -> None:
        """Print how to use the schemas."""
        # Templates and trials start without the imports of the kinds.
        from kalypso_actions.commands.schemas import ANY_KIND  # noqa: PLC0415

        out = self.inputs.out
        typer.echo(f"{counted(len(document.files), 'schema')} written to {out}")
        typer.echo(
            f"{out / ANY_KIND} is for files with any kinds. In an editor, as the first line:"
        )
        typer.echo(f"# yaml-language-server: $schema={(out / ANY_KIND).as_posix()}")


class DemoCommand(Command[DemoInputs, DemoDocument]):
    """`kalypso demo`."""

    model, document, place = DemoInputs, DemoDocument, "demo:demo"
    echoed: ClassVar = {"dir": "dir"}

    def run(self) -> DemoDocument:
        """Run the chain, and show each step."""
        timeline = Timeline(_console(), self.inputs.act, application=self.inputs.application)

        def show(step: DemoStepEntry) -> None:
            if self.inputs.output == "text":
                timeline.show(step)

        document: DemoDocument = self.call(
            self.inputs, dict(os.environ), datetime.now(UTC) - LENGTH, show
        )
        return document

    def show(self, document: DemoDocument) -> None:
        """Print what the demo leaves."""
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


class SandboxCommand(Command[SandboxInputs, SandboxDocument]):
    """`kalypso sandbox`."""

    model, document, place = SandboxInputs, SandboxDocument, "sandbox:sandbox"
    echoed: ClassVar = {"dir": "dir"}

    def run(self) -> SandboxDocument:
        """Serve until Ctrl-C; the document is printed as soon as it is served."""
        document: SandboxDocument
        if self.inputs.what:
            return self._environment()
        served = self.call(self.inputs, Programs(os.environ), dict(os.environ))
        memory = ServerMemory()
        with _until_stopped() as stopped, served as document:
            if self.inputs.output == "json":
                print_json(document)
            else:
                typer.echo(sandbox_text(document))
            sys.stdout.flush()
            while not stopped.wait(1):  # Windows handles Ctrl-C only between two waits
                memory.give_back()
        return document

    def _environment(self) -> SandboxDocument:
        from kalypso_actions.commands.sandbox import environment_of  # noqa: PLC0415

        document = environment_of(self.inputs)
        if self.inputs.output == "json":
            print_json(document)
        else:
            typer.echo(exports(document.environment), nl=False)
        return document

    def print(self, document: SandboxDocument) -> None:
        """Print nothing at the end."""

    def log(self, *, calls: bool) -> None:
        """Log requests and programs."""
        if calls:
            logging.basicConfig(level=logging.DEBUG, format="%(asctime)s %(message)s")


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
