"""What ran where at a moment: the periods of the record, seen at one time."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, time, timedelta
from itertools import islice
from typing import Final, overload

from kalypso_actions.errors import UsageError
from kalypso_actions.model.cluster_reports import cluster_name
from kalypso_actions.model.nearest import nearest
from kalypso_actions.observations.projection import Database
from kalypso_actions.observations.record import Standing, Status

COMMIT: Final = re.compile("[0-9a-f]{7,64}")
"""A commit, or its first digits."""

MOST_NAMES: Final = 10_000
"""Names among which a similar one is looked for."""

UNITS: Final = {"s": "seconds", "m": "minutes", "h": "hours", "d": "days", "w": "weeks"}
_AGO: Final = re.compile(r"(\d{1,6})\s*([smhdw])(?:\s+ago)?")


@dataclass(frozen=True, slots=True)
class ClusterState:
    """What a cluster runs of a target at a moment.

    `target` is the name of an application's target; for the platform's folder it is the cluster
    type, or "" for the whole tree, and `workload` is "". `names` are all names of the target.
    `deployed_version` and `gitops_commit` are those of the newest desired period that the content
    belongs to; without one, the version is "" and the commit is the reported one. `desired_version`
    is "" where nothing is wanted; what is wanted has been so since `wanted_since`, and has come
    `changes_behind` changes after what runs, the first of them at `behind_since`.
    """

    environment: str
    cluster_type: str
    cluster: str
    configuration: str
    target: str
    workload: str
    names: tuple[str, ...]
    desired_version: str
    deployed_version: str
    source_commit: str
    gitops_commit: str
    relation: Standing
    status: Status
    since: datetime
    reason: str
    wanted_since: datetime | None = None
    changes_behind: int = 0
    behind_since: datetime | None = None

    @property
    def cluster_name(self) -> str:
        """The last part of the cluster's id."""
        return cluster_name(self.cluster)


STATES: Final = """
select e.name, r.cluster_type, c.spelled, r.name, coalesce(t.name, r.follows),
    coalesce(w.name, ''), t.id, coalesce(v.version, ''), coalesce(ov.version, ''),
    coalesce(ov.source_commit, ''), coalesce(o.commit_id, p.commit_id),
    d.content, p.content, p.relation, p.status, p.from_, p.reason, d.from_,
    coalesce(d.number - o.number, 0), coalesce(m.from_, d.from_)
from period p
join reconciler r on r.id = p.reconciler
join cluster c on c.id = r.cluster
join environment e on e.id = r.environment
left join target t on t.id = r.target
left join workload w on w.id = t.workload
left join desired d on d.id = (
    select id from desired where target = r.target and from_ <= ? order by number desc limit 1
)
left join version v on v.id = d.version
left join desired o on o.id = (
    select x.id from target g join desired x on x.target = g.id
    where g.environment = r.environment and g.follows = r.follows
        and x.content = p.content and p.content <> '' and x.from_ <= ?
        and (x.from_ <= p.from_ or p.until is null or x.from_ < p.until)
    order by x.from_ desc, x.number desc limit 1
)
left join version ov on ov.id = o.version
left join desired m on m.target = o.target and m.number = o.number + 1
where p.from_ <= ? and (p.until is null or p.until > ?) {only}
order by e.position, e.name, r.cluster_type, c.key, r.name, r.follows
"""

NEWEST_PROMOTION: Final = """
select p.*, row_number() over (
    partition by environment, commit_id order by coalesce(at, 0) desc, id desc
) as nth from promotion p
"""
"""The states of main's commits; the one with `nth` 1 is the newest."""

NAMED: Final = """
and (
    lower(c.name) = ? or c.key = ? or lower(r.cluster_type) = ? or lower(e.name) = ?
    or r.target in (select target from target_name where lower(name) = ?)
    or p.content in (
        select x.content from desired x left join version y on y.id = x.version
        where lower(y.version) = ? or y.source_commit like ? or x.commit_id like ?
    )
    or p.commit_id like ?
)
"""
"""What a name may be about: `where` decides. Most states need no look at what they belong to."""

KNOWN: Final = """
select 1 from cluster where lower(name) = ? or key = ?
union select 1 from reconciler where lower(cluster_type) = ?
union select 1 from environment where lower(name) = ?
union select 1 from target_name where lower(name) = ?
union select 1 from version where lower(version) = ? or source_commit like ?
union select 1 from desired where commit_id like ?
"""
"""Whether a name has been in the record at any time."""

DIFFERING: Final = """
and (p.status <> 'success' or p.content = '' or d.content is null or p.content <> d.content)
"""


def states(
    database: Database, at: datetime, *, about: str = "", only_differing: bool = False
) -> Iterator[ClusterState]:
    """Yield what each cluster ran of each target at a moment, in the order of the chain.

    A cluster that was gone then has no state. `about` is a name, which leaves out most states that
    have nothing to do with it; `only_differing` leaves out all that are as wanted.
    """
    only = NAMED * bool(about) + DIFFERING * only_differing
    given = _named(about, 3) if about else ()
    names: dict[int, list[str]] = {}
    for target, name in database.rows("select target, name from target_name order by name"):
        names.setdefault(target, []).append(name)
    statement = STATES.format(only=only)
    for row in database.rows(statement, *[seconds_of(at)] * 4, *given):
        target, version, deployed, source, commit, wanted, content = row[6:13]
        relation, status, since, reason, wanted_since, behind, behind_since = row[13:]
        if wanted is not None and content:
            # The period has the relation to what was wanted last.
            is_current = content == wanted
            relation = "current" if is_current else "behind" if relation == "current" else relation
        of_target = *row[:6], tuple(names.get(target, ()))
        runs = version, deployed, source, commit, relation, status, at_second(since), reason
        of_wanted = at_second(wanted_since), behind, at_second(behind_since)
        yield ClusterState(*(*of_target, *runs, *of_wanted))


def _named(name: str, commits: int) -> tuple[str, ...]:
    """Return what a statement compares: a name six times, and as the beginning of commits."""
    wanted = name.lower()
    prefix = f"{wanted}%" if COMMIT.fullmatch(wanted) else "-"  # begins no commit
    return (*[wanted] * 6, *[prefix] * commits)


def is_known(database: Database, name: str) -> bool:
    """Return whether anything that `where` knows has had a name at any time."""
    return bool(database.rows(KNOWN, *_named(name, 2)))


@overload
def at_second(seconds: int) -> datetime: ...
@overload
def at_second(seconds: None) -> None: ...
def at_second(seconds: int | None) -> datetime | None:
    """Return the time of a number in the tables; None stays None."""
    return None if seconds is None else datetime.fromtimestamp(seconds, UTC)


def seconds_of(time: datetime) -> int:
    """Return the number in the tables of a time."""
    return int(time.timestamp())


def clusters(database: Database, at: datetime) -> int:
    """Return the number of clusters that reported at a moment."""
    moment = seconds_of(at)
    ((number,),) = database.rows(
        "select count(distinct r.cluster) from period p join reconciler r on r.id = p.reconciler"
        " where p.from_ <= ? and (p.until is null or p.until > ?)",
        moment,
        moment,
    )
    return int(number)


def looks(database: Database, at: datetime) -> Mapping[str, datetime]:
    """Return the newest look at each environment until a moment."""
    rows = database.rows(
        "select e.name, max(o.at) from observation o join environment e on e.id = o.environment"
        " where o.at <= ? group by e.name",
        seconds_of(at),
    )
    return {name: at_second(seconds) for name, seconds in rows}


def last_look(database: Database, at: datetime) -> datetime | None:
    """Return the newest look until a moment; None before the first."""
    seconds: int | None = database.rows(
        "select max(at) from observation where at <= ?", seconds_of(at)
    )[0][0]
    return at_second(seconds)


def where(found: Iterable[ClusterState], name: str) -> list[ClusterState]:
    """Return the states that a name is about.

    It names a workload or a target, a version, a commit of main, of the source or of a GitOps
    branch (also its first digits), a cluster, a cluster type or an environment.
    """
    wanted = name.lower()
    is_commit = COMMIT.fullmatch(wanted)
    return [
        each
        for each in found
        if wanted in _names(each)
        or (
            is_commit
            and any(
                commit.startswith(wanted) for commit in (each.source_commit, each.gitops_commit)
            )
        )
    ]


def _names(state: ClusterState) -> set[str]:
    names = (
        *state.names,
        state.deployed_version,
        state.cluster,
        state.cluster_name,
        state.cluster_type,
        state.environment,
    )
    return {name.lower() for name in names if name}


def similar_name(database: Database, name: str, at: datetime) -> str:
    """Return the most similar name that the record has at a moment, for advice; "" for none."""
    environments = (row[0] for row in database.rows("select name from environment"))
    others = (other for each in states(database, at) for other in sorted(_names(each)))
    return nearest(name.lower(), islice(dict.fromkeys((*environments, *others)), MOST_NAMES))


def moment(text: str, now: datetime) -> datetime:
    """Return the time that a person means: RFC 3339, a date, a time of day, or an age.

    `YYYY-MM-DD[ HH:MM[:SS]]` and `HH:MM[:SS]` are in UTC; a time of day is the last such moment;
    `3h` or `2d ago` is that long before `now`. Raises UsageError.
    """
    text = text.strip()
    if match := _AGO.fullmatch(text):
        try:
            return now - timedelta(**{UNITS[match[2]]: int(match[1])})
        except OverflowError:
            raise _no_time(text) from None
    try:
        clock = time.fromisoformat(text)
    except ValueError:
        clock = None
    if clock is not None and ":" in text:
        latest = datetime.combine(now.astimezone(UTC).date(), clock.replace(tzinfo=UTC))
        return latest if latest <= now else latest - timedelta(days=1)
    try:
        given = datetime.fromisoformat(text)
    except ValueError:
        raise _no_time(text) from None
    return given.replace(tzinfo=given.tzinfo or UTC)


def _no_time(text: str) -> UsageError:
    advice = "write 2026-03-01T12:00:00Z, 2026-03-01 12:00, 12:00, or 3h for three hours ago"
    return UsageError(f"{text!r} is no time", advice=advice)
