"""The tables of a record, in the cache of the user: made, continued, made anew."""

from __future__ import annotations

import sqlite3
import subprocess
import sys
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest

from kalypso_actions.clients.git.line_log import LineLog
from kalypso_actions.commands.shared.record import (
    BRANCH,
    FolderRecord,
    ask,
    push_of_records,
    read_record,
)
from kalypso_actions.errors import KalypsoError
from kalypso_actions.observations.projection import Database
from kalypso_actions.observations.record import Observation, ObservationRecord, RealLine
from tests.git_repositories import git, programs
from tests.observations.test_record import AT, desired, real


class Recorded:
    """A record in a folder, whose cache is beside it, and the commits that were read of it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.branch = FolderRecord.open(folder / "record", programs(), create=True)
        self.environment = {"XDG_CACHE_HOME": str(folder / "cache")}
        self.read: list[list[str]] = []

    def look(self, *lines: RealLine) -> str:
        """Record clusters of dev, and return the commit."""
        head, before = read_record(self.branch)
        at = AT + timedelta(minutes=len(before.observed))
        wanted = desired(name="small", repository="https://g.io/a/b", content="a", commit="1" * 40)
        after = replace(
            before,
            desired={"dev": (wanted,)},
            real={("dev", "small"): lines},
            observed=(Observation("dev", at, True),),
        )
        write = push_of_records(self.branch, head, before, [after], "Observe")
        assert write is not None
        return self.branch.carry_out(write, at)

    @property
    def cache(self) -> Path:
        """The file with the tables."""
        (path,) = (self.folder / "cache").rglob("*.sqlite")
        return path

    def statuses(self, head: str = "") -> list[tuple[str, str]]:
        """Ask for the status of each cluster."""
        branch = self.branch
        log = branch.log

        class Noted(FolderRecord):
            def log(_, commit: str, after: str = "") -> LineLog:  # noqa: N805
                found = log(commit, after)
                commits = list(found.commits)
                self.read.append([each.commit for each in commits])
                return LineLog(found.continues, iter(commits))

        noted = Noted(branch.folder, branch.programs)
        return ask(noted, head or branch.head(), self.environment, statuses)


def statuses(tables: Database) -> list[tuple[str, str]]:
    rows = tables.rows(
        "select c.name, p.status from period p join reconciler r on r.id = p.reconciler"
        " join cluster c on c.id = r.cluster where p.until is null order by 1"
    )
    return [(name, status) for name, status in rows]


@pytest.fixture
def recorded(tmp_path: Path) -> Recorded:
    return Recorded(tmp_path)


RUNS = real(cluster="c-1", configuration="k", content="a")
FAILS = RUNS._replace(status="failure", since=AT + timedelta(minutes=5))


def test_only_what_is_new_is_read(recorded: Recorded) -> None:
    first = recorded.look(RUNS)
    assert recorded.statuses() == [("c-1", "success")]
    assert recorded.statuses() == [("c-1", "success")]
    second = recorded.look(FAILS)
    third = recorded.look(FAILS, RUNS._replace(cluster="c-2"))
    assert recorded.statuses() == [("c-1", "failure"), ("c-2", "success")]
    assert recorded.read == [[first], [second, third]]


@pytest.mark.parametrize("damage", ["gone", "garbage", "torn", "another version", "no tables"])
def test_a_damaged_cache_is_made_anew(recorded: Recorded, damage: str) -> None:
    recorded.look(*(RUNS._replace(cluster=f"c-{n:03}") for n in range(200)))
    expected = recorded.statuses()
    match damage:
        case "gone":
            recorded.cache.unlink()
        case "garbage":
            recorded.cache.write_bytes(b"x" * 10_000)
        case "torn":
            content = recorded.cache.read_bytes()
            recorded.cache.write_bytes(content[: len(content) // 2])
        case _:
            connection = sqlite3.connect(recorded.cache)
            with connection:
                statement = "update loaded set version = 'x'"
                connection.execute("drop table period" if damage == "no tables" else statement)
            connection.close()
    assert recorded.statuses() == expected
    assert recorded.statuses() == expected


def test_a_rewritten_record_is_loaded_anew(recorded: Recorded) -> None:
    recorded.look(RUNS)
    recorded.look(FAILS)
    assert recorded.statuses() == [("c-1", "failure")]
    folder = recorded.folder / "record"
    git(folder, "update-ref", f"refs/heads/{BRANCH}", f"{BRANCH}~1")
    recorded.look(RUNS, RUNS._replace(cluster="c-3"))
    assert recorded.statuses() == [("c-1", "success"), ("c-3", "success")]


def test_without_a_place_for_the_cache_the_tables_are_in_memory(recorded: Recorded) -> None:
    recorded.look(RUNS)
    (recorded.folder / "cache").write_text("a file")
    assert recorded.statuses() == [("c-1", "success")]


def test_a_line_that_does_not_parse_names_its_commit(recorded: Recorded) -> None:
    head, before = read_record(recorded.branch)
    write = push_of_records(recorded.branch, head, before, [ObservationRecord()], "Observe")
    assert write is not None
    changes = {**write.changes, "observed.tsv": b"dev\n"}
    broken = recorded.branch.carry_out(replace(write, changes=changes), AT)
    with pytest.raises(KalypsoError, match=rf"{broken[:7]} has a line .* 1 fields instead of 3"):
        recorded.statuses()


ASKS = """
import sys
from tests.commands.test_record import Recorded
from pathlib import Path
print(Recorded(Path(sys.argv[1])).statuses())
"""


def test_two_processes_at_once_find_the_same(recorded: Recorded) -> None:
    recorded.look(*(RUNS._replace(cluster=f"c-{n:04}") for n in range(3000)))
    command = [sys.executable, "-c", ASKS, str(recorded.folder)]
    started = [
        subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        for _ in range(3)
    ]
    answers = [process.communicate() for process in started]
    assert {errors for _, errors in answers} == {""}
    assert {output for output, _ in answers} == {f"{recorded.statuses()}\n"}
