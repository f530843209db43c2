"""`kalypso hub file` and `kalypso hub load`: load what is new of the record into a database."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import closing
from datetime import UTC, datetime
from functools import partial
from typing import Final

from kalypso_actions.clients.postgresql import PostgresDatabase, connect
from kalypso_actions.commands.shared.context import CommandContext
from kalypso_actions.commands.shared.record import (
    RecordBranch,
    existing_head,
    open_sqlite,
    record_branch,
    record_log,
)
from kalypso_actions.errors import KalypsoError, UsageError
from kalypso_actions.inputs.chain import HubFileInputs, HubLoadInputs
from kalypso_actions.observations import delivery
from kalypso_actions.observations.delivery import Figure, recorded_since, window_before
from kalypso_actions.observations.projection import (
    Database,
    SqliteDatabase,
    load,
    loaded_head,
    views,
)
from kalypso_actions.observations.questions import last_look, seconds_of
from kalypso_actions.report.hub_document import HubDocument


def hub_file(inputs: HubFileInputs, context: CommandContext) -> HubDocument:
    """Load the record into a SQLite file.

    Raises UsageError for a file that is something else, KalypsoError without a record, and for one
    that cannot be read or written.
    """
    branch = record_branch(context, inputs.record)
    head = existing_head(branch)
    path = inputs.out
    try:
        before = _loaded_head(str(path))
        with closing(open_sqlite(str(path), branch, head)) as connection:
            return _document(branch, head, SqliteDatabase(connection), changed=before != head)
    except (sqlite3.Error, OSError) as error:
        raise KalypsoError(f"{path} cannot be written: {error}") from error


def _loaded_head(path: str) -> str:
    """Return the commit up to which a file is loaded; "" for a new one.

    Raises UsageError for a file that is something else.
    """
    with closing(sqlite3.connect(path)) as connection:
        database = SqliteDatabase(connection)
        try:
            names = database.rows("select name from sqlite_master")
            if database.has_tables or not names:
                return loaded_head(database)
        except sqlite3.DatabaseError as error:
            if isinstance(error, sqlite3.OperationalError):
                raise
        raise UsageError(
            f"`kalypso hub file` did not write {path}", advice="name another file with --out"
        )


def hub_load(inputs: HubLoadInputs, context: CommandContext) -> HubDocument:
    """Load the record into PostgreSQL, in one transaction, and let `grant_to` read the views.

    Raises UsageError for a URL with a password or without TLS, KalypsoError without a record, and
    for what the record or the server refuses.
    """
    branch = record_branch(context, inputs.record)
    head = existing_head(branch)
    password = inputs.database_password.get_secret_value()
    with connect(inputs.database_url, password, context.runtime.environment) as connection:
        database = PostgresDatabase(connection, inputs.schema_name, views())
        database.begin()
        document = load_postgres(database, branch, head, inputs.grant_to)
        connection.commit()
    return document


def load_postgres(
    database: PostgresDatabase, branch: RecordBranch, head: str, roles: Sequence[str] = ()
) -> HubDocument:
    """Load what is new, and what follows from it. The transaction has begun."""
    changed = load(database, partial(record_log, branch), head, branch.name)
    figures = list(_figure_rows(database))
    database.publish(roles)
    database.script("delete from delivery_figure")
    database.insert("delivery_figure", FIGURE_COLUMNS, figures)
    return _document(branch, head, database, changed=changed)


FIGURE_COLUMNS: Final = (
    *("environment", "since", "deployments", "ended_well", "failed_deployments", "per_week"),
    *("changes", "failed_changes", "change_failure_rate"),
    *("lead_time_n", "lead_time_median", "lead_time_p90"),
    *("recovery_n", "recovery_median", "recovered_by_clusters"),
)


def _figure_rows(database: Database) -> Iterator[Sequence[object]]:
    """Yield the figures of each environment at the newest look, in `FIGURE_COLUMNS`."""
    recorded = recorded_since(database)
    newest = last_look(database, datetime.max.replace(tzinfo=UTC))
    if not recorded or not newest:
        return
    since = seconds_of(max(recorded, window_before(newest)))
    for each in delivery.figures(database, newest, parts=False):
        lead, recovery = each.lead_time or Figure(), each.recovery
        failed, changes = each.failed_deployments, each.change_failures
        yield (
            *(each.scope.name, since, failed.n, each.ended_well, failed.part, each.per_week),
            *(changes.n, changes.part, changes.share),
            *(lead.n, *lead.median_and_p90),
            *(recovery.n, recovery.median_and_p90[0], each.recovered_by_clusters),
        )


def _document(branch: RecordBranch, head: str, database: Database, *, changed: bool) -> HubDocument:
    (counts,) = database.rows(
        "select (select count(*) from cluster), (select count(*) from period),"
        " (select count(*) from desired)"
    )
    return HubDocument(
        record=branch.name,
        commit=head,
        changed=changed,
        clusters=counts[0],
        cluster_periods=counts[1],
        desired_periods=counts[2],
    )
