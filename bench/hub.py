"""Load the record of a year into SQLite and PostgreSQL: times, sizes, and what views take.

    python -m bench.hub --merges 500            a tenth of the year
    python -m bench.hub --record FOLDER         a record that `bench.record` wrote

Times are those of processors, so that other work of the machine does not count: of this process and
git, and of the server's. PostgreSQL stands beside SQLite of the same run. The newest sixty commits
are loaded apart, as a day's.
"""

from __future__ import annotations

import argparse
import os
import sqlite3
import subprocess
import sys
import tempfile
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Final

import psycopg

from bench.record import YEAR, Fleet, write
from kalypso_actions.clients.postgresql import PostgresDatabase, connect
from kalypso_actions.clients.process import Programs
from kalypso_actions.commands.hub.load import load_postgres
from kalypso_actions.commands.shared.record import FolderRecord, open_sqlite
from kalypso_actions.observations.projection import views
from tests.postgres import TestDatabase, server

COLD, WARM, TIMES_SQLITE, QUESTION = 90.0, 5.0, 5.0, 0.3
"""Seconds to load a year, and a day; PostgreSQL by SQLite; seconds of a question."""

DAY: Final = 60

AS_READER: Final = "-c search_path=kalypso_hub -c jit=off"
"""What docs/guide/hub.md sets for the role of the readers."""

QUESTIONS: Final = {
    "states of a target": "select * from state where target = 'app-007'",
    "states of a cluster": "select * from state where cluster_key like '%/prod-0002'",
    "states by status": "select status, count(*) from state group by 1",
    "drift": "select * from drift",
    "history of a target": "select * from target_history where target = 'app-007'",
    "history of a cluster": "select * from cluster_history where cluster = 'prod-0002'",
    "rollouts of a target": "select * from rollout where target = 'app-007'",
    "marks of a target": "select * from annotation where tags like 'deployment,prod,app-007%'",
    "marks of a week": "select * from annotation where tags like 'deployment,prod,%'"
    " and time > (select max(time) from annotation) - interval '7 days'",
    "promotion": "select * from promotion",
    "delivered": "select * from delivered where not is_application",
    "figures": "select * from delivery_figures",
}


def own_seconds() -> float:
    """Return the processor time of this process and of git."""
    return sum(os.times()[:4])


def seconds_of_process(pid: int) -> float:
    """Return the processor time of a process of this machine; 0 where /proc is missing."""
    stat = Path(f"/proc/{pid}/stat")
    if not stat.exists():
        return 0.0
    fields = stat.read_text().rpartition(")")[2].split()
    return sum(map(int, fields[11:13])) / os.sysconf("SC_CLK_TCK")


def timed(name: str, load: Callable[[], float], most: float) -> tuple[float, str]:
    """Print the time of a load; return it, and the missed target, "" for none."""
    started = own_seconds()
    elsewhere = load()
    seconds = own_seconds() - started + elsewhere
    print(
        f"{name}: {seconds:.1f} s, {elsewhere:.1f} s of the server (at most {most:.1f})", flush=True
    )
    return seconds, f"{name}: {seconds:.1f} s" if seconds > most else ""


def measure(git: Path, folder: Path, share: float) -> list[str]:
    """Load a record that is this share of a year, ask it, and return the missed targets."""
    record = FolderRecord(git, Programs(os.environ))
    head = record.head()
    command = ["git", "-C", str(git), "rev-parse", f"{head}~{DAY}"]
    day_before = subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()
    file = folder / "hub.sqlite"

    def into_file(commit: str) -> float:
        open_sqlite(str(file), record, commit).close()
        return 0.0

    most = max(COLD * share, WARM)
    in_file, *missed = timed("SQLite", lambda: into_file(day_before), most)
    missed.append(timed("SQLite, a day", lambda: into_file(head), WARM)[1])
    print(f"  {file.stat().st_size / 1e6:.1f} MB")
    with closing(sqlite3.connect(file)) as connection:
        print("  periods:", *connection.execute("select count(*) from period").fetchone())
    with server() as settings:
        database = TestDatabase(settings, "hub")

        def into_server(commit: str) -> float:
            with connect(database.url, "", os.environ) as connection:
                tables = PostgresDatabase(connection, "kalypso_hub", views())
                tables.begin()
                load_postgres(tables, record, commit)
                seconds = seconds_of_process(connection.info.backend_pid)
                connection.commit()
            return seconds

        loaded, fault = timed("PostgreSQL", lambda: into_server(day_before), most)
        missed += [fault, timed("PostgreSQL, a day", lambda: into_server(head), WARM)[1]]
        print(f"  {loaded / in_file:.1f} × SQLite (at most {TIMES_SQLITE:g})")
        if loaded > TIMES_SQLITE * in_file:
            missed.append(f"PostgreSQL takes {loaded / in_file:.1f} × SQLite")
        ((size,),) = database.rows("select pg_database_size(current_database()) / 1000000.0")
        print(f"  {size:.1f} MB")
        for title, statement in QUESTIONS.items():
            missed.append(_asked(database, title, statement))
    return [each for each in missed if each]


def _asked(database: TestDatabase, title: str, statement: str) -> str:
    with psycopg.connect(database.url, options=AS_READER) as connection:
        pid = connection.info.backend_pid
        connection.execute("select 1")
        started = seconds_of_process(pid)
        rows = len(connection.execute(statement.encode()).fetchall())
        seconds = seconds_of_process(pid) - started
    print(f"{title}: {rows} rows, {seconds:.2f} s (at most {QUESTION:g})", flush=True)
    return f"{title}: {seconds:.2f} s" if seconds > QUESTION else ""


def main() -> int:
    """Print the figures; return 1 if a target is missed."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--merges", type=int, default=YEAR)
    parser.add_argument("--record", type=Path, help="A record of so many merges.")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        git = given.record or Path(name, "record")
        if not given.record:
            subprocess.run(["git", "init", "--quiet", "--bare", str(git)], check=True)
            write(Fleet(1), given.merges, git)
        missed = measure(git, Path(name), given.merges / YEAR)
    print("\n".join(f"missed: {line}" for line in missed))
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
