"""What the page of `kalypso report` draws from the record: the past, in figures of its own.

Times are in seconds since 1970 in UTC, for the many of a timeline take little room so.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

from pydantic import Field

from kalypso_actions.report.delivery_document import DeliveryEntry
from kalypso_actions.report.documents import OutputDocument
from kalypso_actions.report.drift_document import DriftEntry

StateText = Literal["well", "progressing", "unknown", "failing", "none"]


class TimelineEntry(OutputDocument):
    """A row: the worst states of a cluster type's clusters, or those of one `cluster`.

    A segment has its begin, the state, and the index in `wanted` of the commit of the GitOps branch
    whose content was wanted, -1 for none. It lasts until the next one, the last one until the look.
    """

    environment: str
    cluster_type: str
    cluster: str = ""
    wanted: tuple[str, ...] = ()
    segments: tuple[tuple[int, StateText, int], ...] = ()


class DeploymentEntry(OutputDocument):
    """A commit of a GitOps branch that changed manifests, and how many clusters took it up."""

    environment: str
    commit: str
    url: str = ""
    at: int
    state: Literal["well", "failed", "open"]
    well: int
    clusters: int


class VersionPeriodEntry(OutputDocument):
    """What a target should run from a time on; `until` is null for the present.

    `clusters` has by cluster type how many ended with success, with a failure, and otherwise.
    """

    version: str
    commit: str
    source_commit: str = ""
    start: int
    until: int | None = None
    clusters: dict[str, tuple[int, int, int]] = Field(default_factory=dict)


class TargetHistoryEntry(OutputDocument):
    """The newest periods of a target in an environment, the newest first."""

    environment: str
    target: str
    periods: tuple[VersionPeriodEntry, ...] = ()


class RunEntry(OutputDocument):
    """How many clusters of a type have a version of a target now."""

    environment: str
    target: str
    cluster_type: str
    version: str
    state: StateText
    clusters: int


class DeliveryCasesEntry(OutputDocument):
    """The cases of an environment's figures of delivery: times in seconds since 1970, and seconds.

    `deployments` have when they began, and whether a cluster failed; `waits` have a commit of main,
    and how long it waited for people, clusters, the environment before, and runs (0: not known).
    `left_out` are the numbers of older ones: a table has at most 500, the newest.
    """

    environment: str
    leads: tuple[tuple[int, int], ...] = ()
    recoveries: tuple[tuple[int, int], ...] = ()
    deployments: tuple[tuple[int, bool], ...] = ()
    waits: tuple[tuple[str, int, int, int, int], ...] = ()
    left_out: dict[str, int] = Field(default_factory=dict)


class ObservedDocument(OutputDocument):
    """The record's part of report.json; `looked_at` is 0 before the first look.

    `clusters_left_out` is the number of clusters if the timelines have cluster types alone.
    """

    record: str = ""
    start: int = 0
    end: int = 0
    since: int = 0
    looked_at: int = 0
    clusters_left_out: int = 0
    drift: tuple[DriftEntry, ...] = ()
    delivery: tuple[DeliveryEntry, ...] = ()
    cases: tuple[DeliveryCasesEntry, ...] = ()
    timelines: tuple[TimelineEntry, ...] = ()
    deployments: tuple[DeploymentEntry, ...] = ()
    histories: tuple[TargetHistoryEntry, ...] = ()
    runs: tuple[RunEntry, ...] = ()

    @property
    def left_out(self) -> Iterator[str]:
        """What the drawings of delivery leave out, in words."""
        for each in self.cases:
            if each.left_out:
                names = ", ".join(f"{number} {name}" for name, number in each.left_out.items())
                yield f"{each.environment}: older cases of delivery are not drawn: {names}"
