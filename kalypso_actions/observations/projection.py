"""The log of the record → tables in a database, loaded as far as they are not yet there.

load(database, read, head, record)

The tables are in `projection.sql`, for SQLite and PostgreSQL. They are never migrated: those of
another version, and those of a record that was rewritten, are dropped and loaded anew. The caller
begins and ends the transaction, so that readers see the old or the new tables.
"""

from __future__ import annotations

import hashlib
import re
import sqlite3
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cache
from importlib.resources import files
from typing import Any, Final, NamedTuple, Protocol

from kalypso_actions.errors import KalypsoError, Location
from kalypso_actions.model.cluster_reports import cluster_name
from kalypso_actions.observations.desired import renames
from kalypso_actions.observations.record import (
    DesiredLine,
    Observation,
    Place,
    PromotionLine,
    RealLine,
    RecordedEnvironment,
    parse_line,
)

LOADER: Final = 2
"""The version of this module: another one loads everything anew."""

_UNSTORABLE: Final = re.compile(r"((?<!\\)(?:\\\\)*)\\u(?:0000|d[89a-f][0-9a-f]{2})")
"""The record's escapes of what no database stores: NUL, and halves of a pair in UTF-16."""

MOST_PENDING: Final = 50_000
"""Ended periods that are written at once."""

Row = Sequence[Any]


class Database(Protocol):
    """SQLite or PostgreSQL, in a transaction. Parameters of statements are `?`."""

    has_views: bool
    """Whether the views of `hub.sql` read the tables."""

    def rows(self, statement: str, *parameters: object) -> list[Any]:
        """Execute a statement and return its rows."""

    def script(self, text: str) -> None:
        """Execute several statements."""

    def each(self, statement: str, rows: Sequence[Row]) -> None:
        """Execute a statement for each row of parameters."""

    def insert(self, table: str, columns: Sequence[str], rows: Sequence[Row]) -> None:
        """Insert many rows."""

    def create(self, statements: str) -> None:
        """Create the tables, instead of those that there are."""

    @property
    def has_tables(self) -> bool:
        """Whether there are tables."""


class Step(NamedTuple):
    """The lines of a table that a commit of the record took away and brought, unparsed."""

    place: Place
    removed: Sequence[str]
    added: Sequence[str]


class Log(NamedTuple):
    """The commits of the record, the oldest first, each with its id and its changes.

    `continues`: they follow the commit after which they were asked; else these are all commits.
    """

    continues: bool
    commits: Iterable[tuple[str, Iterable[Step]]]


def tables() -> str:
    """Return the statements that create the tables."""
    return files(__package__).joinpath("projection.sql").read_text()


def views() -> str:
    """Return the statements that create the views of PostgreSQL in the schema `kalypso_hub`."""
    return files(__package__).joinpath("hub.sql").read_text()


@cache
def version() -> str:
    """Return the version of the tables, the views and this module."""
    return f"{LOADER}-{hashlib.sha256((tables() + views()).encode()).hexdigest()[:16]}"


def loaded_head(database: Database) -> str:
    """Return the commit of the record up to which the tables are loaded; "" for none."""
    rows = database.rows("select * from loaded") if database.has_tables else ()
    return next((str(head) for of, head in rows if of == version()), "")


def load(database: Database, read: Callable[[str, str], Log], head: str, record: str) -> bool:
    """Load the commits up to `head` that are not yet there, and return whether there were some.

    `read` returns the log up to a commit, after another one; `record` is the name for errors.
    Raises KalypsoError for a record that cannot be read.
    """
    before = loaded_head(database)
    if before == head:
        return False
    log = read(head, before)
    if not before:
        database.create(tables())
    elif not log.continues:
        for table in re.findall(r"create table (\w+)", tables()):
            database.script(f"delete from {table}")  # noqa: S608 - a name of projection.sql
    loader = _Loader(database)
    for commit, steps in log.commits:
        try:
            loader.add(steps)
        except ValueError as error:
            raise KalypsoError(
                f"the commit {commit[:7]} has a line that is none of the record: {error}",
                Location(record),
                "restore the branch from the commit before",
            ) from error
    loader.finish()
    database.script("delete from loaded")
    database.insert("loaded", ("version", "head"), [(version(), head)])
    return True


class SqliteDatabase:
    """A database in SQLite; the connection is in no transaction yet."""

    has_views = False

    def __init__(self, connection: sqlite3.Connection) -> None:
        connection.isolation_level = None
        # SQLite's own one knows ASCII alone; names are compared with those that Python lowers.
        connection.create_function("lower", 1, _lower, deterministic=True)
        self.connection = connection

    def rows(self, statement: str, *parameters: object) -> list[Any]:
        """Execute a statement and return its rows."""
        return self.connection.execute(statement, parameters).fetchall()

    def script(self, text: str) -> None:
        """Execute several statements; `executescript` would end the transaction."""
        lines = (line for line in text.splitlines() if not line.startswith("--"))
        for statement in "\n".join(lines).split(";"):
            self.connection.execute(statement)

    def each(self, statement: str, rows: Sequence[Row]) -> None:
        """Execute a statement for each row of parameters."""
        self.connection.executemany(statement, rows)

    def insert(self, table: str, columns: Sequence[str], rows: Sequence[Row]) -> None:
        """Insert many rows."""
        marks = ", ".join("?" * len(columns))
        statement = f"insert into {table} ({', '.join(columns)}) values ({marks})"  # noqa: S608 - names of this module
        self.each(statement, rows)

    def create(self, statements: str) -> None:
        """Create the tables, instead of those that there are."""
        for (name,) in self.rows("select name from sqlite_master where type = 'table'"):
            self.script(f'drop table "{name}"')
        self.script(statements)

    @property
    def has_tables(self) -> bool:
        """Whether there are tables."""
        return bool(self.rows("select 1 from sqlite_master where name = 'loaded'"))


def _lower(text: str | None) -> str | None:
    return None if text is None else text.lower()


class _Table:
    """The rows of a table by their key; it writes the new and the changed ones."""

    def __init__(
        self, database: Database, name: str, key: Sequence[str], values: Sequence[str] = ()
    ) -> None:
        self._database, self._name, self._key, self._values = database, name, key, values
        self._width = len(key)
        columns = ", ".join(("id", *key, *values))
        self.rows: dict[Row, tuple[int, Row]] = {
            tuple(row[1 : 1 + self._width]): (row[0], tuple(row[1 + self._width :]))
            for row in database.rows(f"select {columns} from {name}")  # noqa: S608 - names of this module
        }
        self._next = max((number for number, _ in self.rows.values()), default=0) + 1
        self._first_new = self._next
        self._changed: set[Row] = set()

    def put(self, *row: Any) -> int:
        """Add a row, or change the values of the one with this key, and return its id."""
        key, values = row[: self._width], row[self._width :]
        known = self.rows.get(key)
        if known is None:
            self.rows[key] = self._next, values
            self._next += 1
            return self._next - 1
        if known[1] != values:
            self.rows[key] = known[0], values
            self._changed.add(key)
        return known[0]

    def rename(self, old: Row, new: Row) -> bool:
        """Give a row another key; return whether it exists, and no other one has that key."""
        if old not in self.rows or new in self.rows:
            return False
        self.rows[new] = self.rows.pop(old)
        self._changed.add(new)
        return True

    def write(self) -> None:
        """Write the rows."""
        new, changed = [], []
        for key, (number, values) in self.rows.items():
            if number >= self._first_new:
                new.append((number, *key, *values))
            elif key in self._changed:
                changed.append((*key, *values, number))
        self._database.insert(self._name, ("id", *self._key, *self._values), new)
        if changed:
            columns = *self._key, *self._values
            settings = ", ".join(f"{column} = ?" for column in columns)
            statement = f"update {self._name} set {settings} where id = ?"  # noqa: S608 - names of this module
            self._database.each(statement, changed)


class _Pair(NamedTuple):
    """Something of a target whose ownership must be computed anew."""

    environment: int
    follows: str
    content: str


@dataclass(slots=True)
class _Latest:
    """The latest period of a reconciler; `until` is set while the cluster is gone."""

    id: int
    number: int
    content: str
    status: str
    from_: int
    nth: int
    until: int | None
    commit: str
    reason: str
    relation: str


_PERIOD: Final = (
    *("id", "reconciler", "number", "content", "commit_id", "status", "reason", "relation"),
    *("from_", "nth", "until"),
)


LATEST: Final = """
select p.reconciler, p.id, p.number, content, status, from_, nth, until, commit_id, reason, relation
from period p join (
    select reconciler, max(number) as number from period group by reconciler
) as newest on newest.reconciler = p.reconciler and newest.number = p.number
"""


class _Loader:
    """Reads the commits of the record, the oldest first, and writes the tables at the end."""

    def __init__(self, database: Database) -> None:
        def table(name: str, key: str, values: str = "") -> _Table:
            return _Table(database, name, key.split(), values.split())

        self._database = database
        self._environments = table("environment", "name", "position repository branch")
        self._workspaces = table("workspace", "name")
        self._applications = table("application", "workspace name")
        self._workloads = table("workload", "application name")
        self._targets = table(
            "target",
            "environment repository_key branch path",
            "follows shown workload name repository",
        )
        self._target_names = table("target_name", "target name")
        self._versions = table("version", "workload version source_commit")
        self._desired = table(
            "desired",
            "target number",
            "version content commit_id configuration edited from_ nth until",
        )
        self._clusters = table("cluster", "key", "spelled name")
        self._reconcilers = table("reconciler", "cluster environment cluster_type name follows")
        self._promotions = table(
            "promotion",
            "environment commit_id state at",
            "description author subject pull_request proposed_at merged_at merged_by"
            " committed_at started_at deployed_at failed_at position",
        )
        self._observations = table("observation", "environment at", "complete")
        self._dimensions = (
            *(self._environments, self._workspaces, self._applications, self._workloads),
            *(self._targets, self._target_names, self._versions, self._desired, self._clusters),
            *(self._reconcilers, self._promotions, self._observations),
        )
        self._numbers: dict[int, list[int]] = {}
        for target, number in self._desired.rows:
            self._numbers.setdefault(target, []).append(number)
        self._latest: dict[int, _Latest] = {
            row[0]: _Latest(*row[1:]) for row in database.rows(LATEST)
        }
        self._first_new = self._next = (
            database.rows("select coalesce(max(id), 0) from period")[0][0] + 1
        )
        self._periods: dict[int, Row] = {}
        """The new periods that have not been written, and the old ones that have changed."""
        self._touched: set[_Pair] = set()
        self._touched_targets: dict[int, tuple[int, str]] = {}

    def add(self, steps: Iterable[Step]) -> None:
        """Add the changes of one commit. Raises ValueError for a line that does not parse."""
        by_kind: dict[str, list[Step]] = {}
        for step in steps:
            by_kind.setdefault(step.place.kind, []).append(step)
        for step in by_kind.get("desired", ()):
            for old, new in renames(step.removed, step.added):
                self._rename(self._environment(step.place.environment), old, new)
        for kind, add in self._adders.items():
            for step in by_kind.get(kind, ()):
                for text in step.added:
                    add(self, step, _UNSTORABLE.sub("\\1\ufffd", text) if "\\u" in text else text)
        if len(self._periods) > MOST_PENDING:
            self._write_periods(only_ended=True)

    def _rename(self, environment: int, old: DesiredLine, new: DesiredLine) -> None:
        """Let the target of a renamed repository, and what follows it, stay the same."""
        is_known = self._targets.rename((environment, *old.target), (environment, *new.target))
        if not (is_known and old.workload):
            return
        for key in list(self._reconcilers.rows):
            if (key[1], key[4]) == (environment, old.followed):
                self._reconcilers.rename(key, (*key[:4], new.followed))
        self._touched = {
            pair._replace(follows=new.followed)
            if (pair.environment, pair.follows) == (environment, old.followed)
            else pair
            for pair in self._touched
        }

    def _environment(self, name: str) -> int:
        known = self._environments.rows.get((name,))
        return known[0] if known else self._environments.put(name, None, None, None)

    def _add_environment(self, _: Step, text: str) -> None:
        line = parse_line(RecordedEnvironment, text)
        self._environments.put(*line)

    def _add_observation(self, _: Step, text: str) -> None:
        line = parse_line(Observation, text)
        environment = self._environment(line.environment)
        self._observations.put(environment, _seconds(line.at), int(line.complete))

    def _add_promotion(self, step: Step, text: str) -> None:
        line = parse_line(PromotionLine, text)
        self._promotions.put(
            self._environment(step.place.environment),
            *(line.commit, line.state, _seconds(line.at)),
            *(line.description, line.author, line.subject, line.pull_request),
            *(_seconds(line.proposed_at), _seconds(line.merged_at), line.merged_by),
            *(_seconds(line.committed_at), _seconds(line.started_at)),
            *(_seconds(line.deployed_at), _seconds(line.failed_at), line.position),
        )

    def _add_desired(self, step: Step, text: str) -> None:
        line = parse_line(DesiredLine, text)
        environment = self._environment(step.place.environment)
        workload = None
        if line.workload:
            application = self._applications.put(
                self._workspaces.put(line.workspace), line.application
            )
            workload = self._workloads.put(application, line.workload)
        target = self._targets.put(
            environment,
            *line.target,
            line.followed,
            self._environment(line.environment) if line.environment else environment,
            workload,
            line.name,
            line.repository,
        )
        for name in filter(None, (line.name, line.workload)):
            self._target_names.put(target, name)
        version = None
        if line.content:
            version = self._versions.put(workload, line.version, line.source_commit)
        known = self._desired.rows.get((target, line.number))
        if known is None:
            self._numbers.setdefault(target, []).append(line.number)
        nth, until = known[1][-2:] if known else (0, None)
        self._desired.put(
            *(target, line.number, version, line.content, line.commit),
            *(line.configuration_commit, int(line.edited), _seconds(line.since), nth, until),
        )
        self._touched_targets[target] = environment, line.followed
        self._touched.add(_Pair(environment, line.followed, line.content))

    def _add_real(self, step: Step, text: str) -> None:
        line = parse_line(RealLine, text)
        environment = self._environment(step.place.environment)
        cluster = self._clusters.put(line.cluster.lower(), line.cluster, cluster_name(line.cluster))
        follows = line.target or step.place.cluster_type
        reconciler = self._reconcilers.put(
            cluster, environment, step.place.cluster_type, line.configuration, follows
        )
        since = _seconds(line.since)
        latest = self._latest.get(reconciler)
        is_open = latest is not None and latest.until is None
        if (
            latest
            and is_open
            and (latest.content, latest.status, latest.from_) == (line.content, line.status, since)
        ):
            latest.commit, latest.reason, latest.relation = line.commit, line.reason, line.relation
        else:
            if latest and is_open:
                latest.until = since
                self._put_period(reconciler, latest, environment, follows)
            if line.status == "gone":
                return
            nth = latest.nth + 1 if latest and latest.from_ == since else 0
            number = latest.number + 1 if latest else 1
            latest = self._latest[reconciler] = _Latest(
                *(self._next, number, line.content, line.status, since, nth, None),
                *(line.commit, line.reason, line.relation),
            )
            self._next += 1
        self._put_period(reconciler, latest, environment, follows)

    _adders: Final[Mapping[str, Callable[[_Loader, Step, str], None]]] = {
        "environments": _add_environment,
        "observed": _add_observation,
        "desired-before": _add_desired,
        "desired": _add_desired,
        "real": _add_real,
        "promotions": _add_promotion,
    }

    def _put_period(self, reconciler: int, latest: _Latest, environment: int, follows: str) -> None:
        self._periods[latest.id] = (
            *(latest.id, reconciler, latest.number, latest.content, latest.commit, latest.status),
            *(latest.reason, latest.relation, latest.from_, latest.nth, latest.until),
        )
        self._touched.add(_Pair(environment, follows, latest.content))

    def _write_periods(self, *, only_ended: bool = False) -> None:
        ended = [row for row in self._periods.values() if not only_ended or row[-1] is not None]
        self._database.insert(
            "period", _PERIOD, [row for row in ended if row[0] >= self._first_new]
        )
        changed = [(*row[4:8], row[-1], row[0]) for row in ended if row[0] < self._first_new]
        if changed:
            self._database.each(
                "update period set commit_id = ?, status = ?, reason = ?, relation = ?, until = ?"
                " where id = ?",
                changed,
            )
        for row in ended:
            del self._periods[row[0]]

    def finish(self) -> None:
        """Write the tables, and compute what depends on all of them."""
        for target, pair in self._touched_targets.items():
            self._end_desired(target, *pair)
        for table in self._dimensions:
            table.write()
        self._write_periods()
        self._database.script("drop table if exists touched")
        self._database.script(
            "create temporary table touched (environment integer, follows text, content text)"
        )
        self._database.insert("touched", _Pair._fields, sorted(self._touched))
        self._count("target, version, desired, reconciler, period, promotion, touched")
        self._database.script(TOUCHED_PERIODS)
        self._count("touched_period")
        self._database.script(OWNERSHIP)
        self._count("delivery")
        self._database.script(OUTCOMES)
        if self._database.has_views:
            self._database.script(DEPLOYMENTS)
        self._database.script("drop table touched; drop table touched_period")

    def _count(self, tables: str) -> None:
        """Let PostgreSQL count rows: it plans by statistics, which new tables do not have."""
        if self._database.has_views:
            self._database.script(f"analyze {tables}")

    def _end_desired(self, target: int, environment: int, follows: str) -> None:
        """Set the ends of a target's desired periods."""
        numbers = sorted(self._numbers[target])
        rows = [self._desired.rows[target, number][1] for number in numbers]
        ends = [*(row[5] for row in rows[1:]), None]
        nth, before = 0, None
        for number, row, until in zip(numbers, rows, ends, strict=True):
            nth = nth + 1 if row[5] == before else 0
            before = row[5]
            if row[6:] != (nth, until):
                self._desired.put(target, number, *row[:6], nth, until)
                self._touched.add(_Pair(environment, follows, row[1]))


def _seconds(time: datetime | None) -> Any:
    return None if time is None else int(time.timestamp())


TOUCHED_PERIODS: Final = """
create temporary table touched_period as
select p.id, p.reconciler, p.content, p.from_, p.until, t.environment, t.follows
from touched t
join reconciler r on r.environment = t.environment and r.follows = t.follows
join period p on p.reconciler = r.id and p.content = t.content;
"""

OWNERSHIP: Final = """
update target set removed_at = (
    select from_ from desired where target = target.id and until is null and content = ''
)
where (environment, follows) in (select environment, follows from touched);

update reconciler set target = (
    select t.id from target t join desired d on d.target = t.id and d.until is null
    where t.environment = reconciler.environment and t.follows = reconciler.follows
    order by case when d.content = '' then 1 else 0 end, d.from_ desc, t.id limit 1
)
where (environment, follows) in (select environment, follows from touched);

update cluster set gone_at = (
    select case when count(*) = count(until) then max(until) end
    from period p join reconciler r on r.id = p.reconciler where r.cluster = cluster.id
)
where id in (
    select cluster from reconciler
    where (environment, follows) in (select environment, follows from touched)
);

delete from delivery where period in (select id from touched_period);

insert into delivery (desired, period)
select d.id, p.id
from touched_period p
join target g on g.environment = p.environment and g.follows = p.follows
join desired d on d.target = g.id and d.content = p.content
where p.content <> ''
    and (d.until is null or p.from_ < d.until) and (p.until is null or d.from_ < p.until);

insert into delivery (desired, period)
select desired, period from (
    select (
        select d.id from target g join desired d on d.target = g.id
        where g.environment = p.environment and g.follows = p.follows
            and d.content = p.content and d.from_ <= p.from_
        order by d.from_ desc, d.number desc limit 1
    ) as desired, p.id as period
    from touched_period p
    where p.content <> '' and not exists (select 1 from delivery where delivery.period = p.id)
) as earlier
where desired is not null;
"""
"""What follows from the touched pairs: ownership by rule 6."""

DEPLOYMENTS: Final = """
delete from deployment where period in (select id from touched_period);

insert into deployment (id, reconciler, commit_id, period, began)
select (select coalesce(max(id), 0) from deployment) + row_number() over (),
    reconciler, commit_id, id, began
from (
    select distinct on (reconciler, content, commit_id) reconciler, commit_id, id,
        second * 1000000 + nth * 1000 + same_second - 1 as began
    from (
        select p.id, p.reconciler, p.content, coalesce(d.commit_id, p.commit_id) as commit_id,
            greatest(p.from_, d.from_) as second,
            case when d.from_ > p.from_ then 0 else p.nth end as nth,
            row_number() over (
                partition by p.id, greatest(p.from_, d.from_) order by d.from_, d.number, d.id
            ) as same_second
        from touched_period c
        join period p on p.id = c.id
        left join delivery y on y.period = p.id
        left join desired d on d.id = y.desired
    ) as each_period
    order by reconciler, content, commit_id, began desc
) as newest;
"""
"""What only the views read: it follows from ownership of the touched pairs, too."""

OUTCOME: Final = """
select desired, count(*) filter (where nth = 1 and status = 'success') as success,
    count(*) filter (where nth = 1 and status = 'failure') as failure,
    count(*) filter (where nth = 1 and status not in ('success', 'failure')) as in_progress,
    min(failed_at) as failed_at, max(well_at) as well_at,
    min(case when status = 'failure' then 0 else 1 end) as ended_well,
    max(last_from) as last_from
from (
    select f.desired, l.status, f.failed_at, f.last_from, row_number() over (
            partition by f.desired, r.cluster order by l.from_ desc, l.nth desc, l.number desc
        ) as nth,
        case when f.failed is null then f.well_at else (
            select min(s.from_) from period s join delivery y on y.period = s.id
            where s.reconciler = f.reconciler and s.number > f.failed and s.number <= f.last
                and s.status = 'success' and y.desired = f.desired
        ) end as well_at
    from (
        select y.desired, p.reconciler, max(p.number) as last, max(p.from_) as last_from,
            max(p.number) filter (where p.status = 'failure') as failed,
            min(p.from_) filter (where p.status = 'failure') as failed_at,
            min(p.from_) filter (where p.status = 'success') as well_at
        from {desired} d cross join delivery y cross join period p
        where y.desired = d.id and p.id = y.period and {only}
        group by y.desired, p.reconciler
    ) f
    join period l on l.reconciler = f.reconciler and l.number = f.last
    join reconciler r on r.id = f.reconciler
) o
group by desired
"""
"""What became of desired periods, as in the table `outcome`."""

OUTCOME_UNTIL: Final = f"""
select * from outcome where last_from <= ? union all {
    OUTCOME.format(
        desired="(select desired as id from outcome where last_from > ?)", only="p.from_ <= ?"
    )
}
"""  # noqa: S608 - texts of this module
"""What had become of them at a moment, which is given three times."""

OUTCOMES: Final = f"""
create temporary table touched_desired as
select d.id from touched t
join target g on g.environment = t.environment and g.follows = t.follows
join desired d on d.target = g.id and d.content = t.content;

delete from outcome where desired in (select id from touched_desired);

insert into outcome {OUTCOME.format(desired="touched_desired", only="true")};

drop table touched_desired;
"""  # noqa: S608 - texts of this module
"""It follows from ownership of the touched pairs."""
