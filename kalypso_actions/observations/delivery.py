"""How well changes reach clusters: figures by the definitions of DORA, each with its number.

A deployment is a desired period of an environment, an application or a cluster type that a cluster
reached: a merge that changed manifests. One commit of a GitOps branch is one deployment, however
many targets it changes.

https://dora.dev/guides/dora-metrics-four-keys/
"""

from __future__ import annotations

import itertools
import math
import statistics
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any, Final, Literal, NamedTuple

from kalypso_actions.observations.projection import OUTCOME_UNTIL, Database
from kalypso_actions.observations.questions import NEWEST_PROMOTION, at_second, seconds_of

DeploymentKind = Literal["promotion", "configuration", "correction", "rollback"]

FEWEST: Final = 5
"""Fewer values are listed instead of a median."""

WEEK: Final = timedelta(days=7)

WINDOW: Final = timedelta(days=90)
"""The time that figures are of, unless another one is asked for."""


@dataclass(frozen=True, slots=True)
class Scope:
    """What figures are about: an environment, or a part of it."""

    environment: str
    kind: Literal["environment", "application", "cluster-type"]
    name: str


class Promoted(NamedTuple):
    """A commit of main in an environment; times are in seconds since 1970."""

    environment: str
    commit: str
    position: int
    merged_by: str
    state: str
    subject: str
    author: str
    committed_at: int | None
    proposed_at: int | None
    merged_at: int | None
    started_at: int | None
    deployed_at: int | None
    failed_at: int | None


class ReachedDeployment(NamedTuple):
    """A commit of a GitOps branch that clusters reached; times are in seconds since 1970.

    `failed_at` is when a cluster first failed with it, `well_at` when the last cluster came to be
    well with it; `ended_well` says whether all that reached it were well with it at last.
    """

    commit: str
    source_commit: str
    kind: DeploymentKind
    since: int
    failed_at: int | None
    well_at: int | None
    ended_well: bool


@dataclass(frozen=True, slots=True)
class Figure:
    """Seconds of several cases: fewer than five are listed, more have a median and a percentile."""

    n: int = 0
    values: tuple[int, ...] = ()
    median: int | None = None
    p90: int | None = None

    @classmethod
    def of(cls, seconds: Iterable[float]) -> Figure:
        """Return the figure of values, which are not negative."""
        values = sorted(max(0, int(each)) for each in seconds)
        if len(values) < FEWEST:
            return cls(len(values), tuple(values))
        return cls(len(values), (), *_median_and_p90(values))

    @property
    def median_and_p90(self) -> tuple[int | None, int | None]:
        """The median and the 90th percentile, also of few values; None of no value."""
        return _median_and_p90(self.values) if self.values else (self.median, self.p90)


def _median_and_p90(values: Sequence[int]) -> tuple[int, int]:
    several = values if len(values) > 1 else (*values, *values)
    p90 = statistics.quantiles(several, n=10, method="inclusive")[-1]
    return int(statistics.median(values)), int(p90)


@dataclass(frozen=True, slots=True)
class Share:
    """A part of a number; `share` is None for a part of nothing."""

    part: int = 0
    n: int = 0

    @property
    def share(self) -> float | None:
        """The part of one, rounded."""
        return round(self.part / self.n, 4) if self.n else None


_Reached = tuple[str, int, int | None, int | None, int]
"""The commit of main, and when, as in `ReachedDeployment`."""

KINDS: Final = ("environment", "application", "cluster-type")

Case = tuple[int, int]
"""When it ended, in seconds since 1970, and how many seconds it took."""


@dataclass(frozen=True, slots=True)
class Cases:
    """What figures are made of, the newest of each, the oldest first.

    `deployments` have when they began, and whether a cluster failed with them; `waits` have a
    commit of main, and the seconds that it waited for each of `WAITS`, 0 for what is not known.
    `left_out` are the numbers of older ones, by name.
    """

    leads: Sequence[Case] = ()
    recoveries: Sequence[Case] = ()
    deployments: Sequence[tuple[int, bool]] = ()
    waits: Sequence[tuple[str, int, int, int, int]] = ()
    left_out: Mapping[str, int] = field(default_factory=dict)


WAITS: Final = ("people", "clusters", "environment", "runs")

MOST_CASES: Final = 500


@dataclass(frozen=True, slots=True)
class Figures:
    """The figures of a scope; None for what the record does not say.

    Lead times and waits are those of commits of main, so parts of an environment have none.
    `recovered_by_clusters` says whether recovery is that of clusters, or of the commits' states.
    `skewed` are lead times that a wrong clock made negative; they count as zero.
    """

    scope: Scope
    deployments: Mapping[DeploymentKind, int]
    ended_well: int
    per_week: float | None
    lead_time: Figure | None
    change_failures: Share
    failed_deployments: Share
    recovery: Figure
    recovered_by_clusters: bool
    rework: Share
    waits: Mapping[str, Figure] = field(default_factory=dict)
    skewed: int = 0
    cases: Cases = Cases()


PROMOTED: Final = """
select e.name, m.commit_id, m.position, m.merged_by, m.state, m.subject, m.author,
    m.committed_at, m.proposed_at, m.merged_at, m.started_at, m.deployed_at, m.failed_at
from ({newest}) m
join environment e on e.id = m.environment
where m.nth = 1
order by e.position, e.name, m.position
"""

REACHED: Final = """
select e.name, a.name, t.name, d.commit_id, coalesce(v.source_commit, ''), d.from_, o.failed_at,
    o.well_at, o.ended_well
from ({outcome}) o
join desired d on d.id = o.desired and d.from_ <= ? and d.from_ >= ?
join target t on t.id = d.target {only}
join environment e on e.id = t.environment
left join workload w on w.id = t.workload
left join application a on a.id = w.application
left join version v on v.id = d.version
order by d.from_, d.nth, d.number, d.commit_id
"""
"""A row has no application where the folder is one of the platform's."""


def window_before(at: datetime) -> datetime:
    """Return when the time of figures begins, unless another one is asked for."""
    return max(at, datetime.min.replace(tzinfo=UTC) + WINDOW) - WINDOW


def recorded_since(database: Database) -> datetime | None:
    """Return when the record begins; None for an empty one."""
    first: int | None = database.rows("select min(at) from observation")[0][0]
    return at_second(first)


def promoted(database: Database, at: float = math.inf) -> Mapping[str, list[Promoted]]:
    """Return the commits of main by environment, in the order of the chain and of main.

    They are not yet deployed or failed where that was after `at`.
    """
    found: dict[str, list[Promoted]] = {}
    for *known, deployed, failed in database.rows(PROMOTED.format(newest=NEWEST_PROMOTION)):
        ends = (None if time is None or time > at else time for time in (deployed, failed))
        found.setdefault(known[0], []).append(Promoted(*known, *ends))
    return found


def figures(
    database: Database, at: datetime, since: datetime | None = None, *, parts: bool = True
) -> list[Figures]:
    """Return the figures of each environment, the last one of the chain first, then of its parts.

    Deployments begin between `since`, by default 90 days before, and `at`. Without `parts`, there
    are no figures of applications and cluster types.
    """
    recorded = recorded_since(database)
    if recorded is None:
        return []
    first = window_before(at)
    since = since or (first if recorded < first else None)
    begin = max(since, recorded) if since else recorded
    commits = promoted(database, at.timestamp())
    deployments = _deployments(database, at, since, parts=parts)
    names = [
        row[0]
        for row in database.rows(
            "select name from environment where position is not null order by position desc, name"
        )
    ]
    order = {name: n for n, name in enumerate(names)}
    window = begin.timestamp(), at.timestamp()
    scopes = {(name, 0, name) for name in names} | deployments.keys()
    return [
        _figures(Scope(key[0], KINDS[key[1]], key[2]), deployments.get(key, ()), commits, window)
        for key in sorted(scopes, key=lambda key: (order.get(key[0], len(order)), *key[1:]))
    ]


def _deployments(
    database: Database, at: datetime, since: datetime | None, *, parts: bool
) -> Mapping[tuple[str, int, str], list[ReachedDeployment]]:
    """Return the deployments by environment, kind and name, the oldest first."""
    merged: dict[tuple[str, int, str], dict[str, _Reached]] = {}
    moment, first = seconds_of(at), seconds_of(since) if since else 0
    only = "" if parts else "and t.workload is null"
    statement = REACHED.format(outcome=OUTCOME_UNTIL, only=only)
    given = moment, moment, moment, moment, first
    for environment, application, target, commit, *reached in database.rows(statement, *given):
        if application is not None:
            scopes = [(environment, 1, application)]
        else:
            scopes = [(environment, 0, environment)]
            scopes += [(environment, 2, target)] * bool(parts and target)
        for scope in scopes:
            commits = merged.setdefault(scope, {})
            known = commits.get(commit)
            commits[commit] = _joined(known, *reached) if known else tuple(reached)
    return {scope: list(_with_kinds(commits)) for scope, commits in merged.items()}


def _joined(first: _Reached, *later: Any) -> _Reached:
    """Return what is true of two targets that one commit changed."""
    failed = min(filter(None, (first[2], later[2])), default=None)
    well = max(filter(None, (first[3], later[3])), default=None)
    return first[0], first[1], failed, well, min(first[4], later[4])


def _with_kinds(commits: Mapping[str, _Reached]) -> Iterator[ReachedDeployment]:
    """Yield the deployments of a scope; what each is follows from those before."""
    seen: set[str] = set()
    before: ReachedDeployment | None = None
    for commit, (source, since, failed, well, ended) in commits.items():
        kind: DeploymentKind = "promotion"
        if before and source == before.source_commit:
            kind = "correction" if before.failed_at else "configuration"
        elif source in seen:
            kind = "rollback"
        ended_well = bool(ended) and well is not None
        before = ReachedDeployment(commit, source, kind, since, failed, well, ended_well)
        seen.add(source)
        yield before


def _figures(
    scope: Scope,
    deployments: Sequence[ReachedDeployment],
    commits: Mapping[str, Sequence[Promoted]],
    window: tuple[float, float],
) -> Figures:
    is_environment = scope.kind == "environment"
    begin, at = window
    of_main = commits.get(scope.environment, ()) if is_environment else ()
    arrived = sorted(
        (each for each in of_main if each.deployed_at and begin <= each.deployed_at),
        key=lambda each: each.deployed_at or 0,
    )
    leads = list(_lead_times(arrived, of_main))
    waits = list(_waits(scope.environment, arrived, commits)) if is_environment else []
    kinds: dict[DeploymentKind, int] = {}
    for each in deployments:
        kinds[each.kind] = kinds.get(each.kind, 0) + 1
    well = sum(each.ended_well for each in deployments)
    weeks = timedelta(seconds=at - begin) / WEEK
    rework = kinds.get("correction", 0) + kinds.get("rollback", 0)
    recovery = list(_recoveries(deployments))
    by_clusters = bool(deployments)
    if not by_clusters:
        recovery = list(_recoveries_of_commits(of_main))
    return Figures(
        scope,
        kinds,
        well,
        round(well / weeks, 2) if deployments and weeks > 0 else None,
        Figure.of(seconds for _, seconds in leads) if is_environment else None,
        _change_failures(deployments, of_main, begin),
        Share(sum(bool(each.failed_at) for each in deployments), len(deployments)),
        Figure.of(seconds for _, seconds in recovery),
        by_clusters,
        Share(rework, len(deployments)),
        _wait_figures(waits) if is_environment else {},
        sum(seconds < 0 for _, seconds in leads),
        _cases(leads, recovery, deployments, waits),
    )


def _cases(
    leads: Sequence[Case],
    recoveries: Sequence[Case],
    deployments: Sequence[ReachedDeployment],
    waits: Sequence[tuple[str, Mapping[str, int]]],
) -> Cases:
    every: dict[str, Sequence[Any]] = {
        "leads": [(at, max(0, seconds)) for at, seconds in leads],
        "recoveries": recoveries,
        "deployments": [(each.since, bool(each.failed_at)) for each in deployments],
        "waits": [(commit, *(parts.get(name, 0) for name in WAITS)) for commit, parts in waits],
    }
    more = {name: len(cases) - MOST_CASES for name, cases in every.items()}
    return Cases(
        **{name: cases[-MOST_CASES:] for name, cases in every.items()},
        left_out={name: number for name, number in more.items() if number > 0},
    )


def _lead_times(arrived: Sequence[Promoted], of_main: Sequence[Promoted]) -> Iterator[Case]:
    """Yield when each commit of main was first deployed, and the seconds from the commit to then.

    The first recorded deployment counts its own commit alone: what it carried besides may be years
    old. Commits of an interrupted promotion count with the one that arrived.
    """
    positions = [each.position for each in of_main]  # in order
    top: int | None = None
    for each in arrived:
        first = each.position if top is None else top + 1
        carried = bisect_left(positions, first), bisect_right(positions, each.position)
        for commit in of_main[slice(*carried)]:
            if commit.committed_at and each.deployed_at:
                yield each.deployed_at, each.deployed_at - commit.committed_at
        top = max(each.position, top or 0)


def _change_failures(
    deployments: Sequence[ReachedDeployment],
    of_main: Sequence[Promoted],
    begin: float,
) -> Share:
    """Return the commits that failed, or were rolled back or corrected, of all that arrived.

    A commit counts once.
    """
    arrived = {each.source_commit for each in deployments if each.source_commit}
    failed = {each.source_commit for each in deployments if each.failed_at and each.source_commit}
    for before, after in itertools.pairwise(deployments):
        if after.kind in {"rollback", "correction"} and before.source_commit:
            failed.add(before.source_commit)
    for each in of_main:
        if begin <= max(each.deployed_at or 0, each.failed_at or 0):
            arrived.add(each.commit)
            if each.failed_at or each.state == "rolled back":
                failed.add(each.commit)
    return Share(len(failed & arrived), len(arrived))


def _recoveries(deployments: Sequence[ReachedDeployment]) -> Iterator[Case]:
    """Yield the end and the seconds from the first failing cluster until all are well.

    They are well with a later deployment.
    """
    failing: int | None = None
    for each in deployments:
        if failing and each.ended_well and each.well_at and each.well_at >= failing:
            yield each.well_at, each.well_at - failing
            failing = None
        if not failing and each.failed_at and not each.ended_well:
            failing = each.failed_at


def _recoveries_of_commits(of_main: Sequence[Promoted]) -> Iterator[Case]:
    """Yield the end and the seconds from a failed commit until a commit is deployed.

    This is the recovery without data of clusters.
    """
    for each in of_main:
        if each.failed_at:
            later = [
                other.deployed_at
                for other in of_main
                if other.deployed_at and other.deployed_at > each.failed_at
            ]
            if later:
                yield min(later), min(later) - each.failed_at


def _waits(
    environment: str, arrived: Sequence[Promoted], commits: Mapping[str, Sequence[Promoted]]
) -> Iterator[tuple[str, Mapping[str, int]]]:
    """Yield the seconds that each commit waited for what is known of `WAITS`."""
    names = list(commits)
    place = names.index(environment) if environment in names else 0
    before = {each.commit: each for each in commits[names[place - 1]]} if place else {}
    for each in arrived:
        earlier = before.get(each.commit)
        spans = {
            "people": (each.proposed_at, each.merged_at),
            "clusters": (each.merged_at, each.deployed_at),
            "environment": (earlier.deployed_at if earlier else None, each.started_at),
        }
        parts = {name: max(0, end - start) for name, (start, end) in spans.items() if start and end}
        begun = earlier.deployed_at if earlier else each.committed_at if not before else None
        if begun and each.deployed_at and each.proposed_at and each.merged_at:
            parts["runs"] = max(0, each.deployed_at - begun - sum(parts.values()))
        yield each.commit, parts


def _wait_figures(waits: Sequence[tuple[str, Mapping[str, int]]]) -> Mapping[str, Figure]:
    return {name: Figure.of(parts[name] for _, parts in waits if name in parts) for name in WAITS}
