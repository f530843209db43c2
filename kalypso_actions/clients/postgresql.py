"""PostgreSQL, by psycopg: a database that others read while a transaction writes it.

with connect("host=db.acme.example dbname=hub user=writer", password, environment) as connection:
    database = PostgresDatabase(connection, "kalypso_hub")

The password is apart from the URL: arguments of processes and logs may show the URL.
"""

from __future__ import annotations

import hashlib
import ipaddress
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Final

import certifi

from kalypso_actions.errors import KalypsoError, MissingExtraError, UsageError

if TYPE_CHECKING:
    import psycopg

VERIFIED: Final = "verify-full"
ENCRYPTED: Final = frozenset({"require", "verify-ca", VERIFIED})
"""The modes in which libpq never sends a password in the clear."""

OLDEST: Final = 14_00_00
"""PostgreSQL 14: `split_part` counts from the end, as the hub's dashboards need."""

TIMEOUT: Final = "15"
"""Seconds to connect."""

DEPENDED_ON: Final = "2BP01"
"""https://www.postgresql.org/docs/current/errcodes-appendix.html: dependent objects still exist."""

EXTRA_ADVICE: Final = "pip install 'kalypso-actions[hub]'"


def settings_of(url: str, environment: Mapping[str, str]) -> dict[str, str]:
    """Return libpq's settings of a URI or of keywords and values, with the defaults for TLS.

    Raises UsageError for one that is neither, that has a password, or that would send one in the
    clear; MissingExtraError without psycopg.
    """
    _, conninfo = _psycopg()
    try:
        settings = {key: str(value) for key, value in conninfo.conninfo_to_dict(url).items()}
    except Exception as error:  # psycopg's errors repeat the URL, which may have a password
        raise UsageError(
            "database-url is no URI and no list of keywords and values of libpq",
            advice="write postgresql://user@host/database, or host=… dbname=… user=…",
        ) from error
    if settings.get("password"):
        raise UsageError(
            "database-url has a password, which other users of the machine can read",
            advice="give it as database-password, in a shell as KALYPSO_DATABASE_PASSWORD",
        )
    if not is_loopback(settings, environment):
        mode = settings.setdefault("sslmode", environment.get("PGSSLMODE") or VERIFIED)
        if mode not in ENCRYPTED:
            raise UsageError(
                f"database-url: sslmode={mode} would send the password in the clear",
                advice=f"write sslmode={VERIFIED}, or leave it out",
            )
        if mode == VERIFIED and not environment.get("PGSSLROOTCERT"):
            settings.setdefault("sslrootcert", certifi.where())
    settings.setdefault("connect_timeout", TIMEOUT)
    settings.setdefault("application_name", "kalypso")
    return settings


def is_loopback(settings: Mapping[str, str], environment: Mapping[str, str]) -> bool:
    """Return whether all servers of the settings are on this machine; a Unix socket is."""
    if settings.get("service") or environment.get("PGSERVICE"):
        return False
    hosts = settings.get("hostaddr") or settings.get("host")
    hosts = hosts or environment.get("PGHOSTADDR") or environment.get("PGHOST") or "/"
    return all(map(_is_own_host, hosts.split(",")))


def _is_own_host(host: str) -> bool:
    if host.startswith(("/", "@")) or host in {"", "localhost"}:
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def _psycopg() -> tuple[Any, Any]:
    try:
        import psycopg  # noqa: PLC0415 - an extra
        from psycopg import conninfo  # noqa: PLC0415
    except ImportError as error:
        raise MissingExtraError("PostgreSQL needs psycopg", "hub", EXTRA_ADVICE) from error
    return psycopg, conninfo


@contextmanager
def connect(
    url: str, password: str, environment: Mapping[str, str], *, reads_only: bool = False
) -> Iterator[psycopg.Connection]:
    """Connect, and close at the end; an unfinished transaction is rolled back.

    `environment` are the process's variables, of which libpq takes some, too.

    Raises UsageError as `settings_of`, and KalypsoError for what the server or libpq refuses, also
    while the caller works.
    """
    psycopg, _ = _psycopg()
    settings = settings_of(url, environment)
    if password:
        settings["password"] = password
    try:
        with psycopg.connect(**settings) as connection:
            if connection.info.server_version < OLDEST:
                raise KalypsoError(
                    f"the server is PostgreSQL {connection.info.server_version // 10_000}",
                    advice="use PostgreSQL 14 or later",
                )
            connection.read_only = reads_only
            yield connection
    except psycopg.Error as error:
        raise _refused(error, password) from None


def _refused(error: psycopg.Error, password: str) -> KalypsoError:
    texts = [error.diag.message_primary or str(error), error.diag.message_detail or ""]
    message = " ".join(" ".join(texts).split())
    if password:
        message = message.replace(password, "***")
    advice = error.diag.message_hint or ""
    if error.sqlstate == DEPENDED_ON:
        advice = "drop what depends on the hub's views, load, and create it again"
    return KalypsoError(f"PostgreSQL: {message}", advice=advice)


class PostgresDatabase:
    """The tables in the schema `<schema>_v1`, and the views in `schema`, in one transaction.

    Another loader waits until the transaction ends.
    """

    has_views = True

    def __init__(self, connection: psycopg.Connection, schema: str, views: str = "") -> None:
        """`views` are the statements that create the views in the schema `kalypso_hub`."""
        self._connection = connection
        self.schema = schema
        self._tables = f"{schema}_v1"
        self._new_tables = f"{schema}_v1_new"
        self._is_new = False
        self._views = re.sub(r"\bkalypso_hub\b", schema, views)

    def begin(self) -> None:
        """Lock the schema against other loaders until the end of the transaction."""
        lock = hashlib.sha256(self.schema.encode()).digest()[:8]
        self.rows("select pg_advisory_xact_lock(?)", int.from_bytes(lock, "big", signed=True))
        self._use(self._tables)
        self.script("set local client_min_messages to warning; set local jit to off")

    def read(self) -> None:
        """Read the tables of one moment until the end of the transaction."""
        self.script("set transaction isolation level repeatable read read only")
        self.script(f"set local search_path to {self._tables}")
        self.script("set local statement_timeout to '30s'; set local jit to off")

    def rows(self, statement: str, *parameters: object) -> list[Any]:
        """Execute a statement and return its rows."""
        return self._connection.execute(_marked(statement), parameters).fetchall()

    def script(self, text: str) -> None:
        """Execute several statements."""
        self._connection.execute(text.encode())

    def each(self, statement: str, rows: Sequence[Sequence[Any]]) -> None:
        """Execute a statement for each row of parameters."""
        with self._connection.cursor() as cursor:
            cursor.executemany(_marked(statement), rows)

    def insert(self, table: str, columns: Sequence[str], rows: Sequence[Sequence[Any]]) -> None:
        """Insert many rows."""
        statement = f"copy {table} ({', '.join(columns)}) from stdin".encode()
        with self._connection.cursor() as cursor, cursor.copy(statement) as copy:
            for row in rows:
                copy.write_row(row)

    def create(self, statements: str) -> None:
        """Create the tables beside those that there are, which readers keep until `publish`."""
        self.script(f"create schema {self._new_tables}")
        self._use(self._new_tables)
        self.script(statements)
        self._is_new = True

    def publish(self, roles: Iterable[str]) -> None:
        """Put new tables and views into the place of the old ones, and let roles read the views.

        An object of others that depends on the old ones is an error, which names it.
        """
        if self._is_new:
            for schema, kind, kinds in ((self.schema, "view", "v"), (self._tables, "table", "r")):
                if old := self._names(schema, kinds):
                    self.script(f"drop {kind} {', '.join(old)}")
                self.script(f"create schema if not exists {schema}")
            moves = "".join(
                f"alter table {table} set schema {self._tables};"
                for table in self._names(self._new_tables, "r")
            )
            self.script(f"{moves} drop schema {self._new_tables}")
            self._use(self._tables)
            self.script(self._views)
        self._grant(roles)

    def _use(self, schema: str) -> None:
        self.script(f"set local search_path to {schema}, pg_temp")

    def _names(self, schema: str, kind: str) -> list[str]:
        rows = self.rows(
            "select quote_ident(n.nspname) || '.' || quote_ident(c.relname) from pg_class c"
            " join pg_namespace n on n.oid = c.relnamespace where n.nspname = ? and c.relkind = ?",
            *(schema, kind),
        )
        return [str(name) for (name,) in rows]

    @property
    def has_tables(self) -> bool:
        """Whether there are tables."""
        return self.rows("select to_regclass(?)", f"{self._tables}.loaded") != [(None,)]

    def _grant(self, roles: Iterable[str]) -> None:
        from psycopg import sql  # noqa: PLC0415 - an extra

        schema = sql.Identifier(self.schema)
        for role in roles:
            reader = sql.Identifier(role)
            for right in ("usage on schema {}", "select on all tables in schema {}"):
                statement = sql.SQL(f"grant {right} to {{}}").format(schema, reader)
                self._connection.execute(statement)


def _marked(statement: str) -> bytes:
    return statement.replace("?", "%s").encode()
