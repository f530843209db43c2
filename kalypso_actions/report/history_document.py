"""The output of `kalypso history`: the commits of main that an environment has had."""

from __future__ import annotations

from datetime import datetime
from typing import Literal

from pydantic import Field
from rich.console import Console
from rich.table import Table
from rich.text import Text

from kalypso_actions.report.documents import OutputDocument, ProblemEntry
from kalypso_actions.report.escaping import escape_log_line
from kalypso_actions.report.terminal import print_line

STYLES = {"deployed": "green", "failed": "bold red", "rolled back": "red"}


class PeriodEntry(OutputDocument):
    """The time `since` an environment has a commit of main, `until` another one came (null: now).

    `subject` and `author` are those of the commit ("" if it is gone), `by` is the author of
    `environment_commit`, which wrote it to base-repo.yaml. `deployed`: the clusters have complied
    with it. The `verdict` is the state of the latest status, whose text is `description` ("" for
    both without a status), or `rolled back` if an older commit came, `rolled_back_to` ("" if not).
    """

    commit: str
    subject: str
    author: str
    since: datetime
    until: datetime | None
    by: str
    environment_commit: str
    verdict: str
    description: str
    deployed: bool
    rolled_back_to: str


class HistoryDocument(OutputDocument):
    """The output of `kalypso history --output json`.

    `name` is that of an environment (`kind`). `last_good` is the commit to which `kalypso rollback`
    goes back ("" for none). `is_complete`: the branch has named no older commits.
    """

    schema_name: str = Field("kalypso.history/v1", alias="schema")
    control_plane: str = ""
    kind: Literal["environment"] = "environment"
    name: str = ""
    branch: str = ""
    last_good: str = ""
    periods: tuple[PeriodEntry, ...] = ()
    is_complete: bool = True
    problems: tuple[ProblemEntry, ...] = ()


def print_history(console: Console, document: HistoryDocument) -> None:
    """Print a line for each period, and the commit to which a rollback goes back."""
    table = Table(box=None, pad_edge=False)
    for heading in ("since", "commit", "subject", "written by", "verdict"):
        table.add_column(heading, overflow="fold")
    for entry in document.periods:
        verdict = Text(entry.verdict or "no status", style=STYLES.get(entry.verdict, ""))
        if entry.rolled_back_to:
            verdict.append(f" to {entry.rolled_back_to[:7]}")
            verdict.append(", deployed before" if entry.deployed else "", style="dim")
        if entry.until is None:
            verdict.append("  now", style="bold")
        table.add_row(
            Text(f"{entry.since:%Y-%m-%d %H:%M} UTC"),
            Text(entry.commit[:7], style="yellow"),
            Text(escape_log_line(entry.subject)),
            Text(escape_log_line(entry.by)),
            verdict,
        )
    if document.periods:
        console.print(table)
    else:
        print_line(console, f"{document.name} has had no commit of main")
    if not document.is_complete:
        print_line(console, "older commits are not shown: --since names an earlier time")
    if document.last_good:
        line = f"kalypso rollback {document.name} goes back to {document.last_good}"
    else:
        line = f"no commit to which {document.name} can go back was deployed there"
    print_line(console, line)
