"""A record told by looks, loaded into tables: what is wanted, and what clusters run.

tables = told(
    Look(0, {"large": "a"}, {"c1": "a success"}),
    Look(60, {"large": "b"}, {"c1": "a success"}),
)

Minutes count from `AT`; contents are also the versions, and begin the commits. The commits of the
letters before that of the wanted content are its ancestors. The folder of a cluster type is the
platform's; another name is that of an application's target.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping
from dataclasses import replace
from datetime import timedelta
from typing import NamedTuple

from kalypso_actions.observations.desired import BranchLook, desired_after, with_superseded
from kalypso_actions.observations.projection import Log, SqliteDatabase, Step, load
from kalypso_actions.observations.real import Ancestry, Seen, Wanted, real_after
from kalypso_actions.observations.record import (
    DesiredLine,
    Observation,
    ObservationRecord,
    RecordedEnvironment,
    Status,
    TargetKey,
)
from tests.observations.test_periods import steps
from tests.observations.test_record import AT, desired

GITOPS = "https://github.com/acme/gitops"
SHOP = "https://github.com/acme/shop"


class Look(NamedTuple):
    """What a look after some minutes sees of one cluster type of an environment.

    `runs` has for each cluster `content status`, and for each target that it runs
    `target content status`, separated by commas. A cluster that is left out is gone.
    """

    minutes: int
    wanted: Mapping[str, str]
    runs: Mapping[str, str]
    environment: str = "dev"
    cluster_type: str = "large"


def told(*looks: Look) -> SqliteDatabase:
    """Return the tables of a record that was written by looks."""
    record = ObservationRecord(
        environments=(
            RecordedEnvironment("dev", 0, GITOPS, "dev"),
            RecordedEnvironment("stage", 1, GITOPS, "stage"),
        )
    )
    log: list[list[Step]] = [steps(ObservationRecord(), record)]
    last: dict[str, int] = {}
    for look in looks:
        after = after_look(record, look, last.get(look.environment))
        last[look.environment] = look.minutes
        log.append(steps(record, after))
        record = after
    connection = sqlite3.connect(":memory:")
    database = SqliteDatabase(connection)
    connection.execute("begin")
    load(
        database,
        lambda *_: Log(False, ((str(number), each) for number, each in enumerate(log))),
        "head",
        "record",
    )
    connection.execute("commit")
    return database


def after_look(record: ObservationRecord, look: Look, last: int | None) -> ObservationRecord:
    """Return the record after a look; `last` are the minutes of the look before."""
    now = AT + timedelta(minutes=look.minutes)
    lines: dict[str, DesiredLine] = {
        name: _desired(look, name, content) for name, content in look.wanted.items()
    }
    branches: dict[tuple[str, str], dict[TargetKey, list[DesiredLine]]] = {}
    for line in lines.values():
        branches.setdefault((line.repository, line.branch), {})[line.target] = [line]
    after = desired_after(
        record,
        look.environment,
        [BranchLook(*branch, "h", each) for branch, each in branches.items()],
        now,
        is_complete=False,
    )
    place = look.environment, look.cluster_type
    real = real_after(
        record.real.get(place, ()),
        [seen for cluster, text in look.runs.items() for seen in _seen(cluster, text, lines, look)],
        {
            _followed(name, line): Wanted(line.content, _ancestry(record, look, line))
            for name, line in lines.items()
        },
        now=now,
        last_look=None if last is None else AT + timedelta(minutes=last),
        is_complete=True,
    )
    observed = {each.environment: each for each in record.observed}
    observed[look.environment] = Observation(look.environment, now, True)
    after = with_superseded(
        record, replace(after, real={**after.real, place: real}), look.environment
    )
    return replace(after, observed=tuple(sorted(observed.values())))


def _desired(look: Look, name: str, content: str) -> DesiredLine:
    is_folder = name == look.cluster_type
    return desired(
        workload="" if is_folder else name,
        name=name,
        repository=GITOPS if is_folder else SHOP,
        branch=look.environment,
        path=name,
        version=content,
        content=content,
        commit=_commit(content),
        since=AT + timedelta(minutes=look.minutes),
    )


def _commit(content: str) -> str:
    return content.encode().hex().ljust(40, "0")


def _ancestry(record: ObservationRecord, look: Look, line: DesiredLine) -> dict[str, Ancestry]:
    before: dict[str, Ancestry] = {
        each.commit: "ancestor"
        for each in record.desired.get(look.environment, ())
        if each.target == line.target
    }
    if line.content.isalpha():
        earlier = range(ord("a"), ord(line.content[0]))
        before |= dict.fromkeys((_commit(chr(each)) for each in earlier), "ancestor")
    return {**before, line.commit: "same"}


def _followed(name: str, line: DesiredLine) -> str:
    return str(line.target) if line.workload else ""


def _seen(cluster: str, text: str, lines: Mapping[str, DesiredLine], look: Look) -> list[Seen]:
    found = []
    for part in text.split(", "):
        *target, content, word = part.split(" ")
        name = target[0] if target else look.cluster_type
        status: Status = word  # type: ignore[assignment]
        found.append(
            Seen(
                cluster,
                "kalypso",
                _followed(name, lines[name]),
                _commit(content),
                content,
                status,
                reason="" if status == "success" else f"{name} is {status}",
            )
        )
    return found
