"""What happened between two records: each event once, for whoever is told.

began-failing   a cluster's configuration has failed since
recovered       it is well after a failure
behind          it lacks a change of what it should run for longer than `Thresholds.behind`
off             it runs a content that its branch does not have
gone, returned  its cluster is no longer reported; it is reported after it was gone
edited-by-hand  a commit changed manifests in a platform's branch, and was no merge of Kalypso's
waiting         a commit has waited for people for longer than `Thresholds.wait`
deployed        the clusters comply with a commit

The recorder whose push wins tells them. A run that ends between its push and the message tells
nobody: an event is told at most once.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Final, Literal, NamedTuple, get_args

from kalypso_actions.model.cluster_reports import cluster_name
from kalypso_actions.observations.desired import behind_since, clusters_behind
from kalypso_actions.observations.real import is_failing
from kalypso_actions.observations.record import (
    DesiredLine,
    ObservationRecord,
    PromotionLine,
    RealLine,
)

EventKind = Literal[
    "began-failing",
    "off",
    "gone",
    "edited-by-hand",
    "behind",
    "waiting",
    "recovered",
    "returned",
    "deployed",
]
KINDS: Final[tuple[EventKind, ...]] = get_args(EventKind)
"""From the worst to the best."""

MOST_EVENTS: Final = 200
"""The events of one output: an event has about 1 kB, and the outputs of a job at most 1 MB."""

WAITS: Final = frozenset({"held", "waiting", "proposed"})
"""The states in which a commit waits for people."""


class Thresholds(NamedTuple):
    """How long a cluster may be behind, and a commit may wait, before they are told."""

    behind: timedelta = timedelta(hours=1)
    wait: timedelta = timedelta(hours=24)


class Event(NamedTuple):
    """What happened to a cluster's configuration, to a commit or to a branch, and when.

    `target` is the name of an application's target, or of a cluster type; `version` and `commit`
    are those that it should run. `link` is a page on GitHub, "" for none.
    """

    kind: EventKind
    environment: str
    at: datetime
    cluster_type: str = ""
    cluster: str = ""
    configuration: str = ""
    target: str = ""
    workload: str = ""
    version: str = ""
    commit: str = ""
    reason: str = ""
    link: str = ""

    @property
    def cluster_name(self) -> str:
        """The last part of the cluster's id."""
        return cluster_name(self.cluster)


def bounded(events: Sequence[Event]) -> tuple[tuple[Event, ...], Mapping[str, int]]:
    """Return the worst events, and the numbers of the others by kind."""
    ordered = sorted(events, key=lambda event: KINDS.index(event.kind))
    more: dict[str, int] = {}
    for event in ordered[MOST_EVENTS:]:
        more[event.kind] = more.get(event.kind, 0) + 1
    return tuple(ordered[:MOST_EVENTS]), more


def events_between(
    before: ObservationRecord, after: ObservationRecord, thresholds: Thresholds
) -> Iterator[Event]:
    """Yield what happened between a record and the next one; nothing before the first look."""
    names = dict.fromkeys(each.name for each in after.environments)
    for environment in {**names, **dict.fromkeys(after.promotions)}:
        yield from _promotion_events(before, after, environment)
        look, last = after.last_look(environment), before.last_look(environment)
        if look and last and look != last:
            yield from _branch_events(before, after, environment, look.at)
            yield from _cluster_events(before, after, environment)
            yield from due(after, environment, last.at, look.at, thresholds)
            yield from _fallen_behind(before, after, environment, last.at, thresholds)


def due(
    record: ObservationRecord,
    environment: str,
    last: datetime,
    now: datetime,
    thresholds: Thresholds,
) -> Iterator[Event]:
    """Yield what has lasted too long since a moment after the `last` look, until `now`."""

    def is_due(since: datetime, most: timedelta) -> bool:
        return last < since + most <= now

    for cluster_type, line, periods in clusters_behind(record, environment):
        begun = behind_since(line.content, periods)
        if is_due(begun, thresholds.behind):
            yield _of_cluster("behind", environment, cluster_type, line, periods[-1], begun)
    for promotion in record.promotions.get(environment, ()):
        since = waiting_since(promotion)
        if since and is_due(since, thresholds.wait):
            yield _of_promotion("waiting", record, environment, promotion, since)


def waiting_since(line: PromotionLine) -> datetime | None:
    """Return since when a commit has waited for people; None if it does not."""
    if line.proposed_at and not line.merged_at and not line.deployed_at:
        return line.proposed_at
    return line.at if line.state in WAITS else None


def _fallen_behind(
    before: ObservationRecord,
    after: ObservationRecord,
    environment: str,
    last: datetime,
    thresholds: Thresholds,
) -> Iterator[Event]:
    """Yield the clusters that went back, after the threshold, to what they ran earlier."""
    old = {(cluster_type, line.key): line for cluster_type, line in _real(before, environment)}
    for cluster_type, line, periods in clusters_behind(after, environment):
        known = old.get((cluster_type, line.key))
        has_fallen = known and known.relation == "current" and line.content != known.content
        is_past = behind_since(line.content, periods) + thresholds.behind <= last
        if has_fallen and is_past:  # else `due` yields it
            yield _of_cluster("behind", environment, cluster_type, line, periods[-1], line.since)


def _cluster_events(
    before: ObservationRecord, after: ObservationRecord, environment: str
) -> Iterator[Event]:
    old = {(cluster_type, line.key): line for cluster_type, line in _real(before, environment)}
    wanted = {line.followed: line for line in after.desired.get(environment, ())}
    for cluster_type, line in _real(after, environment):
        known = old.get((cluster_type, line.key))
        for kind in _kinds(known, line):
            desired = wanted.get(line.target or cluster_type)
            yield _of_cluster(kind, environment, cluster_type, line, desired, line.since)


def _kinds(known: RealLine | None, line: RealLine) -> Iterator[EventKind]:
    was = known.status if known else ""
    was_failing = known is not None and is_failing(known)
    if line.status == "gone":
        if known and was != "gone":
            yield "gone"
        return
    if was == "gone":
        yield "returned"
    if line.status == "failure" and not was_failing:
        yield "began-failing"
    if was_failing and line.status == "success":
        yield "recovered"
    if line.relation == "off" and (known is None or was == "gone" or known.relation != "off"):
        yield "off"


def _branch_events(
    before: ObservationRecord, after: ObservationRecord, environment: str, at: datetime
) -> Iterator[Event]:
    tables = [
        {
            (line.target, line.number): line
            for table in (record.desired, record.desired_before)
            for line in table.get(environment, ())
            if line.edited
        }
        for record in (before, after)
    ]
    for key in tables[1].keys() - tables[0].keys():
        line = tables[1][key]
        yield Event(
            "edited-by-hand",
            environment,
            min(line.since, at),
            cluster_type=line.name,
            target=line.name,
            commit=line.commit,
            link=commit_link(line.repository, line.commit),
        )


def _promotion_events(
    before: ObservationRecord, after: ObservationRecord, environment: str
) -> Iterator[Event]:
    if environment not in before.promotions:
        return  # what the first look finds has happened long ago
    old = {line.commit: line for line in before.promotions[environment]}
    for line in after.promotions.get(environment, ()):
        known = old.get(line.commit)
        if line.deployed_at and not (known and known.deployed_at):
            yield _of_promotion("deployed", after, environment, line, line.deployed_at)


def _of_cluster(
    kind: EventKind,
    environment: str,
    cluster_type: str,
    line: RealLine,
    desired: DesiredLine | None,
    at: datetime,
) -> Event:
    return Event(
        kind,
        environment,
        at,
        cluster_type=cluster_type,
        cluster=line.cluster,
        configuration=line.configuration,
        target=desired.name if desired else line.target or cluster_type,
        workload=desired.workload if desired else "",
        version=desired.version if desired else "",
        commit=desired.commit if desired else line.commit,
        reason=line.reason,
        link=commit_link(desired.repository, desired.commit) if desired else "",
    )


def _of_promotion(
    kind: EventKind,
    record: ObservationRecord,
    environment: str,
    line: PromotionLine,
    at: datetime,
) -> Event:
    places = (each.repository for each in record.environments if each.name == environment)
    return Event(
        kind,
        environment,
        at,
        commit=line.commit,
        reason=line.description,
        link=line.pull_request or commit_link(next(places, ""), line.commit),
    )


def commit_link(repository: str, commit: str) -> str:
    """Return the page of a commit; "" for a repository without pages."""
    is_url = repository.startswith(("https://", "http://"))
    return f"{repository.removesuffix('.git')}/commit/{commit}" if is_url and commit else ""


def _real(record: ObservationRecord, environment: str) -> Iterator[tuple[str, RealLine]]:
    for (name, cluster_type), lines in record.real.items():
        if name == environment:
            for line in lines:
                yield cluster_type, line
