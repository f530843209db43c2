"""The output of `kalypso history`: the commits of main that an environment has had."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Literal

from pydantic import Field
from rich.console import Console
from rich.table import Table
from rich.text import Text

from kalypso_actions.report.documents import OutputDocument, ProblemEntry
from kalypso_actions.report.escaping import escape_log_line
from kalypso_actions.report.terminal import print_line, print_table

STYLES = {"deployed": "green", "failed": "bold red", "rolled back": "red"}


class PeriodEntry(OutputDocument):
    """The time `since` an environment has a commit of main, `until` another one came (null: now).

    `subject` and `author` are those of the commit ("" if it is gone), `by` is the author of
    `environment_commit`, which wrote it to base-repo.yaml. `deployed`: the clusters have complied
    with it. The `verdict` is the state of the latest status, whose text is `description` ("" for
    both without a status), or `rolled back` if an older commit came, `rolled_back_to` ("" if not).
    `clusters` are numbers by their last status with the commit (null: no record has it).
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
    clusters: Mapping[str, int] | None = None


class TargetPeriodEntry(OutputDocument):
    """What a target should run from `since` until another content came (null: now).

    `clusters` are numbers by their last status with it. `author` and `subject` are those of
    `source_commit` if it is one of main, `merged_by` merged it to the GitOps branch, and
    `deployed_at` is when the clusters of the environment complied, `lead_time` seconds after
    `committed_at`. `edited`: somebody changed the branch by hand.
    """

    environment: str
    target: str
    workload: str
    version: str
    source_commit: str
    gitops_commit: str
    edited: bool
    since: datetime
    until: datetime | None
    clusters: Mapping[str, int]
    author: str
    subject: str
    merged_by: str
    pull_request: str
    committed_at: datetime | None
    deployed_at: datetime | None
    lead_time: int | None


class ClusterPeriodEntry(OutputDocument):
    """What a cluster ran of a target from `since` until another content or status (null: now)."""

    environment: str
    cluster_type: str
    cluster: str
    cluster_name: str
    configuration: str
    target: str
    version: str
    gitops_commit: str
    status: str
    since: datetime
    until: datetime | None
    reason: str


class HistoryDocument(OutputDocument):
    """The output of `kalypso history --output json`.

    `name` is that of an environment, a target or a cluster (`kind`), of which `periods`,
    `target_periods` or `cluster_periods` are told. `last_good` is the commit to which
    `kalypso rollback` goes back ("" for none). `is_complete`: the branch has named no older
    commits.
    """

    schema_name: str = Field("kalypso.history/v1", alias="schema")
    control_plane: str = ""
    kind: Literal["environment", "target", "cluster"] = "environment"
    name: str = ""
    branch: str = ""
    last_good: str = ""
    periods: tuple[PeriodEntry, ...] = ()
    target_periods: tuple[TargetPeriodEntry, ...] = ()
    cluster_periods: tuple[ClusterPeriodEntry, ...] = ()
    is_complete: bool = True
    problems: tuple[ProblemEntry, ...] = ()


TARGET_HEADINGS = (
    *("since", "environment", "target", "version", "commit", "clusters", "subject", "merged by"),
)


def _clusters(numbers: Mapping[str, int]) -> str:
    return ", ".join(
        f"{number} {status.replace('_', ' ')}" for status, number in numbers.items() if number
    )


def _print_periods(console: Console, document: HistoryDocument) -> None:
    """Print a line for each period of a target or a cluster."""
    rows = [
        (
            f"{entry.since:%Y-%m-%d %H:%M:%S} UTC",
            entry.environment,
            escape_log_line(entry.target or "–"),
            escape_log_line(entry.version or "nothing"),
            entry.gitops_commit[:7],
            _clusters(entry.clusters) or "no cluster",
            escape_log_line(entry.subject),
            escape_log_line(entry.merged_by),
        )
        for entry in document.target_periods
    ]
    if rows:
        print_table(console, TARGET_HEADINGS, rows)
    lines = [
        (
            f"{entry.since:%Y-%m-%d %H:%M:%S} UTC",
            f"{entry.until:%Y-%m-%d %H:%M:%S} UTC" if entry.until else "now",
            entry.environment,
            escape_log_line(entry.target or "–"),
            escape_log_line(entry.version or entry.gitops_commit[:7] or "?"),
            escape_log_line(f"{entry.status.replace('_', ' ')} {entry.reason}".strip()),
        )
        for entry in document.cluster_periods
    ]
    if lines:
        print_table(console, ("since", "until", "environment", "target", "runs", "state"), lines)


def print_history(console: Console, document: HistoryDocument) -> None:
    """Print a line for each period, and the commit to which a rollback goes back."""
    if document.kind != "environment":
        _print_periods(console, document)
        return
    has_clusters = any(entry.clusters for entry in document.periods)
    table = Table(box=None, pad_edge=False)
    for heading in ("since", "commit", "subject", "written by", "verdict"):
        table.add_column(heading, overflow="fold")
    if has_clusters:
        table.add_column("clusters", overflow="fold")
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
            *([_clusters(entry.clusters or {})] if has_clusters else []),
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
