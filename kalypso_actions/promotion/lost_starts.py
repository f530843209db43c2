"""Decide from start records which starts were lost, and whether schedule has to run.

`start_records` has the form of the records; `starts` decides which starts a command makes. The
digest of all inputs of a run of schedule counts folders by their tree ids, so a commit outside a
registered folder does not change it. The environment's branch is not part of it, because the record
stands on that branch's head.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final, TypeGuard

from kalypso_actions.model.kinds import RepositoryPath
from kalypso_actions.model.tree import GitOpsBranch
from kalypso_actions.promotion.start_records import UNREAD, StartRecord

MOST_ATTEMPTS: Final = 3


@dataclass(frozen=True, slots=True)
class Repair:
    """The decision of poll: start with this attempt, or give up (`attempt` 0)."""

    attempt: int
    force: bool = False


def overdue(record: StartRecord, *, now: datetime, repair_after: timedelta) -> Repair | None:
    """Return the repair of a recorded start; None while a run may still begin.

    The caller makes sure that no run of this start is in progress.
    """
    if record.kind != "starting":
        return None
    if record.since is not None and now - record.since < repair_after:
        return None
    attempt = record.attempt + 1 if record.attempt < MOST_ATTEMPTS else 0
    return Repair(attempt, record.force)


TITLES: Final[dict[str, re.Pattern[str]]] = {
    "cd": re.compile(r"(?P<commit>[0-9a-f]{40,64}) to (?P<environment>\S+)"),
    "check-promote": re.compile(
        r"Check (?P<environment>\S+) with (?P<commit>[0-9a-f]{40,64})(?: (?P<repository>\S+))?"
    ),
    "rollback": re.compile(r"Roll back (?P<environment>\S+)"),
    "schedule": re.compile(r"Schedule (?P<environment>\S+)"),
    "app-deploy": re.compile(r"Deploy (?P<environment>\S+)(?: .*)?"),
    "app-check": re.compile(r"Check (?P<environment>\S+)(?: .*)?"),
}
"""The `run-name` of the workflow templates, by the command that they run."""


def may_be_run_of(title: str, command: str, facts: Mapping[str, str]) -> bool:
    """Return whether a run of this title may come from the start that `facts` describe.

    A title of another form, from a workflow file that people changed, may come from any start.
    """
    match = TITLES[command].fullmatch(title.strip())
    if match is None:
        return True
    title_facts = {name: value.lower() for name, value in match.groupdict().items() if value}
    return all(
        title_facts.get(name, value.lower()) == value.lower() for name, value in facts.items()
    )


def schedule_due(
    record: StartRecord | None, digest: str, *, now: datetime, repair_after: timedelta
) -> Repair | None:
    """Return the start that schedule needs; None if it has read these inputs or a run is expected.

    A new digest starts a new count of attempts. The start repeats the `force` of a lost start.
    """
    if record is None:
        return Repair(1)
    if record.kind == "starting":
        repair = overdue(record, now=now, repair_after=repair_after)
        is_same = record.subject in {UNREAD, digest}
        return repair if repair is None or is_same else Repair(1, record.force)
    return Repair(1) if record.subject != digest or is_over(record, now) else None


def is_over(record: StartRecord | None, now: datetime) -> bool:
    """Whether the time that schedule has asked for has come.

    A run decides for the minute in which it begins: a run in an earlier minute would ask again.
    """
    minute = now.replace(second=0, microsecond=0)
    return record is not None and record.again_at is not None and minute > record.again_at


CLOCK: Final = "schedule"
"""The event of a workflow that runs at set times."""


def may_rest(event_name: str, attempt: int, *, force: bool) -> bool:
    """Whether a run of schedule may end at once if nothing has changed.

    Runs that cd, poll, a push or a person starts also repair issues, merges and lost starts.
    """
    return event_name == CLOCK and attempt == 1 and not force


def is_at_rest(
    record: StartRecord | None, digest: str, run: str, now: datetime
) -> TypeGuard[StartRecord]:
    """Whether a run with the same inputs, code and options left nothing to do until now.

    A record of a start that no run has served has another kind.
    """
    return (
        record is not None
        and record.kind == "scheduled"
        and record.subject == digest
        and record.run == run != ""
        and not is_over(record, now)
    )


def is_served(record: StartRecord | None, *, force: bool) -> bool:
    """Return whether a run of schedule replaces the latest record.

    A run without `force` does not serve a start with `force`, whose run is lost or still to come.
    """
    return force or record is None or record.kind != "starting" or not record.force


LENGTH: Final = 16
"""Hexadecimal digits of a digest; the description of a status is short."""


def inputs_digest(
    folders: Mapping[RepositoryPath, str | None], branches: Iterable[GitOpsBranch]
) -> str:
    """Return the digest; `folders` maps each folder that schedule reads to its tree id.

    These are registered folders, and those of base repositories without a commit. The tree id is
    None if the folder, its branch or its repository cannot be read.
    """
    lines = sorted(
        json.dumps(["folder", place.repo, place.branch, place.path, tree])
        for place, tree in folders.items()
    )
    lines += sorted(
        json.dumps(["branch", branch.repository.lower(), branch.branch, branch.head])
        + json.dumps(sorted(branch.own_pulls.items()))
        for branch in branches
    )
    return hashlib.sha256("\n".join(lines).encode()).hexdigest()[:LENGTH]
