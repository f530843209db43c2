"""Whether a recorded start was lost, and whether poll repeats it."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest

from kalypso_actions.model.github import CommitStatus
from kalypso_actions.promotion.lost_starts import (
    MOST_ATTEMPTS,
    Repair,
    is_lost_check,
    may_be_run_of,
    overdue,
)
from kalypso_actions.promotion.start_records import Command, StartRecord
from tests.promotion.dated_records import NOON, record

LIMIT = timedelta(minutes=10)
M, OTHER = "a" * 40, "b" * 40


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
        pytest.param(status(), None, True, False, True, id="no record of the merge"),
        pytest.param(status(), record("received", subject=M), True, False, False, id="received"),
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
