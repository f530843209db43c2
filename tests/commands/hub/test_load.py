"""`kalypso hub load` and `hub file`: tables, views, and what readers see meanwhile."""

from __future__ import annotations

import os
import random
import signal
import sqlite3
import subprocess
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import psycopg
import pytest

from kalypso_actions.clients.postgresql import PostgresDatabase, connect, settings_of
from kalypso_actions.commands.shared.record import BRANCH, record_log
from kalypso_actions.errors import KalypsoError, UsageError
from kalypso_actions.observations.projection import loaded_head
from kalypso_actions.observations.record import Status
from tests.breaks import breaks, replaced, turned
from tests.command_line import PROGRAM, call_kalypso
from tests.commands.hub.records import DEV, EDGE, Recorder, application, folder, hub_load, story
from tests.git_repositories import git
from tests.observations.replay import DesiredPeriod, RealPeriod, owners
from tests.postgres import TestDatabase

UPSTREAM = {
    "workspace": "id:i name:t description:t created_on:d created_by:t updated_on:d updated_by:t",
    "application": "id:i name:t description:t workspace_id:i created_on:d created_by:t "
    "updated_on:d updated_by:t",
    "workload": "id:i name:t description:t source_storage_type:t source_endpoint:t "
    "application_id:i created_on:d created_by:t updated_on:d updated_by:t",
    "environment": "id:i name:t description:t created_on:d created_by:t updated_on:d updated_by:t",
    "deployment_target": "id:i name:t description:t workload_id:i environment_id:i labels:t "
    "manifests_storage_type:t manifests_endpoint:t created_on:d created_by:t updated_on:d "
    "updated_by:t",
    "workload_version": "id:i version:t build_id:t build_commit_id:t workload_id:i created_on:d "
    "created_by:t",
    "deployment_assignment": "id:i deployment_target_id:i workload_version_id:i "
    "gitops_commit_id:t created_on:d created_by:t",
    "host": "id:i name:t description:t host_type:t labels:t created_on:d created_by:t "
    "updated_on:d updated_by:t",
    "reconciler": "id:i name:t host_id:i description:t reconciler_type:t labels:t "
    "manifests_storage_type:t manifests_endpoint:t created_on:d created_by:t updated_on:d "
    "updated_by:t",
    "deployment": "id:i gitops_commit_id:t reconciler_id:i status:t status_message:t "
    "created_on:d created_by:t updated_on:d updated_by:t",
}
"""The columns of the hub's tables, in its DDL."""

KINDS = {"i": "integer", "t": "text", "d": "timestamp without time zone"}

DEPLOYED = """
select t.name, r.version, d.status, count(*)
from deployment_target t
join reconciler c on c.manifests_endpoint = t.manifests_endpoint
left join (
    select d.reconciler_id, d.status, v.version
    from deployment d, deployment_assignment a, workload_version v, deployment_target t, reconciler c
    where d.gitops_commit_id = a.gitops_commit_id and a.workload_version_id = v.id
        and d.reconciler_id = c.id and a.deployment_target_id = t.id
        and c.manifests_endpoint = t.manifests_endpoint
        and d.created_on = (
            select max(created_on) from deployment where reconciler_id = d.reconciler_id
        )
) as d on d.reconciler_id = c.id
left join lateral (select d.version) as r on true
group by 1, 2, 3 order by 1, 2, 3
"""
"""What the hub's dashboards ask: versions and numbers of reconcilers, joined by commit and time."""


def call_load(recorder: Recorder, database: TestDatabase, *more: str) -> Any:
    return call_kalypso(
        "hub", "load", "--record", recorder.folder, "--database-url", database.url, *more
    )


def state(database: TestDatabase) -> list[Any]:
    return database.rows("select cluster, deployed_version, status, relation from state order by 1")


def test_the_columns_are_those_of_the_hub(recorder: Recorder, database: TestDatabase) -> None:
    story(recorder)
    hub_load(recorder.branch, database)
    for table, columns in UPSTREAM.items():
        found = database.rows(
            "select column_name, data_type from information_schema.columns"
            " where table_schema = 'kalypso_hub' and table_name = %s order by ordinal_position",
            [table],
        )
        assert found == [
            (name, KINDS[kind])
            for name, _, kind in (each.partition(":") for each in columns.split())
        ], table


def test_a_deployment_a_failure_a_revert_and_a_cluster_that_goes(
    recorder: Recorder, database: TestDatabase
) -> None:
    commits = story(recorder)
    hub_load(recorder.branch, database)
    assert database.rows(
        "select environment, target, cluster, cluster_key, cluster_type, desired_version,"
        " deployed_version, relation, status, reason, gitops_commit from state order by cluster_key"
    ) == [
        (
            *("dev", "functional-test", "Drone-1", "drone-1", "small", "0.0.1", "0.0.1"),
            *("current", "success", "", commits["a again"]),
        ),
        (
            *("dev", "functional-test", "drone-2", "drone-2", "small", "0.0.1", "0.0.2"),
            *("unknown", "failure", "out of memory", commits["b"]),
        ),
    ]
    assert database.rows(
        "select version, gitops_commit, success, failure, in_progress from target_history"
        " order by from_"
    ) == [
        ("0.0.1", commits["a"], 3, 0, 0),
        ("0.0.2", commits["b"], 1, 1, 0),
        ("0.0.1", commits["a again"], 1, 0, 0),
    ]
    assert database.rows(DEPLOYED) == [
        ("functional-test", "0.0.1", "success", 1),
        ("functional-test", "0.0.2", "failure", 1),
    ]
    assert database.rows("select cluster, target from platform_state order by 1") == [
        ("Drone-1", "small"),
        ("drone-2", "small"),
    ]
    assert database.rows("select kind, cluster, changes_behind from drift order by 1") == [
        ("failing", "drone-2", 1),
        ("unknown", "drone-2", 1),
    ]
    assert database.rows("select text, tags from annotation order by time, text desc") == [
        ("dev: small p", "deployment,dev,small"),
        ("dev: functional-test 0.0.1", "deployment,dev,functional-test,greetings"),
        ("dev: functional-test 0.0.2", "deployment,dev,functional-test,greetings"),
        ("dev: functional-test 0.0.1", "deployment,dev,functional-test,greetings"),
        ("dev: small q", "deployment,dev,small"),
    ]
    assert database.rows(
        'select version, clusters, arrived, failed, first is null, half is null, "all" is null'
        " from rollout where target = 'functional-test' order by from_"
    ) == [
        ("0.0.1", 3, 3, 0, False, False, False),
        ("0.0.2", 3, 1, 1, False, True, True),
        ("0.0.1", 2, 1, 0, False, False, True),
    ]


STATUSES: Sequence[Status] = ("success", "success", "failure", "in_progress", "unreachable")


def random_story(recorder: Recorder, chance: random.Random) -> Iterator[None]:
    """Record looks at two targets and a folder, with reverts, removals and clusters that go."""
    lines = [DEV, application("second", "dev"), EDGE, folder("large", "dev")]
    contents = dict.fromkeys(map(str, lines), "")
    for _ in range(8):
        for line in lines:
            for _ in range(chance.choice([0, 0, 1, 1, 3])):
                content = chance.choice(["a", "b", "c", "" if line.workload else "a"])
                if content != contents[str(line)]:
                    recorder.merge(line, content, f"v{content}")
                    contents[str(line)] = content
        for number in range(4):
            cluster, cluster_type = f"C{number}", "small" if number < 3 else "large"
            if chance.random() < 0.1:
                recorder.lose(cluster)
            for line in lines:
                if chance.random() < 0.6 and line.name in {DEV.name, "second", cluster_type}:
                    recorder.run(
                        *(cluster, line, chance.choice("abcx"), chance.choice(STATUSES)),
                        cluster_type=cluster_type,
                    )
        recorder.look()
        yield


@pytest.mark.parametrize("seed", range(3))
def test_the_views_are_a_plain_recomputation(
    recorder: Recorder, database: TestDatabase, seed: int
) -> None:
    chance = random.Random(seed)
    for _ in random_story(recorder, chance):
        if chance.random() < 0.3:
            hub_load(recorder.branch, database)
    hub_load(recorder.branch, database)
    hub_load(recorder.branch, database, schema="at_once")
    for statement in (
        "select reconciler, commit_id, period, began from {}_v1.deployment order by 1, 2, 3",
        "select * from {}_v1.outcome order by 1",
    ):
        by_pieces, at_once = (
            database.rows(statement.format(name)) for name in ("kalypso_hub", "at_once")
        )
        assert by_pieces == at_once != []
    replay = recorder.replay()
    wanted: dict[str, list[DesiredPeriod]] = {}
    for period in replay.desired():
        if period.line.workload:
            wanted.setdefault(str(period.target), []).append(period)
    running = [each for each in replay.real() if each.line.target]
    by_period: dict[tuple[str, int], dict[str, RealPeriod]] = {}
    expected_state = []
    for each in sorted(running, key=lambda each: each.line.since):
        found = owners(each, wanted.get(each.line.target, []))
        for owner in found:
            key = (each.line.target, owner.line.number)
            by_period.setdefault(key, {})[each.line.cluster] = each
        if each.until is None:
            newest = found[-1].line if found else None
            now = wanted[each.line.target][-1].line
            commit = newest.commit if newest else each.line.commit
            expected_state.append(
                (
                    *(now.name, each.line.cluster, now.version if now.content else None),
                    *(newest.version if newest else None, each.line.status, each.line.since),
                    commit,
                )
            )
    assert database.rows(
        "select target, cluster, desired_version, deployed_version, status, since, gitops_commit"
        " from state order by 1, 2"
    ) == sorted(expected_state, key=lambda row: row[:2])
    expected_history = [
        (line.name, line.version, line.commit, *counts(by_period.get((key, line.number), {})))
        for key, periods in wanted.items()
        for line in (each.line for each in periods)
        if line.content
    ]
    assert database.rows(
        "select target, version, gitops_commit, success, failure, in_progress from target_history"
        " order by target, from_"
    ) == sorted(expected_history, key=lambda row: (row[0], row[2]))
    check_upstream(database, replay_current(running, wanted))


def replay_current(
    running: Sequence[RealPeriod], wanted: dict[str, list[DesiredPeriod]]
) -> list[Any]:
    """Return the numbers of current reconcilers by target, version and status."""
    rows: dict[Any, int] = {}
    for each in running:
        periods = wanted[each.line.target]
        if each.until is None and periods[-1].line.content:
            found = owners(each, periods)
            status: Any = each.line.status
            status = status if status in {"success", "failure"} else "in_progress"
            row = (found[-1].line.version, status) if found else (None, None)
            key = (periods[-1].line.name, *row)
            rows[key] = rows.get(key, 0) + 1
    return [(*key, number) for key, number in rows.items()]


def check_upstream(database: TestDatabase, expected: list[Any]) -> None:
    found = database.rows(DEPLOYED)
    assert sorted(found, key=str) == sorted(expected, key=str)
    times = "select reconciler_id, count(*), count(distinct created_on) from deployment group by 1"
    assert all(number == different for _, number, different in database.rows(times))
    times = times.replace("reconciler_id", "deployment_target_id").replace(
        "deployment ", "deployment_assignment "
    )
    assert all(number == different for _, number, different in database.rows(times))


def counts(clusters: dict[str, RealPeriod]) -> tuple[int, int, int]:
    statuses = [each.line.status for each in clusters.values()]
    success, failure = statuses.count("success"), statuses.count("failure")
    return success, failure, len(statuses) - success - failure


def test_a_role_may_read_the_views_after_each_load(
    recorder: Recorder, database: TestDatabase
) -> None:
    story(recorder)
    database.execute('drop role if exists "a reader"; create role "a reader" login')
    done = call_load(recorder, database, "--grant-to", "a reader")
    assert (done.returncode, done.stderr) == (0, ""), done.stderr
    for _ in range(2):
        with psycopg.connect(database.url.replace("user=postgres", "user='a reader'")) as reader:
            assert reader.execute("select count(*) from kalypso_hub.state").fetchall() == [(2,)]
            with pytest.raises(psycopg.errors.InsufficientPrivilege):
                reader.execute("select * from kalypso_hub_v1.period")
        database.execute("update kalypso_hub_v1.loaded set version = 'another'")
        hub_load(recorder.branch, database, roles=["a reader"])
    done = call_load(recorder, database, "--grant-to", 'nobody"; drop table x')
    assert done.returncode == 1
    assert 'role "nobody"; drop table x" does not exist' in done.stderr


@breaks("tables of another version stay", turned(loaded_head, "of == version()", "True"))
@breaks("a rewritten record is added", turned(record_log, "log.continues", "True"))
def test_another_version_and_a_rewritten_record_are_loaded_anew(
    recorder: Recorder, database: TestDatabase
) -> None:
    story(recorder)
    before = git(recorder.folder, "rev-parse", f"{BRANCH}~2").strip()
    hub_load(recorder.branch, database, head=before)
    earlier = everything(database)
    hub_load(recorder.branch, database)
    expected = everything(database)
    database.execute("update kalypso_hub_v1.loaded set version = 'x'; drop view kalypso_hub.host")
    database.execute("alter table kalypso_hub_v1.period add column foreign_to_us text")
    hub_load(recorder.branch, database)
    assert everything(database) == expected
    assert len(database.rows("select name from host")) == 2
    hub_load(recorder.branch, database, head=before)
    assert everything(database) == earlier


def everything(database: TestDatabase) -> list[list[Any]]:
    columns = {
        "cluster_history": "environment, cluster, status, from_, until",
        "target_history": "environment, target, version, from_, until",
        "delivery_figures": "*",
    }
    return [
        database.rows(f"select {names} from {view} order by {names.replace('*', '1')}")
        for view, names in columns.items()
    ]


def test_a_view_of_others_is_named_and_not_dropped(
    recorder: Recorder, database: TestDatabase
) -> None:
    story(recorder)
    hub_load(recorder.branch, database)
    database.execute("create view public.mine as select * from kalypso_hub.state")
    database.execute("update kalypso_hub_v1.loaded set version = 'x'")
    done = call_load(recorder, database)
    assert done.returncode == 1
    assert "view public.mine depends on view kalypso_hub.state" in done.stderr
    assert len(database.rows("select * from public.mine")) == 2


def test_each_control_plane_has_a_schema(recorder: Recorder, database: TestDatabase) -> None:
    story(recorder)
    hub_load(recorder.branch, database)
    hub_load(recorder.branch, database, schema="kalypso_hub_europe")
    union = " union all ".join(
        f"select cluster from {name}.state" for name in ("kalypso_hub", "kalypso_hub_europe")
    )
    assert len(database.rows(union)) == 4
    assert call_load(recorder, database, "--schema", "public; drop").returncode == 2


def kill(_: PostgresDatabase) -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def end_connection(tables: PostgresDatabase) -> None:
    own = tables._connection.info
    with psycopg.connect(own.dsn) as other:
        other.execute("select pg_terminate_backend(%s, 60000)", [own.backend_pid])


def committed_early(real: Callable[..., Any], tables: PostgresDatabase, *given: Any) -> Any:
    tables._connection.commit()
    tables.begin()
    return real(tables, *given)


@breaks(
    "a load is two transactions", replaced(PostgresDatabase.publish, committed_early), case="kill"
)
@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")  # pytest-xdist has threads
@pytest.mark.parametrize("end", [kill, end_connection])
def test_killed_at_any_statement_readers_see_the_old_state(
    recorder: Recorder,
    database: TestDatabase,
    monkeypatch: pytest.MonkeyPatch,
    end: Callable[[PostgresDatabase], None],
) -> None:
    """Killed processes load what is new, and ended connections load everything anew."""
    commits = story(recorder)
    hub_load(recorder.branch, database)
    before = state(database)
    recorder.run("Drone-1", DEV, "a", "failure", commit=commits["a"])
    recorder.look()
    if end is end_connection:
        database.execute("update kalypso_hub_v1.loaded set version = 'x'")
    statements: list[str] = []
    killed_at = 0

    def counted(name: str) -> None:
        method = getattr(PostgresDatabase, name)

        def call(self: PostgresDatabase, *arguments: Any) -> Any:
            statements.append(name)
            if len(statements) == killed_at:
                if "publish" not in statements:
                    assert state(database) == before, "readers need not wait"
                end(self)
            return method(self, *arguments)

        monkeypatch.setattr(PostgresDatabase, name, call)

    for name in ("rows", "script", "each", "insert", "publish"):
        counted(name)
    while True:
        killed_at += 1
        if ends_well(lambda: hub_load(recorder.branch, database)):
            break
        assert state(database) == before, killed_at
    assert killed_at > 30
    assert state(database)[0] == ("Drone-1", "0.0.1", "failure", "current")


def ends_well(call: Callable[[], None]) -> bool:
    """Call in a process of its own, which may be killed or refused."""
    if pid := os.fork():
        status = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
        assert status in {0, 1, -signal.SIGKILL}
        return status == 0
    status = 2
    try:
        call()
        status = 0
    except KalypsoError:
        status = 1
    finally:
        os._exit(status)


def unlocked(
    real: Callable[..., Any], tables: PostgresDatabase, statement: str, *given: Any
) -> Any:
    return [] if "advisory" in statement else real(tables, statement, *given)


@breaks("loaders do not wait", replaced(PostgresDatabase.rows, unlocked))
def test_a_loader_waits_for_another_one_of_its_schema(database: TestDatabase) -> None:
    with connect(database.url, "", {}) as first, connect(database.url, "", {}) as second:
        PostgresDatabase(first, "kalypso_hub").begin()
        second.execute("set local lock_timeout = '10ms'")
        PostgresDatabase(second, "kalypso_hub_europe").begin()
        with pytest.raises(psycopg.errors.LockNotAvailable):
            PostgresDatabase(second, "kalypso_hub").begin()


def test_two_loaders_at_once(recorder: Recorder, database: TestDatabase) -> None:
    story(recorder)
    command = [
        *(*PROGRAM, "hub", "load", "--record", str(recorder.folder)),
        *("--database-url", database.url, "--output", "json"),
    ]
    started = [
        subprocess.Popen(command, stderr=subprocess.PIPE, stdout=subprocess.PIPE) for _ in "12"
    ]
    ends = [process.communicate() for process in started]
    assert [process.returncode for process in started] == [0, 0], ends
    assert sorted(b'"changed": true' in output for output, _ in ends) == [False, True]
    assert len(state(database)) == 2


def test_hub_file_continues_and_refuses_other_files(recorder: Recorder, tmp_path: Path) -> None:
    out = tmp_path / "hub.sqlite"
    story(recorder)

    def call(path: Path) -> Any:
        return call_kalypso("hub", "file", "--record", recorder.folder, "--out", path)

    assert "is loaded up to" in call(out).stdout
    assert "is already loaded" in call(out).stdout
    recorder.lose("drone-2")
    recorder.look()
    done = call(out)
    assert "3 clusters, 11 periods, 5 desired periods" in done.stdout
    with sqlite3.connect(out) as connection:
        (gone,) = connection.execute("select count(*) from cluster where gone_at is not null")
    connection.close()
    assert gone == (2,)
    for content in (b"a text of another program", b""):
        other = tmp_path / "other"
        other.write_bytes(content)
        assert call(other).returncode == (2 if content else 0)
    with sqlite3.connect(tmp_path / "mine") as connection:
        connection.execute("create table mine (name text)")
    connection.close()
    done = call(tmp_path / "mine")
    assert done.returncode == 2
    assert "`kalypso hub file` did not write " in done.stderr
    assert call(tmp_path / "no" / "folder").returncode == 1


@breaks("a password may be in the URL", turned(settings_of, 'settings.get("password")', "None"))
@breaks("a password travels in the clear", turned(settings_of, "mode not in ENCRYPTED", "False"))
@pytest.mark.parametrize(
    ("url", "fault"),
    [
        ("postgresql://user:secret@localhost/hub", "has a password"),
        ("host=/tmp password=secret", "has a password"),
        ("postgresql://db.acme.example/hub?password=secret", "has a password"),
        ("postgresql://db.acme.example/hub?sslmode=disable", "in the clear"),
        ("host=db.acme.example sslmode=prefer", "in the clear"),
        ("host=localhost,db.acme.example sslmode=allow", "in the clear"),
        ("host=localhost hostaddr=10.0.0.1 sslmode=disable", "in the clear"),
        ("service=hub sslmode=disable", "in the clear"),
        ("mysql://db/hub", "is no URI"),
        ("host=a secret=b", "is no URI"),
    ],
)
def test_a_url_that_gives_the_password_away_is_refused(url: str, fault: str) -> None:
    with pytest.raises(UsageError, match=fault) as refused:
        settings_of(url, {})
    assert "secret" not in str(refused.value)


@pytest.mark.parametrize(
    ("url", "environment", "mode"),
    [
        ("host=/run/postgresql dbname=hub", {}, None),
        ("postgresql://hub@127.0.0.1/hub", {}, None),
        ("postgresql://hub@[::1]:5433/hub", {}, None),
        ("dbname=hub", {}, None),
        ("dbname=hub", {"PGHOST": "db.acme.example"}, "verify-full"),
        ("host=db.acme.example", {}, "verify-full"),
        ("host=db.acme.example sslmode=require", {}, "require"),
    ],
)
def test_another_machine_is_verified(
    url: str, environment: dict[str, str], mode: str | None
) -> None:
    settings = settings_of(url, environment)
    assert settings.get("sslmode") == mode
    assert ("sslrootcert" in settings) == (mode == "verify-full")


def test_the_password_is_in_no_message(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(**settings: str) -> None:
        raise psycopg.OperationalError(f"no entry for {settings['password']}")

    monkeypatch.setattr(psycopg, "connect", refuse)
    done = call_kalypso(
        *("hub", "load", "--record", "x", "--database-url", "host=/tmp"),
        variables={"KALYPSO_DATABASE_PASSWORD": "hunter2hunter2"},
    )
    assert "hunter2" not in done.stdout + done.stderr
