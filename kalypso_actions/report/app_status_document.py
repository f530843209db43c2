"""The output of `kalypso app status`: the environments of an application, and their waits."""

from __future__ import annotations

from datetime import datetime
from typing import Literal

from pydantic import Field
from rich.console import Console
from rich.table import Table
from rich.text import Text

from kalypso_actions.report.documents import Entries, OutputDocument, ProblemEntry
from kalypso_actions.report.escaping import escape_log_line


class AppWaitEntry(OutputDocument):
    """Something that an environment waits for; `url` is its page, "" without one."""

    waits_for: Literal["people", "clusters", "a run"]
    text: str
    url: str = ""


class AppEnvironmentEntry(OutputDocument):
    """An environment: the source commit that its GitOps branch names, with its version.

    `state` is the text of the commit's status ("" for none), posted at `since`.
    """

    environment: str
    commit: str
    version: str
    state: str
    since: datetime | None
    waits_for: Entries[AppWaitEntry] = ()


class AppStatusDocument(OutputDocument):
    """The output of `kalypso app status --output json`."""

    schema_name: str = Field("kalypso.app-status/v1", alias="schema")
    source: str = ""
    environments: Entries[AppEnvironmentEntry] = ()
    problems: Entries[ProblemEntry] = ()


def print_app_status(console: Console, document: AppStatusDocument) -> None:
    """Print a line for each environment, and below it what it waits for."""
    table = Table(box=None, pad_edge=False)
    for heading in ("environment", "version", "commit", "since", "state", "waits for"):
        table.add_column(heading, overflow="fold")
    for entry in document.environments:
        waits = [f"{each.waits_for}: {each.text}" for each in entry.waits_for] or [""]
        since = f"{entry.since:%Y-%m-%d %H:%M} UTC" if entry.since else ""
        cells = (entry.environment, entry.version or "–", entry.commit[:7], since, entry.state)
        table.add_row(*map(_plain, (*cells, waits[0])))
        for wait in waits[1:]:
            table.add_row(*[""] * len(cells), _plain(wait))
    console.print(table)


def _plain(text: str) -> Text:
    return Text(escape_log_line(text))
