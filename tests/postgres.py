"""A PostgreSQL server for the tests: a throw-away cluster on a Unix socket."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

import psycopg
import pytest

OWNER: Final = "postgres"
"""The user of Debian's package: the server does not run as root."""

FAST: Final = "-c fsync=off -c synchronous_commit=off -c full_page_writes=off -c max_connections=30"


def programs() -> Path | None:
    """Return the folder with the newest `initdb` and `pg_ctl`; Debian keeps it off PATH."""
    folders = sorted(
        Path("/usr/lib/postgresql").glob("*/bin"), key=lambda path: int(path.parent.name)
    )
    on_path = shutil.which("initdb")
    return folders[-1] if folders else Path(on_path).parent if on_path else None


@contextmanager
def server() -> Iterator[str]:
    """Serve, and yield libpq's settings without a database; skip without PostgreSQL."""
    folder = programs()
    if folder is None:
        if os.environ.get("KALYPSO_PROGRAMS") == "installed":
            pytest.fail("PostgreSQL is missing: apt-get install postgresql")
        pytest.skip("PostgreSQL is missing: apt-get install postgresql")
    top = Path(tempfile.mkdtemp(prefix="pg-"))
    data = str(top / "data")
    as_owner = []
    if os.geteuid() == 0:
        shutil.chown(top, OWNER)
        as_owner = ["runuser", "-u", OWNER, "--"]

    def run(*command: str) -> None:
        subprocess.run(
            [*as_owner, *command], check=True, stdout=subprocess.DEVNULL, cwd=top, timeout=120
        )

    run(str(folder / "initdb"), "-D", data, "-A", "trust", "-U", OWNER, "-E", "UTF8", "--no-sync")
    options = f"{FAST} -c listen_addresses='' -k {top}"
    pg_ctl = str(folder / "pg_ctl")
    run(pg_ctl, "-D", data, "-l", str(top / "log"), "-o", options, "-w", "start")
    try:
        yield f"host={top} user={OWNER}"
    finally:
        run(pg_ctl, "-D", data, "-m", "immediate", "-w", "stop")
        shutil.rmtree(top, ignore_errors=True)


class TestDatabase:
    """An empty database, as libpq's settings, with a connection for questions."""

    __test__ = False

    def __init__(self, settings: str, name: str) -> None:
        self.url = f"{settings} dbname={name}"
        with psycopg.connect(f"{settings} dbname=postgres", autocommit=True) as connection:
            connection.execute(f"create database {name}".encode())

    def rows(self, statement: str, parameters: Sequence[Any] = ()) -> list[Any]:
        """Return the rows of a statement, which finds upstream's names without a schema."""
        with psycopg.connect(self.url, options="-c search_path=kalypso_hub") as connection:
            return connection.execute(statement.encode(), parameters or None).fetchall()

    def execute(self, statement: str) -> None:
        """Execute a statement and commit."""
        with psycopg.connect(self.url) as connection:
            connection.execute(statement.encode())
