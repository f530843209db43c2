"""The periods of a target, and of a cluster, newest first."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from kalypso_actions.model.cluster_reports import cluster_name
from kalypso_actions.observations.projection import OUTCOME_UNTIL, Database
from kalypso_actions.observations.questions import NEWEST_PROMOTION, at_second, seconds_of


@dataclass(frozen=True, slots=True)
class TargetPeriod:
    """What a target should run from a time until another content, and what became of it.

    `clusters` are numbers by their last status of the periods that belong to it. `author`,
    `subject`, `merged_by` and the times are those of the promotion of `source_commit`, "" or None
    for another commit than one of main.
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


@dataclass(frozen=True, slots=True)
class ClusterPeriod:
    """What a cluster ran of a target from a time until another content or status."""

    environment: str
    cluster_type: str
    cluster: str
    configuration: str
    target: str
    version: str
    gitops_commit: str
    status: str
    since: datetime
    until: datetime | None
    reason: str

    @property
    def cluster_name(self) -> str:
        """The last part of the cluster's id."""
        return cluster_name(self.cluster)


TARGETS: Final = """
select distinct t.id from target t
join target_name n on n.target = t.id
join environment e on e.id = t.environment
where (lower(n.name) = ? or (? = '' and t.workload is null)) and (? = '' or e.name = ?)
"""

PERIODS: Final = """
select e.name, t.name, coalesce(w.name, ''), coalesce(v.version, ''),
    coalesce(v.source_commit, ''), d.commit_id, d.edited, d.from_, d.until,
    coalesce(m.author, ''), coalesce(m.subject, ''), coalesce(m.merged_by, ''),
    coalesce(m.pull_request, ''), m.committed_at, m.deployed_at,
    coalesce(o.success, 0), coalesce(o.failure, 0), coalesce(o.in_progress, 0)
from desired d
join target t on t.id = d.target
join environment e on e.id = t.environment
left join workload w on w.id = t.workload
left join version v on v.id = d.version
left join ({outcome}) o on o.desired = d.id
left join ({newest}) m
    on m.environment = t.environment and m.commit_id = v.source_commit and m.nth = 1
where d.target in ({targets}) and d.from_ <= ? and (d.until is null or d.until > ?)
order by d.from_ desc, d.nth desc, e.position, t.name
"""

CLUSTER: Final = """
select e.name, r.cluster_type, c.spelled, r.name, coalesce(t.name, r.follows),
    coalesce(v.version, ''), coalesce(d.commit_id, p.commit_id), p.status, p.from_, p.until,
    p.reason
from period p
join reconciler r on r.id = p.reconciler
join cluster c on c.id = r.cluster
join environment e on e.id = r.environment
left join target t on t.id = r.target
left join desired d on d.id = (
    select max(y.desired) from delivery y where y.period = p.id
)
left join version v on v.id = d.version
where c.id in (select id from cluster where key = ? or lower(name) = ?)
    and p.from_ <= ? and (p.until is null or p.until > ?)
    and (? = '' or lower(t.name) = ?)
order by p.from_ desc, p.nth desc, e.position, r.follows
"""


def target_periods(
    database: Database,
    name: str,
    at: datetime,
    since: datetime | None = None,
    environment: str = "",
) -> list[TargetPeriod]:
    """Return the periods of all targets of a name, in an environment or in all of them.

    The name is that of a target, a workload or a cluster type; "" stands for the platform's.
    """
    wanted = name.lower()
    rows = database.rows(TARGETS, wanted, wanted, environment, environment)
    targets = ", ".join(str(int(row[0])) for row in rows)
    if not targets:
        return []
    moment = seconds_of(at)
    statement = PERIODS.format(newest=NEWEST_PROMOTION, outcome=OUTCOME_UNTIL, targets=targets)
    given = *[moment] * 4, seconds_of(since) if since else 0
    return [_target_period(row, moment) for row in database.rows(statement, *given)]


def _target_period(row: Sequence[Any], moment: int) -> TargetPeriod:
    until = row[8] if row[8] is not None and row[8] <= moment else None
    merged_by, pull_request, committed, deployed = row[11:15]
    if deployed is not None and deployed < row[7]:
        # The commit was there before, so these tell of its first deployment, not of this period.
        merged_by, pull_request, deployed = "", "", None
    return TargetPeriod(
        *(row[0], row[1], row[2], row[3], row[4], row[5]),
        edited=bool(row[6]),
        since=at_second(row[7]),
        until=at_second(until),
        clusters=dict(zip(("success", "failure", "in_progress"), row[15:], strict=True)),
        author=row[9],
        subject=row[10],
        merged_by=merged_by,
        pull_request=pull_request,
        committed_at=at_second(committed),
        deployed_at=at_second(deployed),
        lead_time=None if None in (committed, deployed) else max(0, deployed - committed),
    )


def cluster_periods(
    database: Database,
    name: str,
    at: datetime,
    since: datetime | None = None,
    target: str = "",
) -> Iterator[ClusterPeriod]:
    """Yield the periods of a cluster, by its id or the last part of it."""
    moment, wanted = seconds_of(at), name.lower()
    first = seconds_of(since) if since else 0
    rows = database.rows(CLUSTER, wanted, wanted, moment, first, target.lower(), target.lower())
    for row in rows:
        until = row[9] if row[9] is not None and row[9] <= moment else None
        yield ClusterPeriod(*(*row[:8], at_second(row[8]), at_second(until), row[10]))


def clusters_of_commits(
    database: Database, environment: str, at: datetime
) -> Mapping[str, Mapping[str, int]]:
    """Return the numbers of clusters by status of each commit of main in an environment.

    A cluster counts once for each folder of the platform that it follows.
    """
    numbers: dict[str, dict[str, int]] = {}
    for period in target_periods(database, "", at, None, environment):
        counted = numbers.setdefault(period.source_commit, {})
        for status, number in period.clusters.items():
            counted[status] = counted.get(status, 0) + number
    return numbers
