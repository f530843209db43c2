"""What a page draws of a fleet's past: states over time, deployments, and versions by target.

rows = timelines(database, DrawnTime(start, end), with_clusters=True)

Times are in seconds since 1970 in UTC, as in the tables. A state lasts until the next segment.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby, pairwise
from operator import itemgetter
from typing import Any, Final, Literal, NamedTuple, get_args

from kalypso_actions.observations.projection import Database

State = Literal["well", "progressing", "unknown", "failing", "none"]
STATES: Final[tuple[State, ...]] = get_args(State)
"""From good to bad; `none` is a time without a report."""

MOST_SEGMENTS: Final = 300
"""Of a row; a longer one becomes coarser, and shows the worst state of each step."""

MOST_OF_CLUSTER: Final = 60
MOST_DEPLOYMENTS: Final = 20
MOST_PERIODS: Final = 20
"""Of an environment, and of a target."""


class DrawnTime(NamedTuple):
    """The time that is drawn."""

    start: int
    end: int


class StateSegment(NamedTuple):
    """A state from a time on, and the number of what was wanted then among the row's `wanted`."""

    start: int
    state: State
    wanted: int


class TimelineRow(NamedTuple):
    """The states of a cluster, or the worst ones of all clusters of a type if `cluster` is "".

    `wanted` are the commits of the GitOps branch whose content the cluster type's folder should
    have, in order; -1 in a segment stands for nothing.
    """

    environment: str
    cluster_type: str
    cluster: str
    wanted: tuple[str, ...]
    segments: tuple[StateSegment, ...]


class _Period(NamedTuple):
    """A period of a reconciler with the names of its cluster."""

    environment: str
    cluster_type: str
    cluster: str
    follows: str
    content: str
    status: str
    relation: str
    start: int
    until: int | None


_PERIODS: Final = """
select e.name, r.cluster_type, c.name, r.follows, p.content, p.status, p.relation, p.from_, p.until
from period p
join reconciler r on r.id = p.reconciler
join cluster c on c.id = r.cluster
join environment e on e.id = r.environment
where p.from_ < ? and (p.until is null or p.until > ?)
order by e.position, e.name, r.cluster_type, c.key, r.name, r.follows, p.number
"""
_DESIRED: Final = """
select e.name, t.follows, d.content, d.commit_id, d.from_, d.until
from desired d
join target t on t.id = d.target
join environment e on e.id = t.environment
where d.from_ < ? and (d.until is null or d.until > ?)
order by d.target, d.number
"""


class _Wanted(NamedTuple):
    content: str
    commit: str
    start: int
    until: int | None


def timelines(database: Database, window: DrawnTime, *, with_clusters: bool) -> list[TimelineRow]:
    """Return a row for each cluster type, in the order of the chain, each before its clusters'."""
    wanted = _wanted(database, window)
    rows: list[TimelineRow] = []
    periods = (_Period(*row) for row in database.rows(_PERIODS, window.end, window.start))
    for (environment, cluster_type), of_type in groupby(periods, itemgetter(0, 1)):
        desired = wanted.get((environment, cluster_type), ())
        changes: list[_Change] = []
        of_clusters = []
        for cluster, its in groupby(of_type, itemgetter(2)):
            own = list(_changes(its, wanted, window))
            changes += own
            if with_clusters:
                segments = _segments(own, desired, window, MOST_OF_CLUSTER)
                of_clusters.append((cluster, segments))
        names = [("", _segments(changes, desired, window, MOST_SEGMENTS)), *of_clusters]
        commits = tuple(each.commit for each in desired)
        rows += (
            TimelineRow(environment, cluster_type, cluster, commits, segments)
            for cluster, segments in names
        )
    return rows


def _wanted(database: Database, window: DrawnTime) -> dict[tuple[str, str], list[_Wanted]]:
    """Return what each target should have in the window, by what reconcilers follow."""
    wanted: dict[tuple[str, str], list[_Wanted]] = {}
    for environment, follows, *rest in database.rows(_DESIRED, window.end, window.start):
        wanted.setdefault((environment, follows), []).append(_Wanted(*rest))
    return wanted


class _Change(NamedTuple):
    """A state that begins (1) or ends (-1) at a time."""

    at: int
    state: State
    by: int


def _changes(
    periods: Iterable[_Period], wanted: dict[tuple[str, str], list[_Wanted]], window: DrawnTime
) -> Iterator[_Change]:
    """Yield how the states of a cluster's reconcilers change."""
    for period in periods:
        start, until = max(period.start, window.start), min(period.until or window.end, window.end)
        bounds = {start, until}
        its = wanted.get((period.environment, period.follows), ())
        if period.status == "success":
            bounds |= {each.start for each in its if start < each.start < until}
        is_known = period.relation != "unknown" or any(
            each.content == period.content for each in its
        )
        for begin, end in pairwise(sorted(bounds)):
            now = next((each.content for each in reversed(its) if each.start <= begin), "")
            state = _state(period.status, is_known=is_known, is_wanted=now in {"", period.content})
            yield _Change(begin, state, 1)
            yield _Change(end, state, -1)


def _state(status: str, *, is_known: bool, is_wanted: bool) -> State:
    """Return a state by a status, and whether the content is a known one and the wanted one."""
    if status == "failure":
        return "failing"
    if status in {"suspended", "unreachable"} or not is_known:
        return "unknown"
    return "well" if status == "success" and is_wanted else "progressing"


def _segments(
    changes: Iterable[_Change], wanted: Sequence[_Wanted], window: DrawnTime, most: int
) -> tuple[StateSegment, ...]:
    """Return the worst state at each time, with what was wanted, in at most `most` segments."""
    events: dict[int, list[tuple[State, int]]] = {window.start: []}
    for at, state, by in changes:
        events.setdefault(at, []).append((state, by))
    for each in wanted:
        events.setdefault(max(each.start, window.start), [])
    counts = dict.fromkeys(STATES[:-1], 0)
    segments: list[StateSegment] = []
    number = -1
    for at in sorted(each for each in events if each < window.end):
        for state, by in events[at]:
            counts[state] += by
        while number + 1 < len(wanted) and wanted[number + 1].start <= at:
            number += 1
        worst: State = next((each for each in reversed(counts) if counts[each]), "none")
        is_wanted = number >= 0 and wanted[number].content
        segments.append(StateSegment(at, worst, number if is_wanted else -1))
    merged = _merged(segments)
    step = 60
    while len(merged) > most:
        merged = _merged(_coarse(segments, step))
        step *= 2
    return tuple(merged)


def _merged(segments: Iterable[StateSegment]) -> list[StateSegment]:
    return [next(alike) for _, alike in groupby(segments, itemgetter(1, 2))]


def _coarse(segments: Iterable[StateSegment], step: int) -> Iterator[StateSegment]:
    """Yield the worst state of each step, and what was wanted at its end.

    A state lasts into the steps behind its own.
    """
    last: StateSegment | None = None
    for at, within in groupby(segments, lambda each: each.start - each.start % step):
        each = list(within)
        carried = [last] if last and each[0].start > at else []
        worst = max((*carried, *each), key=lambda one: STATES.index(one.state) % 4)
        last = each[-1]
        yield StateSegment(at, worst.state, last.wanted)
        yield StateSegment(at + step, last.state, last.wanted)


class DeployedCommit(NamedTuple):
    """A commit of an environment's GitOps branch that changed what its clusters should run.

    `well` of `clusters` that followed the changed folders then have had its content without a
    failure.
    """

    environment: str
    repository: str
    commit: str
    at: int
    failed: bool
    well: int
    clusters: int

    @property
    def state(self) -> Literal["well", "failed", "open"]:
        """How it ended, or `open` while clusters have not taken it up."""
        if self.failed:
            return "failed"
        return "well" if self.well >= self.clusters else "open"


_DEPLOYMENTS: Final = """
with begun as (
    select t.environment, d.commit_id, min(d.from_) as at
    from desired d join target t on t.id = d.target and t.workload is null
    where d.content <> ''
    group by t.environment, d.commit_id
),
newest as (
    select *, row_number() over (partition by environment order by at desc, commit_id) as place
    from begun
)
select e.name, max(t.repository), n.commit_id, n.at,
    max(case when p.status = 'failure' then 1 else 0 end),
    count(distinct case when p.status = 'success' then f.cluster end),
    count(distinct f.cluster)
from newest n
join environment e on e.id = n.environment
join target t on t.environment = n.environment and t.workload is null
join desired d on d.target = t.id and d.commit_id = n.commit_id
join reconciler f on f.environment = t.environment and f.follows = t.follows
left join delivery y on y.desired = d.id
left join period p on p.id = y.period and p.reconciler = f.id
where n.place <= ? and exists (
    select 1 from period o where o.reconciler = f.id
        and (d.until is null or o.from_ < d.until) and (o.until is null or o.until > d.from_)
)
group by e.position, e.name, n.commit_id, n.at
order by e.position, e.name, n.at, n.commit_id
"""


def deployments(database: Database) -> list[DeployedCommit]:
    """Return the newest deployments of each environment, the oldest first."""
    return [DeployedCommit(*row) for row in database.rows(_DEPLOYMENTS, MOST_DEPLOYMENTS)]


def looks(database: Database, window: DrawnTime) -> tuple[int, int]:
    """Return the times of the first look, and of the last one in the window; 0 without one."""
    ((first, last),) = database.rows(
        "select min(at), max(case when at <= ? then at end) from observation", window.end
    )
    return first or 0, last or 0


def number_of_clusters(database: Database, window: DrawnTime) -> int:
    """Return how many clusters reported in the window."""
    ((number,),) = database.rows(
        "select count(*) from cluster where gone_at is null or gone_at > ?", window.start
    )
    return int(number)


class VersionPeriod(NamedTuple):
    """What a target should have run from a time on, and how many clusters by cluster type and end.

    `clusters` has the numbers of clusters whose last status was success, failure or another.
    """

    version: str
    source_commit: str
    commit: str
    start: int
    until: int | None
    clusters: dict[str, tuple[int, int, int]]


_HISTORIES: Final = """
select e.name, t.repository_key, t.branch, t.path, d.id, v.version, v.source_commit, d.commit_id,
    d.from_, d.until
from desired d
join target t on t.id = d.target and t.workload is not null
join environment e on e.id = t.environment
join version v on v.id = d.version
where d.until is null or d.until > ?
order by d.target, d.number desc
"""
_ENDS: Final = """
select y.desired, r.cluster_type, p.status, count(*) from (
    select y.desired, p.reconciler, max(p.number) as number
    from delivery y join period p on p.id = y.period
    group by y.desired, p.reconciler
) as y
join period p on p.reconciler = y.reconciler and p.number = y.number
join reconciler r on r.id = y.reconciler
where y.desired in (select id from desired where until is null or until > ?)
group by y.desired, r.cluster_type, p.status
"""

Key = tuple[str, str, str, str]
"""An environment, and the key of a repository, the branch and the path of a target."""


def histories(database: Database, window: DrawnTime) -> dict[Key, list[VersionPeriod]]:
    """Return the newest periods of each application's target, the newest first."""
    ends: dict[int, dict[str, list[int]]] = {}
    for desired, cluster_type, status, number in database.rows(_ENDS, window.start):
        numbers = ends.setdefault(desired, {}).setdefault(cluster_type, [0, 0, 0])
        numbers[{"success": 0, "failure": 1}.get(status, 2)] += number
    found: dict[Key, list[VersionPeriod]] = {}
    for row in database.rows(_HISTORIES, window.start):
        periods = found.setdefault(tuple(row[:4]), [])
        if len(periods) < MOST_PERIODS:
            periods.append(_version_period(row[4:], ends))
    return found


def _version_period(row: Sequence[Any], ends: dict[int, dict[str, list[int]]]) -> VersionPeriod:
    desired, version, source, commit, start, until = row
    numbers = ends.get(desired, {})
    clusters = {name: (each[0], each[1], each[2]) for name, each in numbers.items()}
    return VersionPeriod(version, source, commit, start, until, clusters)


class Run(NamedTuple):
    """How many clusters of a type have a version of a target now, with a state."""

    key: Key
    cluster_type: str
    version: str
    state: State
    clusters: int


_RUNS: Final = """
select e.name, t.repository_key, t.branch, t.path, r.cluster_type, coalesce(v.version, ''),
    p.status, p.relation, count(*)
from period p
join reconciler r on r.id = p.reconciler
join target t on t.id = r.target and t.workload is not null
join environment e on e.id = r.environment
left join desired d on d.id = (
    select d.id from delivery y join desired d on d.id = y.desired
    where y.period = p.id order by d.from_ desc, d.number desc limit 1
)
left join version v on v.id = d.version
where p.until is null
group by e.name, t.repository_key, t.branch, t.path, r.cluster_type, v.version, p.status, p.relation
order by e.name, t.repository_key, t.branch, t.path, r.cluster_type, v.version
"""


def runs(database: Database) -> list[Run]:
    """Return what clusters run now of the targets of applications."""
    found = []
    for *key, cluster_type, version, status, relation, number in database.rows(_RUNS):
        state = _state(status, is_known=relation != "unknown", is_wanted=relation == "current")
        found.append(Run((*key,), cluster_type, version, state, number))
    return found
