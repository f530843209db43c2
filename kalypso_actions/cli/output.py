"""Standard output, standard error, and their options."""

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
from kalypso_actions.report.terminal_escaping import escape_log_line
from kalypso_actions.runner.workflow_commands import escape_workflow_commands

Output = Annotated[Literal["text", "json"], typer.Option(help="The format of standard output.")]
Verbose = Annotated[
    bool,
    typer.Option(
        "--verbose",
        "-v",
        help="Show notes and acknowledged warnings, and on standard error each program started and "
        "API call, with its time.",
    ),
]
Notes = Annotated[bool, typer.Option("--notes", help="Show notes and acknowledged warnings.")]
VerboseCalls = Annotated[
    bool, typer.Option("--verbose", "-v", help="Show each program started and API call.")
]


LocalOutput = Annotated[
    Literal["text", "json", "sarif"],
    typer.Option(help="The format of standard output. sarif is for code scanning and editors."),
]


StatOption = Annotated[
    bool, typer.Option("--stat", help="Show each file that differs, with its changed lines.")
]
MaskOption = Annotated[
    str,
    typer.Option(
        metavar="GLOBS",
        help="More globs of keys whose values are shown as ***, separated by commas.",
    ),
]
ExitCodeOption = Annotated[
    bool, typer.Option("--exit-code", help="Exit with 1 if there are differences, else with 0.")
]


@contextmanager
def errors_as_json(output: str, failed: Callable[[Sequence[Problem]], Document]) -> Iterator[None]:
    """With `json`, print an error that ends the run as the command's document."""
    try:
        yield
    except KalypsoError as error:
        if output != "json":
            raise
        print_json(failed(error.problems))
        raise typer.Exit(error.exit_code) from error


def configure_logging(*, calls: bool) -> None:
    """With `calls`, log each program and API call to standard error, with its time."""
    # Our errors repeat the warnings of Azure's library.
    logging.getLogger("azure").addHandler(logging.NullHandler())
    if calls:
        handler = logging.StreamHandler()
        handler.setFormatter(LogFormatter("%(asctime)s %(message)s"))
        logging.basicConfig(handlers=[handler])
        # The logs of other libraries may hold secrets.
        logging.getLogger("kalypso_actions").setLevel(logging.DEBUG)


class LogFormatter(logging.Formatter):
    """Escapes workflow commands, since other people choose the URLs and branches in calls."""

    def format(self, record: logging.LogRecord) -> str:
        """Format a record."""
        return escape_workflow_commands(super().format(record))


def print_json(document: Document) -> None:
    """Print a document to standard output."""
    if isinstance(sys.stdout, TextIOWrapper):
        sys.stdout.reconfigure(encoding="utf-8")  # JSON is UTF-8 in any terminal
    sys.stdout.writelines(document.json_parts())
    sys.stdout.write("\n")


def stdout() -> Console:
    """Return a console as wide as the terminal; without a terminal, do not fold lines."""
    return Console(width=None if sys.stdout.isatty() else 200, highlight=False)


def stderr() -> Console:
    """Return the console for messages that are not results."""
    return Console(stderr=True, highlight=False)


def log_line(line: str) -> None:
    """Print a line for people to standard error; escape workflow commands in it."""
    stderr().print(escape_log_line(line), soft_wrap=True, markup=False)
