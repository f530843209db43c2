"""The output of `kalypso clusters`: its document, and its text."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime

from pydantic import Field
from rich.console import Console

from kalypso_actions.model.counts import counted
from kalypso_actions.report.documents import OutputDocument, ProblemEntry, finding_counts
from kalypso_actions.report.escaping import escape_log_line
from kalypso_actions.report.status_document import age
from kalypso_actions.report.terminal import print_findings, print_line, print_table


class SourceReportEntry(OutputDocument):
    """What a source reports of a cluster: in its own words, before it is judged.

    `commit` is "" if it names none. The state began at `since`, and was reported at `reported_at`.
    """

    source: str
    configuration: str
    paths: tuple[str, ...]
    commit: str
    state: str
    message: str
    since: datetime | None
    reported_at: datetime | None


class ObservedClusterEntry(OutputDocument):
    """A cluster: `expected` if its cluster type lists it; the state is judged by the head.

    `cluster_type` is "" for a cluster that follows the whole tree.
    """

    id: str
    name: str
    cluster_type: str
    expected: bool
    state: str
    reason: str
    reports: tuple[SourceReportEntry, ...]


class ObservedBranchEntry(OutputDocument):
    """A GitOps branch of an environment, with its head and the clusters that should run it.

    `missing` are the cluster types with assignments and without a cluster, `unlisted` those that do
    not list their clusters. `not_ours` are the names of clusters that follow other paths.
    """

    environment: str
    repository: str
    branch: str
    commit: str
    clusters: tuple[ObservedClusterEntry, ...]
    missing: tuple[str, ...]
    unlisted: tuple[str, ...]
    not_ours: tuple[str, ...]


class ClustersDocument(OutputDocument):
    """The output of `kalypso clusters --output json`: who is expected, and who reports what."""

    schema_name: str = Field("kalypso.clusters/v1", alias="schema")
    control_plane: str = ""
    at: datetime | None = None
    sources: tuple[str, ...] = ()
    branches: tuple[ObservedBranchEntry, ...] = ()
    warnings: tuple[ProblemEntry, ...] = ()
    problems: tuple[ProblemEntry, ...] = ()


HEADINGS = ("cluster", "type", "expected", "state", "commit", "source", "reported", "reason")


def print_clusters(console: Console, document: ClustersDocument) -> None:
    """Print a table for each GitOps branch, with a line for each report, and the findings."""
    for entry in document.branches:
        number = counted(len(entry.clusters), "cluster")
        place = f"{entry.repository}@{entry.branch}"
        print_line(console, f"{entry.environment}  {place} {entry.commit[:7]}: {number}", "bold")
        if entry.clusters:
            print_table(console, HEADINGS, list(_rows(entry, document.at)))
        for name in sorted({*entry.missing, *entry.unlisted}):
            said = [
                text
                for names, text in (
                    (entry.missing, "no cluster reports"),
                    (entry.unlisted, "lists no clusters"),
                )
                if name in names
            ]
            print_line(console, f"cluster type {name}: {', '.join(said)}")
        for name in entry.not_ours:
            print_line(console, f"{name} follows other paths of the branch")
        console.print()
    if document.findings:
        print_findings(console, document.findings)
        console.print(finding_counts(document.findings))


def _rows(entry: ObservedBranchEntry, at: datetime | None) -> Iterator[tuple[str, ...]]:
    for cluster in entry.clusters:
        name, kind = cluster.name, cluster.cluster_type or "all"
        first = name, kind, "yes" if cluster.expected else "no", cluster.state
        if len(cluster.reports) != 1:
            yield tuple(map(escape_log_line, (*first, "", "", "", cluster.reason)))
        for report in cluster.reports:
            reported = age(report.reported_at, at) if report.reported_at else ""
            row = (*first, report.commit[:7], report.source, reported, cluster.reason)
            if len(cluster.reports) > 1:
                row = ("", "", "", report.state, *row[4:7], report.message)
            yield tuple(map(escape_log_line, row))
