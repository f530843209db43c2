"""The command sandbox."""

from __future__ import annotations

import logging
import os
import signal
import sys
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import typer

from kalypso_actions.cli.command import Command, Given
from kalypso_actions.cli.streams import print_json
from kalypso_actions.clients.process import Programs
from kalypso_actions.commands.sandbox import sandbox as run_sandbox
from kalypso_actions.inputs.local import SandboxInputs
from kalypso_actions.report.demo_document import SandboxDocument, sandbox_text


class Sandbox(Command[SandboxInputs, SandboxDocument]):
    """Serve GitHub and Azure Resource Graph on this machine, for trials and tests."""

    model, document = SandboxInputs, SandboxDocument

    def run(self, inputs: SandboxInputs) -> SandboxDocument:
        """Serve until Ctrl-C; the document is printed as soon as it is served."""
        with _until_stopped() as stopped, run_sandbox(inputs, Programs(os.environ)) as document:
            if inputs.output == "json":
                print_json(document)
            else:
                typer.echo(sandbox_text(document))
            sys.stdout.flush()
            while not stopped.wait(1):  # Windows handles Ctrl-C only between two waits
                continue
        return document

    def print(self, inputs: SandboxInputs, document: SandboxDocument) -> None:
        """Print nothing at the end."""

    def echo(self, given: Given) -> Mapping[str, Any]:
        """Return the folder."""
        return {"dir": given["dir"]}

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
