"""The output of `kalypso where`: who has it, since when."""

from __future__ import annotations

from datetime import datetime

from pydantic import Field
from rich.console import Console

from kalypso_actions.model.counts import counted
from kalypso_actions.report.documents import OutputDocument, ProblemEntry
from kalypso_actions.report.escaping import escape_log_line
from kalypso_actions.report.terminal import looked, print_line, print_table


class WhereEntry(OutputDocument):
    """What a cluster runs of a target; see the guide's page on the record for the fields."""

    environment: str
    cluster_type: str
    cluster: str
    cluster_name: str
    configuration: str
    target: str
    workload: str
    desired_version: str
    deployed_version: str
    source_commit: str
    gitops_commit: str
    relation: str
    status: str
    since: datetime
    reason: str


class WhereDocument(OutputDocument):
    """The output of `kalypso where --output json`; `observed_at` is the look that it is from."""

    schema_name: str = Field("kalypso.where/v1", alias="schema")
    record: str = ""
    name: str = ""
    at: datetime | None = None
    observed_at: datetime | None = None
    states: tuple[WhereEntry, ...] = ()
    problems: tuple[ProblemEntry, ...] = ()


HEADINGS = ("environment", "type", "cluster", "target", "runs", "should run", "state", "since")


def print_where(console: Console, document: WhereDocument) -> None:
    """Print a line for each cluster and target."""
    rows = [
        (
            entry.environment,
            entry.cluster_type,
            escape_log_line(entry.cluster_name),
            escape_log_line(entry.target),
            escape_log_line(entry.deployed_version or entry.gitops_commit[:7] or "?"),
            escape_log_line(entry.desired_version or "–"),
            escape_log_line(_state(entry)),
            f"{entry.since:%Y-%m-%d %H:%M:%S} UTC",
        )
        for entry in document.states
    ]
    if rows:
        print_table(console, HEADINGS, rows)
    clusters = len({entry.cluster for entry in document.states})
    print_line(console, f"{counted(clusters, 'cluster')}; {looked(document.observed_at)}")


def _state(entry: WhereEntry) -> str:
    words = entry.status.replace("_", " ")
    if entry.relation != "current":
        words = f"{words}, {entry.relation}"
    return f"{words}: {entry.reason}" if entry.reason else words
