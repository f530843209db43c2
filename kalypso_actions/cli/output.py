"""What all commands share: their two options, and how an end is told."""

from __future__ import annotations

import logging
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from io import TextIOWrapper
from typing import Annotated, Literal

import typer
from rich.console import Console

from kalypso_actions.errors import KalypsoError, Problem
from kalypso_actions.report.documents import Document
from kalypso_actions.runner.workflow_commands import escape_workflow_commands

Output = Annotated[Literal["text", "json"], typer.Option(help="What goes to standard output.")]
Verbose = Annotated[
    bool, typer.Option("--verbose", help="Show each program that is started, and notes.")
]


@contextmanager
def errors_as_json(output: str, failed: Callable[[Sequence[Problem]], Document]) -> Iterator[None]:
    """With `json`, an error that ends the run is told by the command's document as well."""
    try:
        yield
    except KalypsoError as error:
        if output != "json":
            raise
        print_json(failed(error.problems))
        raise typer.Exit(error.exit_code) from error


def configure_logging(*, verbose: bool) -> None:
    """With `verbose`, each program and API call goes to standard error, with its time."""
    logging.getLogger("azure").addHandler(logging.NullHandler())  # its warnings are told as errors
    if verbose:
        handler = logging.StreamHandler()
        handler.setFormatter(LogFormatter("%(asctime)s %(message)s"))
        logging.basicConfig(handlers=[handler])
        # Ours alone: nobody has looked at what other libraries write.
        logging.getLogger("kalypso_actions").setLevel(logging.DEBUG)


class LogFormatter(logging.Formatter):
    """Calls hold URLs and branches that others have named: none commands the runner."""

    def format(self, record: logging.LogRecord) -> str:
        """The line."""
        return escape_workflow_commands(super().format(record))


def print_json(document: Document) -> None:
    """The document and nothing else on standard output."""
    if isinstance(sys.stdout, TextIOWrapper):
        sys.stdout.reconfigure(encoding="utf-8")  # as JSON has it, whatever the terminal's is
    sys.stdout.write(document.to_json() + "\n")


def stdout() -> Console:
    """As wide as the terminal; where there is none, wide enough that nothing is folded."""
    return Console(width=None if sys.stdout.isatty() else 200, highlight=False)


def stderr() -> Console:
    """Where people are told what is no result."""
    return Console(stderr=True, highlight=False)
