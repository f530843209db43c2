"""Standard output, standard error, and the log of calls.

Rich is imported only where a run has something to show by it: a step of a job prints few lines.
"""

from __future__ import annotations

import logging
import sys
from io import TextIOWrapper
from typing import TYPE_CHECKING

from kalypso_actions.report.documents import Document
from kalypso_actions.report.escaping import escape_log_line
from kalypso_actions.runner.workflow_commands import escape_workflow_commands

if TYPE_CHECKING:
    from rich.console import Console


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
    sys.stdout.write(f"{document.to_json()}\n")


def stdout() -> Console:
    """Return a console as wide as the terminal; without a terminal, do not fold lines."""
    from rich.console import Console  # noqa: PLC0415

    return Console(width=None if sys.stdout.isatty() else 200, highlight=False)


def stderr() -> Console:
    """Return the console for messages that are not results."""
    from rich.console import Console  # noqa: PLC0415

    return Console(stderr=True, highlight=False)


def log_line(line: str) -> None:
    """Print a line for people to standard error; escape workflow commands in it."""
    sys.stderr.write(f"{escape_log_line(line)}\n")
    sys.stderr.flush()
