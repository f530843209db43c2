"""What is not as wanted at a moment, by the record, the worst first."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final, Literal, get_args

from kalypso_actions.model.cluster_reports import cluster_name
from kalypso_actions.observations.projection import Database
from kalypso_actions.observations.questions import (
    NEWEST_PROMOTION,
    ClusterState,
    at_second,
    looks,
    seconds_of,
    states,
)

DriftKind = Literal[
    "failing",
    "off",
    "unreachable",
    "stale",
    "edited-by-hand",
    "behind",
    "suspended",
    "no-cluster",
    "unknown",
    "proposal-open",
]
KINDS: Final[tuple[DriftKind, ...]] = get_args(DriftKind)
"""From the worst to the best."""

UNRECORDED: Final = ("registration-ahead",)
"""What the record does not say: `kalypso poll --dry-run` does, of the present alone."""

STALE_AFTER: Final = timedelta(hours=24)


@dataclass(frozen=True, slots=True)
class Drift:
    """One thing that is not as wanted.

    `wanted` and `has` are versions, or commits without one; `changes` is the number of changes that
    a cluster is behind. `since` is when the state began, for `behind` when the first of them came.
    """

    kind: DriftKind
    environment: str
    since: datetime | None
    cluster_type: str = ""
    cluster: str = ""
    target: str = ""
    workload: str = ""
    wanted: str = ""
    has: str = ""
    changes: int = 0
    reason: str = ""

    @property
    def cluster_name(self) -> str:
        """The last part of the cluster's id."""
        return cluster_name(self.cluster)


EDITED: Final = """
select e.name, t.name, d.commit_id, d.from_ from desired d
join target t on t.id = d.target
join environment e on e.id = t.environment
where d.edited = 1 and d.from_ <= ? and (d.until is null or d.until > ?)
"""

NO_CLUSTER: Final = """
select e.name, t.name, coalesce(w.name, ''), coalesce(v.version, ''), d.from_ from desired d
join target t on t.id = d.target
join environment e on e.id = t.environment
left join workload w on w.id = t.workload
left join version v on v.id = d.version
where d.content <> '' and d.from_ <= ? and (d.until is null or d.until > ?)
    and (t.workload is not null or t.follows <> '')
    and not exists (
        select 1 from reconciler r join period p on p.reconciler = r.id
        where r.environment = t.environment and p.from_ <= ? and (p.until is null or p.until > ?)
            and r.follows in (t.follows, case when t.workload is null then '' else t.follows end)
    )
"""
"""A cluster without a type follows the platform's folders, too. With an `or` instead of the list,
SQLite reads all reconcilers of the environment.
"""

PROPOSALS: Final = """
select e.name, m.commit_id, m.pull_request, m.proposed_at from ({newest}) m
join environment e on e.id = m.environment
where m.nth = 1 and m.proposed_at is not null and m.proposed_at <= ?
    and (m.merged_at is null or m.merged_at > ?) and m.deployed_at is null
"""


def drift(database: Database, at: datetime, stale_after: timedelta = STALE_AFTER) -> list[Drift]:
    """Return what is not as wanted at a moment: the worst first, the oldest first of a kind."""
    found = [*_of_clusters(database, at), *_of_branches(database, at)]
    for environment, seen in looks(database, at).items():
        if at - seen >= stale_after:
            reason = f"nobody has looked since {seen:%Y-%m-%d %H:%M} UTC"
            found.append(Drift("stale", environment, seen, reason=reason))
    return sorted(
        found,
        key=lambda each: (
            KINDS.index(each.kind),
            seconds_of(each.since) if each.since else 0,
            each.environment,
            each.cluster,
            each.target,
        ),
    )


def _of_clusters(database: Database, at: datetime) -> Iterator[Drift]:
    for state in states(database, at, only_differing=True):
        for kind in _kinds(state):
            is_behind = kind == "behind"
            yield Drift(
                kind,
                state.environment,
                state.behind_since if is_behind else state.since,
                state.cluster_type,
                state.cluster,
                state.target,
                state.workload,
                state.desired_version,
                state.deployed_version or state.gitops_commit[:7],
                state.changes_behind if is_behind else 0,
                state.reason,
            )


def _kinds(state: ClusterState) -> Iterator[DriftKind]:
    match state.status:
        case "failure":
            yield "failing"
        case "suspended" | "unreachable":
            yield state.status
    match state.relation:
        case "behind" | "off" | "unknown":
            yield state.relation


def _of_branches(database: Database, at: datetime) -> Iterator[Drift]:
    moment = seconds_of(at)
    for environment, target, commit, since in database.rows(EDITED, moment, moment):
        reason = f"{commit[:7]} changes manifests, and merges no pull request of Kalypso"
        yield Drift("edited-by-hand", environment, at_second(since), target=target, reason=reason)
    for row in database.rows(NO_CLUSTER, moment, moment, moment, moment):
        environment, target, workload, version, since = row
        yield Drift(
            "no-cluster",
            environment,
            at_second(since),
            target=target,
            workload=workload,
            wanted=version,
        )
    proposals = PROPOSALS.format(newest=NEWEST_PROMOTION)
    for environment, commit, pull_request, since in database.rows(proposals, moment, moment):
        yield Drift(
            "proposal-open",
            environment,
            at_second(since),
            wanted=commit[:7],
            reason=pull_request,
        )
