"""The output of `kalypso delivery`: how well changes reach clusters."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import datetime, timedelta

from pydantic import Field
from rich.console import Console

from kalypso_actions.report.documents import OutputDocument, ProblemEntry
from kalypso_actions.report.escaping import escape_log_line
from kalypso_actions.report.terminal import print_line, print_table


class FigureEntry(OutputDocument):
    """Seconds of `n` cases: `values` has them all if they are fewer than five."""

    n: int
    values: tuple[int, ...] = ()
    median: int | None = None
    p90: int | None = None


class ShareEntry(OutputDocument):
    """A `part` of `n`; `share` is null if n is 0."""

    part: int
    n: int
    share: float | None


class DeliveryEntry(OutputDocument):
    """The figures of an environment, or of an application or a cluster type in it (`kind`).

    `deployments` has the number of each kind, and `ended_well` how many ended well. `per_week`
    counts the latter. Null stands for what the record does not say. `recovered_by_clusters` is
    false if recovery is known by the states of commits alone. `skewed` lead times were negative by
    wrong clocks, and count as zero.
    """

    environment: str
    kind: str
    name: str
    deployments: Mapping[str, int]
    ended_well: int
    per_week: float | None
    lead_time: FigureEntry | None
    change_failures: ShareEntry
    failed_deployments: ShareEntry
    recovery: FigureEntry
    recovered_by_clusters: bool
    rework: ShareEntry
    waits: Mapping[str, FigureEntry]
    skewed: int


class DeliveredCommitEntry(OutputDocument):
    """A commit of main in an environment, and when it came how far."""

    environment: str
    commit: str
    subject: str
    author: str
    state: str
    committed_at: datetime | None
    started_at: datetime | None
    proposed_at: datetime | None
    merged_at: datetime | None
    merged_by: str
    deployed_at: datetime | None
    failed_at: datetime | None


class DeliveryDocument(OutputDocument):
    """The output of `kalypso delivery --output json`.

    The record exists since `recorded_since`; the figures are of the time from `since` to `at`.
    With `--commit`, `commits` has its way through the environments instead of figures.
    """

    schema_name: str = Field("kalypso.delivery/v1", alias="schema")
    record: str = ""
    recorded_since: datetime | None = None
    since: datetime | None = None
    at: datetime | None = None
    entries: tuple[DeliveryEntry, ...] = ()
    commits: tuple[DeliveredCommitEntry, ...] = ()
    problems: tuple[ProblemEntry, ...] = ()


WEEK = timedelta(days=7)

HEADINGS = ("environment", "of", "figure", "value", "n")
COMMIT_HEADINGS = ("environment", "commit", "state", "taken up", "proposed", "merged", "deployed")


def print_delivery(console: Console, document: DeliveryDocument) -> None:
    """Print the figures of each environment, or the way of a commit."""
    if document.commits:
        rows = [
            (
                entry.environment,
                entry.commit[:7],
                entry.state or "–",
                *map(
                    _time,
                    (entry.started_at, entry.proposed_at, entry.merged_at, entry.deployed_at),
                ),
            )
            for entry in document.commits
        ]
        print_table(console, COMMIT_HEADINGS, rows)
        return
    window = document.at - document.since if document.at and document.since else WEEK
    rows = [
        (entry.environment, escape_log_line(entry.name), *line)
        for entry in document.entries
        for line in _lines(entry, window)
    ]
    if rows:
        print_table(console, HEADINGS, rows)
    since, until = _time(document.since), _time(document.at)
    print_line(
        console, f"from {since} to {until}; the record begins {_time(document.recorded_since)}"
    )


def _lines(entry: DeliveryEntry, window: timedelta) -> Iterator[tuple[str, str, str]]:
    kinds = ", ".join(f"{kind} {number}" for kind, number in entry.deployments.items())
    number = sum(entry.deployments.values())
    yield "deployments", kinds or "none", str(number)
    well = str(entry.ended_well)
    if entry.per_week is not None and window >= WEEK:
        yield "ended well, per week", f"{entry.per_week:g}", well
    elif entry.per_week is not None:  # an afternoon says nothing of a week
        yield "ended well", f"{well} in {_span(int(window.total_seconds()))}", well
    if entry.lead_time is not None:
        yield "lead time", _figure(entry.lead_time), str(entry.lead_time.n)
    yield "failed commits", _share(entry.change_failures), str(entry.change_failures.n)
    yield "failed deployments", _share(entry.failed_deployments), str(entry.failed_deployments.n)
    by = "" if entry.recovered_by_clusters else " (by commits)"
    yield f"recovery{by}", _figure(entry.recovery), str(entry.recovery.n)
    yield "corrections and rollbacks", _share(entry.rework), str(entry.rework.n)
    for name, figure in entry.waits.items():
        yield f"waited for {name}", _figure(figure), str(figure.n)


def _figure(figure: FigureEntry) -> str:
    if figure.median is not None and figure.p90 is not None:
        return f"median {_span(figure.median)}, 90% within {_span(figure.p90)}"
    return ", ".join(map(_span, figure.values)) or "not known"


def _share(share: ShareEntry) -> str:
    if share.share is None:
        return "not known"
    return f"{share.share:.0%} ({share.part} of {share.n})"


def _span(seconds: int) -> str:
    span = timedelta(seconds=seconds)
    if span < timedelta(minutes=2):
        return f"{seconds} s"
    if span < timedelta(hours=2):
        return f"{seconds / 60:.0f} min"
    if span < timedelta(days=2):
        return f"{seconds / 3600:.1f} h"
    return f"{seconds / 86400:.1f} d"


def _time(time: datetime | None) -> str:
    return f"{time:%Y-%m-%d %H:%M} UTC" if time else "–"
