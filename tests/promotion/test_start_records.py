"""Records of starts: their form, and what poll does about them."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from kalypso_actions.model.github import CommitStatus, StatusState
from kalypso_actions.promotion.start_records import (
    MOST_ATTEMPTS,
    UNREAD,
    Command,
    Kind,
    Repair,
    StartRecord,
    cd_context,
    check_promote_context,
    is_at_rest,
    is_lost_check,
    may_be_run_of,
    may_rest,
    overdue,
    read_record,
    schedule_context,
    schedule_due,
    starting,
)

NOON = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)
LIMIT = timedelta(minutes=10)
M, OTHER = "a" * 40, "b" * 40
DIGEST, CHANGED = "0123456789abcdef", "fedcba9876543210"


@pytest.mark.parametrize(
    ("context", "text"),
    [
        (cd_context("dev"), "kalypso / cd dev"),
        (check_promote_context("dev", "acme/gitops"), "kalypso / check-promote dev acme/gitops"),
        (schedule_context("dev"), "kalypso / schedule dev"),
    ],
    ids=["cd", "check-promote", "schedule"],
)
def test_contexts(context: str, text: str) -> None:
    assert context == text


@pytest.mark.parametrize(
    ("record", "state", "description"),
    [
        (starting("ci"), "pending", "Starting, attempt 1: ci"),
        (starting(DIGEST, 3), "pending", f"Starting, attempt 3: {DIGEST}"),
        (starting(UNREAD), "pending", "Starting, attempt 1: inputs not read yet"),
        (StartRecord("received", M), "success", f"Received: {M}"),
        (StartRecord("not needed", "dev"), "success", "Not needed: dev"),
        (
            StartRecord("received", "c" * 40, compliant=(4, 8)),
            "success",
            f"Received: {'c' * 40}, 4/8 clusters comply",
        ),
        (StartRecord("scheduled", DIGEST), "success", f"Scheduled: {DIGEST}"),
        (StartRecord("blocked", DIGEST), "failure", f"Blocked: {DIGEST}"),
        (
            StartRecord("scheduled", DIGEST, again_at=NOON),
            "success",
            f"Scheduled: {DIGEST}, again at {NOON:%Y-%m-%dT%H:%M:%SZ}",
        ),
        (
            StartRecord("scheduled", DIGEST, assignments=4, run=CHANGED, again_at=NOON),
            "success",
            f"Scheduled: {DIGEST}, nothing left of 4 assignments by {CHANGED}, "
            f"again at {NOON:%Y-%m-%dT%H:%M:%SZ}",
        ),
        (StartRecord("refused", M), "failure", f"Refused: {M}"),
        (
            StartRecord("starting", DIGEST, 2, force=True),
            "pending",
            f"Starting, attempt 2 with force: {DIGEST}",
        ),
        (StartRecord("given up", "ci"), "failure", "Given up: ci"),
    ],
    ids=lambda value: value.kind if isinstance(value, StartRecord) else "",
)
def test_a_record_survives_its_status(
    record: StartRecord, state: StatusState, description: str
) -> None:
    status = record.status("kalypso / cd dev", "https://git.test/run")
    assert status == CommitStatus("kalypso / cd dev", state, description, "https://git.test/run")
    assert read_record(status) == record


def test_a_record_has_the_time_of_its_status() -> None:
    status = CommitStatus("kalypso / cd dev", "pending", "Starting, attempt 2: ci", created_at=NOON)
    assert read_record(status) == StartRecord("starting", "ci", 2, NOON)


@pytest.mark.parametrize(
    "description",
    [
        "",
        "Promoted",
        "Starting",
        "Starting, attempt x: ci",
        "Lost: ci",
        "received: ci",
        " Starting: ci",
    ],
)
def test_other_descriptions_are_no_records(description: str) -> None:
    assert read_record(CommitStatus("kalypso / cd dev", "pending", description)) is None


def test_no_status_is_no_record() -> None:
    assert read_record(None) is None


def record(
    kind: Kind = "starting", *, minutes: float | None = 10, attempt: int = 1, subject: str = "ci"
) -> StartRecord:
    """Return a record that was posted so many minutes before noon (None: not known)."""
    since = None if minutes is None else NOON - timedelta(minutes=minutes)
    return StartRecord(kind, subject, attempt if kind == "starting" else 0, since)


@pytest.mark.parametrize(
    ("made", "repair"),
    [
        (record(minutes=0), None),
        (record(minutes=9.9), None),
        (record(minutes=10), Repair(2)),
        (record(minutes=None), Repair(2)),
        (record(attempt=2), Repair(3)),
        (replace(record(attempt=2), force=True), Repair(3, force=True)),
        (record(attempt=MOST_ATTEMPTS - 1), Repair(MOST_ATTEMPTS)),
        (record(attempt=MOST_ATTEMPTS), Repair(0)),
        (record(attempt=MOST_ATTEMPTS + 1), Repair(0)),
        (record(attempt=MOST_ATTEMPTS, minutes=9), None),
        *((record(kind), None) for kind in ("received", "not needed", "given up")),
    ],
)
def test_overdue_starts(made: StartRecord, repair: Repair | None) -> None:
    assert overdue(made, now=NOON, repair_after=LIMIT) == repair


def test_three_attempts_at_most() -> None:
    assert MOST_ATTEMPTS == 3


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


CD = {"environment": "dev", "commit": M}
CHECK = {"environment": "dev", "commit": M, "repository": "Acme/GitOps"}
SCHEDULE = {"environment": "dev"}


@pytest.mark.parametrize(
    ("title", "command", "facts", "may_be"),
    [
        (f"{M} to dev", "cd", CD, True),
        (f" {M} to Dev\n", "cd", CD, True),
        (f"{M} to stage", "cd", CD, False),
        (f"{OTHER} to dev", "cd", CD, False),
        (f"{M} to dev2", "cd", CD, False),
        ("CD", "cd", CD, True),
        ("abcdef0 to stage", "cd", CD, True),
        ("", "cd", CD, True),
        (f"Check dev with {M}", "check-promote", CHECK, True),
        (f"Check dev with {M} acme/gitops", "check-promote", CHECK, True),
        (f"Check dev with {M} acme/other", "check-promote", CHECK, False),
        (f"Check dev with {OTHER} acme/gitops", "check-promote", CHECK, False),
        (f"Check stage with {M} acme/gitops", "check-promote", CHECK, False),
        (f"{M} to stage", "check-promote", CHECK, True),
        ("Schedule dev", "schedule", SCHEDULE, True),
        ("Schedule stage", "schedule", SCHEDULE, False),
        ("Our own schedule of stage", "schedule", SCHEDULE, True),
    ],
)
def test_runs_that_may_come_from_a_start(
    title: str, command: Command, facts: dict[str, str], may_be: bool
) -> None:
    assert may_be_run_of(title, command, facts) == may_be


def status(description: str = "Promoted") -> CommitStatus:
    return CommitStatus("dev environment", "pending", description)


@pytest.mark.parametrize(
    ("latest", "made", "before", "failed", "lost"),
    [
        pytest.param(None, None, True, True, False, id="no promotion"),
        pytest.param(status(), None, True, False, True, id="nobody has told of the merge"),
        pytest.param(status(), record("received", subject=M), True, False, False, id="told"),
        pytest.param(status(), record(subject=M), True, False, True, id="a start may be lost"),
        pytest.param(status(), record(subject=M), False, True, False, id="poll repeats the start"),
        pytest.param(
            status(), record("received", subject=OTHER), True, False, True, id="an earlier merge"
        ),
        pytest.param(
            status(), record("received", subject=OTHER), False, True, True, id="a correction"
        ),
        pytest.param(
            status(), record("received", subject=M), False, True, False, id="the failed merge"
        ),
        pytest.param(status(), None, False, True, False, id="a failure without a record"),
        pytest.param(
            status(), record("received", subject=OTHER), False, False, False, id="under way"
        ),
    ],
)
def test_lost_checks(
    latest: CommitStatus | None,
    made: StartRecord | None,
    before: bool,
    failed: bool,
    lost: bool,
) -> None:
    is_lost = is_lost_check(latest, made, M, is_before_merge=before, has_failed=failed)
    assert is_lost == lost


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
def test_what_is_at_rest(made: StartRecord | None, digest: str, run: str, rests: bool) -> None:
    assert is_at_rest(made, digest, run, NOON) == rests
