"""Whether schedule has to run, and whether a run may end at once."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest

from kalypso_actions.promotion.lost_starts import Repair, is_at_rest, may_rest, schedule_due
from kalypso_actions.promotion.start_records import UNREAD, StartRecord, read_record
from tests.promotion.dated_records import NOON, record

LIMIT = timedelta(minutes=10)
DIGEST, CHANGED = "0123456789abcdef", "fedcba9876543210"


@pytest.mark.parametrize(
    ("made", "repair"),
    [
        pytest.param(None, Repair(1), id="never looked at"),
        pytest.param(record("scheduled", subject=DIGEST), None, id="scheduled"),
        pytest.param(record("blocked", subject=DIGEST), None, id="blocked"),
        pytest.param(record("given up", subject=DIGEST), None, id="given up"),
        pytest.param(record("scheduled", subject=CHANGED, minutes=0), Repair(1), id="changed"),
        pytest.param(record("blocked", subject=CHANGED), Repair(1), id="blocked, changed"),
        pytest.param(record("given up", subject=CHANGED), Repair(1), id="given up, changed"),
        pytest.param(record(subject=DIGEST, minutes=1), None, id="a young start"),
        pytest.param(record(subject=UNREAD, minutes=1), None, id="a young start, unread"),
        pytest.param(record(subject=CHANGED, minutes=1), None, id="a young start, changed"),
        pytest.param(record(subject=DIGEST, attempt=2), Repair(3), id="a lost start"),
        pytest.param(record(subject=UNREAD, attempt=2), Repair(3), id="a lost start, unread"),
        pytest.param(record(subject=DIGEST, attempt=3), Repair(0), id="the last start"),
        pytest.param(record(subject=UNREAD, attempt=3), Repair(0), id="the last start, unread"),
        pytest.param(record(subject=CHANGED, attempt=2), Repair(1), id="lost, then changed"),
        pytest.param(record(subject=CHANGED, attempt=3), Repair(1), id="the last, then changed"),
    ],
)
def test_when_schedule_is_due(made: StartRecord | None, repair: Repair | None) -> None:
    assert schedule_due(made, DIGEST, now=NOON, repair_after=LIMIT) == repair


@pytest.mark.parametrize(
    ("minutes", "repair"),
    [pytest.param(0, None, id="not-yet"), pytest.param(1, Repair(1), id="over")],
)
def test_schedule_is_due_once_its_time_is_over(minutes: int, repair: Repair | None) -> None:
    made = StartRecord("scheduled", DIGEST, again_at=NOON)
    now = NOON + timedelta(minutes=minutes, seconds=30)
    assert schedule_due(made, DIGEST, now=now, repair_after=LIMIT) == repair
    status = made.status("kalypso / schedule dev")
    assert read_record(status) == made
    received = StartRecord("received", DIGEST)
    assert schedule_due(received, DIGEST, now=now, repair_after=LIMIT) is None


@pytest.mark.parametrize(
    ("event", "attempt", "force", "may"),
    [
        ("schedule", 1, False, True),
        ("schedule", 2, False, False),
        ("schedule", 1, True, False),
        ("workflow_dispatch", 1, False, False),
        ("push", 1, False, False),
        ("", 1, False, False),
    ],
)
def test_only_a_run_by_the_clock_may_rest(event: str, attempt: int, force: bool, may: bool) -> None:
    assert may_rest(event, attempt, force=force) == may


RESTING = StartRecord("scheduled", DIGEST, run=CHANGED, assignments=4)


@pytest.mark.parametrize(
    ("made", "digest", "run", "rests"),
    [
        pytest.param(RESTING, DIGEST, CHANGED, True, id="nothing has moved"),
        pytest.param(None, DIGEST, CHANGED, False, id="no record"),
        pytest.param(RESTING, CHANGED, CHANGED, False, id="other inputs"),
        pytest.param(RESTING, DIGEST, DIGEST, False, id="other code"),
        pytest.param(replace(RESTING, run=""), DIGEST, "", False, id="something was left"),
        pytest.param(replace(RESTING, kind="blocked"), DIGEST, CHANGED, False, id="blocked"),
        pytest.param(replace(RESTING, kind="starting"), DIGEST, CHANGED, False, id="starting"),
        pytest.param(
            replace(RESTING, again_at=NOON), DIGEST, CHANGED, True, id="in the minute it waits for"
        ),
        pytest.param(
            replace(RESTING, again_at=NOON - timedelta(minutes=1)),
            DIGEST,
            CHANGED,
            False,
            id="after it",
        ),
    ],
)
def test_environments_at_rest(made: StartRecord | None, digest: str, run: str, rests: bool) -> None:
    assert is_at_rest(made, digest, run, NOON) == rests
