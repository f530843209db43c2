"""The form of start records."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from kalypso_actions.model.github import CommitStatus, StatusState
from kalypso_actions.promotion.start_records import (
    UNREAD,
    StartRecord,
    cd_context,
    check_promote_context,
    read_record,
    schedule_context,
    starting,
)

NOON = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)
M = "a" * 40
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
        (starting("ci"), "success", "Starting, attempt 1: ci"),
        (starting(DIGEST, 3), "success", f"Starting, attempt 3: {DIGEST}"),
        (starting(UNREAD), "success", "Starting, attempt 1: inputs not read yet"),
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
            "success",
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
    status = CommitStatus("kalypso / cd dev", "success", "Starting, attempt 2: ci", created_at=NOON)
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
