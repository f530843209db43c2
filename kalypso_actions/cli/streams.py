"""Standard output, standard error, the pager, the log of calls, and the report of an error.

Rich is imported only where a run has something to show by it: a step of a job prints few lines.
"""

from __future__ import annotations

import itertools
import logging
import os
import pydoc
import sys
import traceback
from collections.abc import Iterable
from io import TextIOWrapper
from typing import TYPE_CHECKING

from kalypso_actions import ISSUES_URL, __version__
from kalypso_actions.errors import KalypsoError
from kalypso_actions.report.documents import OutputDocument
from kalypso_actions.report.escaping import escape_log_line
from kalypso_actions.runner import Runner, escape_workflow_commands

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


def print_json(document: OutputDocument) -> None:
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


def show_paged(console: Console, lines: Iterable[str]) -> None:
    """Print lines to standard output, paged by `PAGER` on a terminal.

    As with git, an empty PAGER or `cat` means no pager, and less shows colours.
    """
    rest = iter(lines)
    if sys.stdout.isatty() and os.environ.get("PAGER", "less").strip() not in {"", "cat"}:
        first = list(itertools.islice(rest, console.height))
        rest = itertools.chain(first, rest)
        if len(first) >= console.height:
            os.environ.setdefault("LESS", "FRX")
            pydoc.pager("".join(f"{line}\n" for line in rest))
            return
    for line in rest:
        sys.stdout.write(f"{line}\n")
    sys.stdout.flush()  # the caller prints findings to standard error


def report_error(error: Exception) -> int:
    """Report an error to people and to the runner, and return the exit code.

    Any error that is not a KalypsoError is a bug of this program.
    """
    if isinstance(error, KalypsoError):
        # Few runs need a report, but every run would wait for these imports.
        from kalypso_actions.clients.files_at_hand import FilesAtHand  # noqa: PLC0415
        from kalypso_actions.clients.process import Programs  # noqa: PLC0415
        from kalypso_actions.report.terminal import print_findings  # noqa: PLC0415

        print_findings(stderr(), error.problems, FilesAtHand(Programs(os.environ)))
        Runner(os.environ, sys.stderr).annotate(error.problems, "kalypso")
        return error.exit_code
    sys.stderr.write(escape_workflow_commands("".join(traceback.format_exception(error))) + "\n")
    request = f"This is a bug in kalypso {__version__}. Please report it: {ISSUES_URL}"
    stderr().print(f"\n{request}", soft_wrap=True)
    return 1
