"""The pipeline on a terminal."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from typing import Final

from rich.console import Console, Group
from rich.table import Table
from rich.text import Text

from kalypso_actions.model.counts import counted
from kalypso_actions.report.documents import ProblemEntry
from kalypso_actions.report.finding_counts import finding_counts
from kalypso_actions.report.status_document import (
    CommitViewEntry,
    EnvironmentStatusEntry,
    StatusDocument,
)
from kalypso_actions.report.terminal import print_findings
from kalypso_actions.report.terminal_escaping import escape_log_line

STYLES: Final = {
    "success": "green",
    "failure": "bold red",
    "error": "bold red",
    "pending": "yellow",
}
DEPLOYED: Final = "Deployed"
"""Only the last environment ends the chain with success; the status of the others is pending."""

MOST_LINES: Final = 10
"""The most lines about waits, and about clusters, for each environment."""

UNITS: Final = (("d", 86_400), ("h", 3_600), ("min", 60))


def print_status(console: Console, document: StatusDocument) -> None:
    """Print the pipeline, what each environment waits for, and the problems."""
    console.print(pipeline(document))
    problems = [problem for each in document.environments for problem in each.problems]
    if problems or document.problems:
        every: tuple[ProblemEntry, ...] = (*document.problems, *problems)
        print_findings(console, (), every)
        console.print(finding_counts(every, ()))


def pipeline(document: StatusDocument) -> Group:
    """Return the table of the environments, with main above it, and waits and clusters below."""
    table = Table(box=None, pad_edge=False)
    for heading in ("environment", "state", "commit", "main ahead", "assignments"):
        table.add_column(heading, overflow="fold")
    for entry in document.environments:
        table.add_row(
            Text(escape_log_line(entry.environment)),
            _state(entry, document.at),
            _commit(entry.commit, document.at),
            Text({None: "unknown", 0: "-"}.get(entry.ahead, counted(entry.ahead or 0, "commit"))),
            Text(_assignments(entry)),
        )
    below = [*_waits(document), *_not_compliant(document)]
    return Group(_main(document), Text(), table, *((Text(), *below) if below else ()))


def _main(document: StatusDocument) -> Text:
    text = Text("main  ", style="bold")
    text.append(_commit(document.main, document.at))
    if document.ci:
        text.append(f"  ci: {document.ci}", style=STYLES[document.ci])
    return text


def _state(entry: EnvironmentStatusEntry, at: datetime | None) -> Text:
    state = "success" if entry.state.text == DEPLOYED else entry.state.state
    text = Text(escape_log_line(entry.state.text), style=STYLES.get(state, ""))
    if entry.state.at:
        text.append(f" ({age(entry.state.at, at)})", style="dim")
    if entry.clusters is not None:
        states = ", ".join(f"{number} {state}" for state, number in entry.clusters.items())
        text.append(f"\nclusters: {states or 'none'}", style="default")
    return text


def _commit(commit: CommitViewEntry | None, at: datetime | None) -> Text:
    if commit is None:
        return Text("none")
    text = Text(commit.commit[:7], style="yellow")
    text.append(f" {escape_log_line(commit.subject)}", style="default")
    author = escape_log_line(commit.author)
    text.append(f" ({author}, {age(commit.committed_at, at)})", style="dim")
    return text


def _assignments(entry: EnvironmentStatusEntry) -> str:
    numbers = ((entry.failing, "failing"), (entry.degraded, "registrations unusable"))
    faults = [f"{number} {noun}" for number, noun in numbers if number]
    return ", ".join([str(entry.assignments), *faults])


def _waits(document: StatusDocument) -> Iterator[Text]:
    """Yield a line for each wait, or a line that says that there is none."""
    rows = [("main", document.waits)]
    rows += [(entry.environment, entry.waits) for entry in document.environments]
    for name, waits in rows:
        for wait in waits[:MOST_LINES]:
            text = Text(escape_log_line(f"{name} waits for {wait.waits_for}: "))
            text.append(escape_log_line(wait.text), style="default")
            if wait.url:
                text.append(f"  {escape_log_line(wait.url)}", style="dim")
            yield text
        yield from _more(name, len(waits) - MOST_LINES)
    if not any(waits for _, waits in rows) and document.environments:
        yield Text("nothing waits")


def _not_compliant(document: StatusDocument) -> Iterator[Text]:
    for entry in document.environments:
        clusters = entry.not_compliant or ()
        for item in clusters[:MOST_LINES]:
            kind = f" ({item.cluster_type})" if item.cluster_type else ""
            subject = f"{item.name}{kind}" if item.name else f"cluster type {item.cluster_type}"
            line = f"{entry.environment}: {item.state}: {subject}: {item.reason}"
            yield Text(escape_log_line(line))
        yield from _more(entry.environment, len(clusters) - MOST_LINES)


def _more(name: str, number: int) -> Iterator[Text]:
    if number > 0:
        yield Text(escape_log_line(f"{name}: … and {number} more; --output json lists all"))


def age(then: datetime, now: datetime | None) -> str:
    """Return `3 d ago`; the time itself if the present time is not given."""
    if now is None:
        return then.isoformat()
    seconds = max(0, int((now - then).total_seconds()))
    for unit, size in UNITS:
        if seconds >= size:
            return f"{seconds // size} {unit} ago"
    return "just now"
