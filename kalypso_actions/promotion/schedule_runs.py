"""Decide from schedule's latest record whether it has to run, and whether a run may end at once.

`start_records` has the form of the record.
"""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Final, TypeGuard

from kalypso_actions.promotion.lost_starts import Repair, overdue
from kalypso_actions.promotion.start_records import UNREAD, StartRecord


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
