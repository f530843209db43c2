"""The views say what the commands say: each record is loaded look by look, and asked both ways."""

from __future__ import annotations

import random
import sqlite3
from collections.abc import Callable, Sequence
from contextlib import closing
from datetime import UTC, datetime
from decimal import Decimal
from functools import partial
from typing import Any

import pytest

from kalypso_actions.commands.hub.api import rollouts_until
from kalypso_actions.commands.shared.record import FolderRecord, record_log
from kalypso_actions.observations.delivery import figures
from kalypso_actions.observations.drift import drift
from kalypso_actions.observations.histories import target_periods
from kalypso_actions.observations.projection import SqliteDatabase, load
from kalypso_actions.observations.questions import last_look, states
from kalypso_actions.observations.record import Status
from kalypso_actions.observations.timeline import deployments
from tests.commands.hub.records import Recorder, application, folder, hub_load, story
from tests.git_repositories import git
from tests.postgres import TestDatabase

STATUSES: tuple[Status, ...] = ("success", "success", "failure", "in_progress", "suspended")
ENVIRONMENTS = ("dev", "stage")


def random_fleet(recorder: Recorder, seed: int) -> None:
    """Record two environments whose commits fail, are corrected, rolled back and carried later."""
    chance = random.Random(seed)
    contents: dict[str, str] = {}
    for number in range(6):
        for environment in ENVIRONMENTS:
            lines = [folder("small", environment), folder("large", environment)]
            lines.append(application("functional-test", environment))
            source = f"{chance.randrange(1, 3 + number):040x}"
            for line in lines:
                content = chance.choice(["a", "b", "c", "" if number and line.workload else "a"])
                if (chance.random() < 0.5 or not number) and contents.get(str(line)) != content:
                    recorder.merge(line, content, f"v{content}", source_commit=source)
                    contents[str(line)] = content
            for cluster in range(5):
                cluster_type = "small" if cluster < 3 else "large"
                if chance.random() < 0.1:
                    recorder.lose(f"{environment}-{cluster}")
                for line in lines:
                    wanted = contents.get(str(line), "a")
                    content = wanted if chance.random() < 0.7 else chance.choice("abx")
                    if chance.random() < 0.7 and line.name in {cluster_type, "functional-test"}:
                        status = chance.choice(STATUSES)
                        recorder.run(
                            *(f"{environment}-{cluster}", line, content, status),
                            cluster_type=cluster_type,
                        )
            promote(recorder, environment, chance)
        recorder.look(ENVIRONMENTS)


def promote(recorder: Recorder, environment: str, chance: random.Random) -> None:
    """Let a commit of main arrive, fail, or be rolled back; the record has one line for each."""
    number = chance.randrange(1, 12)
    state = chance.choice(["deployed", "deployed", "failed", "rolled back"])
    fields: dict[str, Any] = {"state": state, "position": number}
    if state == "failed":
        fields |= {"deployed_at": None, "failed_at": recorder.now}
    recorder.promote(environment, f"{number:040x}", chance.randrange(-2, 60), **fields)
    known = recorder.promotions[environment]
    known[:] = {each.commit: each for each in known}.values()


RECORDS: dict[str, Callable[[Recorder], object]] = {
    "a failure and a revert": story,
    **{f"random {seed}": partial(random_fleet, seed=seed) for seed in range(2)},
}


@pytest.mark.parametrize("record", RECORDS.values(), ids=RECORDS)
def test_the_views_say_at_each_look_what_the_commands_say(
    recorder: Recorder, database: TestDatabase, record: Callable[[Recorder], object]
) -> None:
    record(recorder)
    commits = git(recorder.folder, "rev-list", "--reverse", recorder.branch.head()).split()
    check_looks(recorder.branch, database, recorder.now, commits)


def check_looks(
    branch: FolderRecord, database: TestDatabase, now: datetime, commits: Sequence[str]
) -> None:
    """Load a record commit by commit, and compare the views with the answers of the commands."""
    with (
        closing(sqlite3.connect(":memory:")) as whole,
        closing(sqlite3.connect(":memory:")) as until,
    ):
        tables, then = SqliteDatabase(whole), SqliteDatabase(until)
        load(tables, partial(record_log, branch), branch.head(), "record")
        for commit in commits:
            load(then, partial(record_log, branch), commit, "record")
            hub_load(branch, database, head=commit)
            at = last_look(then, now)
            if at is None:
                continue
            for view, (statement, expected) in answers(tables, then, at).items():
                assert written(database.rows(statement)) == written(expected), (view, at)


def written(rows: list[Any]) -> list[str]:
    """Return rows in order, with times in UTC."""

    def plain(value: Any) -> Any:
        if isinstance(value, datetime):
            return value.astimezone(UTC)
        return float(value) if isinstance(value, Decimal) else value

    return sorted({str([plain(each) for each in row]) for row in rows})


STATE = (
    "select platform_environment, target, cluster_key, cluster_type, coalesce(desired_version, ''),"
    " coalesce(deployed_version, ''), status, since, gitops_commit, coalesce(changes_behind, 0)"
    " {more} from every_state"
)


def state_rows(tables: SqliteDatabase, at: datetime, *, with_relation: bool) -> list[Any]:
    return [
        (
            *(each.environment, each.target, each.cluster.lower(), each.cluster_type),
            *(each.desired_version, each.deployed_version, each.status, each.since),
            *(each.gitops_commit, max(0, each.changes_behind)),
            *([each.relation] if with_relation else []),
        )
        for each in states(tables, at)
    ]


def answers(
    whole: SqliteDatabase, tables: SqliteDatabase, at: datetime
) -> dict[str, tuple[str, list[Any]]]:
    """Return a statement for each view, and its rows by the answers of the commands at a look.

    `tables` have the record until then, and `whole` what came later, too, which changes what a
    cluster's content is to what was wanted then: a later look may have seen it wanted.
    """
    return {
        "state": (STATE.format(more=", relation"), state_rows(tables, at, with_relation=True)),
        "state, later": (STATE.format(more=""), state_rows(whole, at, with_relation=False)),
        "target_history": (
            "select platform_environment, target, version, gitops_commit, success, failure,"
            " in_progress, date_trunc('second', from_), date_trunc('second', until)"
            " from (select * from target_history union all select * from platform_history) h",
            [
                (
                    *(each.environment, each.target, each.version, each.gitops_commit),
                    *(each.clusters["success"], each.clusters["failure"]),
                    *(each.clusters["in_progress"], each.since, each.until),
                )
                for (name,) in [*tables.rows("select name from target"), ("",)]
                for each in target_periods(tables, name, at)
                if each.version
            ],
        ),
        "drift": (
            "select kind, platform_environment, target, coalesce(cluster_key, ''),"
            " coalesce(cluster_type, ''), coalesce(desired_version, ''),"
            " coalesce(deployed_version, left(gitops_commit, 7), ''), since from drift",
            [
                (
                    *(each.kind, each.environment, each.target, each.cluster.lower()),
                    *(each.cluster_type, each.wanted, each.has, each.since),
                )
                for each in drift(tables, at)
                if each.kind not in {"stale", "edited-by-hand", "proposal-open"}
            ],
        ),
        "rollout": (
            "select environment, target, version, gitops_commit, cluster_type,"
            " date_trunc('second', from_), clusters, arrived, failed,"
            ' extract(epoch from first - from_)::integer, extract(epoch from "all" - from_)::integer'
            " from rollout",
            [
                (
                    *(each.environment, each.target, each.version, each.gitops_commit),
                    *(each.cluster_type, each.since, each.clusters, each.arrived, each.failed),
                    *(each.first_after, each.all_after),
                )
                for each in rollouts_until(tables, at)
            ],
        ),
        "rollout of commits": (
            "select environment, gitops_commit, sum(clusters)::integer,"
            " sum(arrived)::integer, (sum(failed) > 0)::integer from rollout where not is_application group by 1, 2",
            [
                (each.environment, each.commit, each.clusters, each.well, each.failed)
                for each in deployments(tables)
            ],
        ),
        "delivered": (
            "select environment, count(*), count(*) filter (where ended_well), count(failed_at)"
            " from delivered where not is_application group by 1",
            [
                (
                    *(each.scope.name, each.failed_deployments.n),
                    *(each.ended_well, each.failed_deployments.part),
                )
                for each in figures(tables, at)
                if each.scope.kind == "environment"
            ],
        ),
        "delivery_figures": (
            "select environment, deployments, ended_well, failed_deployments, per_week, changes,"
            " failed_changes, change_failure_rate, lead_time_n, recovery_n, recovered_by_clusters,"
            " lead_time_median, lead_time_p90, recovery_median from delivery_figures",
            [
                (
                    *(each.scope.name, each.failed_deployments.n, each.ended_well),
                    *(each.failed_deployments.part, each.per_week),
                    *(each.change_failures.n, each.change_failures.part),
                    *(each.change_failures.share, lead.n, each.recovery.n),
                    *(each.recovered_by_clusters, *lead.median_and_p90),
                    each.recovery.median_and_p90[0],
                )
                for each in figures(tables, at)
                if each.scope.kind == "environment" and (lead := each.lead_time)
            ],
        ),
        "promotion": (
            "select environment, count(*), floor(percentile_cont(0.5) within group (order by seconds))"
            " from (select environment, greatest(extract(epoch from arrived_at - committed_at), 0)"
            " as seconds from promotion where arrived_at is not null) as leads group by 1",
            [
                (each.scope.name, each.lead_time.n, float(each.lead_time.median_and_p90[0] or 0))
                for each in figures(tables, at)
                if each.scope.kind == "environment" and each.lead_time and each.lead_time.n
            ],
        ),
    }
