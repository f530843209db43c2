"""The output of `kalypso drift`: what is not as wanted, the worst first."""

from __future__ import annotations

from datetime import datetime

from pydantic import Field
from rich.console import Console

from kalypso_actions.model.counts import counted
from kalypso_actions.report.documents import OutputDocument, ProblemEntry
from kalypso_actions.report.escaping import escape_log_line
from kalypso_actions.report.terminal import looked, print_line, print_table


class DriftEntry(OutputDocument):
    """One thing that is not as wanted; see the guide's page on the record for the kinds.

    `wanted` and `has` are versions, or abbreviated commits. `changes` is the number of changes that
    a cluster is behind.
    """

    kind: str
    environment: str
    since: datetime | None
    cluster_type: str
    cluster: str
    cluster_name: str
    target: str
    workload: str
    wanted: str
    has: str
    changes: int
    reason: str


class DriftDocument(OutputDocument):
    """The output of `kalypso drift --output json`.

    `observed_at` is the look that it is from. `left_out` are the kinds that the record does not
    know. `is_failing`: one of the kinds of `--fail-on` is there, or nothing had been
    observed by then.
    """

    schema_name: str = Field("kalypso.drift/v1", alias="schema")
    record: str = ""
    at: datetime | None = None
    observed_at: datetime | None = None
    entries: tuple[DriftEntry, ...] = ()
    clusters: int = 0
    left_out: tuple[str, ...] = ()
    is_failing: bool = False
    problems: tuple[ProblemEntry, ...] = ()


HEADINGS = ("what", "environment", "cluster", "target", "should run", "runs", "since", "why")


def print_drift(console: Console, document: DriftDocument) -> None:
    """Print a line for each entry."""
    rows = [
        (
            _kind(entry),
            entry.environment,
            escape_log_line(entry.cluster_name or entry.cluster_type or "–"),
            escape_log_line(entry.target or "–"),
            escape_log_line(entry.wanted or "–"),
            escape_log_line(entry.has or "–"),
            f"{entry.since:%Y-%m-%d %H:%M:%S} UTC" if entry.since else "–",
            escape_log_line(entry.reason),
        )
        for entry in document.entries
    ]
    if rows:
        print_table(console, HEADINGS, rows)
    elif document.clusters:
        print_line(console, f"all {counted(document.clusters, 'cluster')} run what they should")
    print_line(console, f"{counted(len(rows), 'difference')}; {looked(document.observed_at)}")
    if document.left_out:
        kinds = ", ".join(document.left_out)
        print_line(console, f"not in the record: {kinds}; kalypso poll --dry-run tells them")


def _kind(entry: DriftEntry) -> str:
    return f"behind by {counted(entry.changes, 'change')}" if entry.changes else entry.kind
