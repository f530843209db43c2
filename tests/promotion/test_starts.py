"""Which starts of workflows the commands make."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Literal

import pytest

from kalypso_actions.model.github import CommitStatus
from kalypso_actions.promotion import statuses
from kalypso_actions.promotion.lost_starts import MOST_ATTEMPTS, Repair
from kalypso_actions.promotion.start_records import StartRecord
from kalypso_actions.promotion.starts import (
    CHANGED,
    LOST,
    OVER,
    forces_schedule,
    may_repeat_cd,
    may_repeat_checks,
    next_check_attempt,
    next_schedule_start,
    starts_cd,
)
from tests.breaks import breaks, turned

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)
HEAD, EARLIER = "a" * 40, "b" * 40


@breaks(
    "ci of a pull request starts cd",
    turned(
        starts_cd,
        "option == 'auto' and is_push_to_main",
        "option == 'auto'",
    ),
)
@pytest.mark.parametrize(
    ("option", "is_push_to_main", "starts"),
    [
        ("auto", True, True),
        ("auto", False, False),
        ("true", False, True),
        ("false", True, False),
    ],
)
def test_whether_ci_starts_cd(
    option: Literal["auto", "true", "false"], is_push_to_main: bool, starts: bool
) -> None:
    assert starts_cd(option, is_push_to_main=is_push_to_main) == starts


@breaks(
    "a recorded start of ci may name any environment",
    turned(may_repeat_cd, "environment in first", "environment"),
)
@pytest.mark.parametrize(
    ("environment", "origin", "allowed"),
    [
        pytest.param("dev", "ci", True, id="ci starts a first environment"),
        pytest.param("stage", "ci", False, id="ci starts no later environment"),
        pytest.param("stage", "dev", True, id="a known environment"),
        pytest.param("stage", "prod", False, id="an unknown environment"),
        pytest.param("stage", "", False, id="a person"),
    ],
)
def test_which_recorded_starts_of_cd_are_repeated(
    environment: str, origin: str, allowed: bool
) -> None:
    assert may_repeat_cd(environment, origin, first={"dev"}, known={"dev", "stage"}) == allowed


@pytest.mark.parametrize(
    ("record", "reason", "start"),
    [
        pytest.param(None, "", (Repair(1), CHANGED), id="no record"),
        pytest.param(
            StartRecord("starting", "new", 1, NOW - timedelta(hours=1)),
            "",
            (Repair(2), LOST),
            id="lost",
        ),
        pytest.param(StartRecord("starting", "new", 1, NOW), "", None, id="a run is expected"),
        pytest.param(StartRecord("scheduled", "old"), "", (Repair(1), CHANGED), id="changed"),
        pytest.param(StartRecord("scheduled", "new"), "", None, id="at rest"),
        pytest.param(
            StartRecord("scheduled", "new", again_at=NOW - timedelta(hours=1)),
            "",
            (Repair(1), OVER),
            id="a toleration is over",
        ),
        pytest.param(
            StartRecord("scheduled", "new"), "conflicts", (Repair(1), "conflicts"), id="conflicts"
        ),
        pytest.param(StartRecord("blocked", "new"), "conflicts", None, id="blocked"),
    ],
)
def test_starts_of_schedule(
    record: StartRecord | None, reason: str, start: tuple[Repair, str] | None
) -> None:
    assert start == next_schedule_start(
        record,
        "new",
        now=NOW,
        repair_after=timedelta(minutes=10),
        pull_request_reason=lambda: reason,
    )


@breaks(
    "checks are repeated while people have to act",
    turned(
        may_repeat_checks,
        "has_open_pull_request or is_blocked",
        "is_blocked",
    ),
)
@pytest.mark.parametrize(
    ("scheduled", "is_open", "allowed"),
    [
        (None, False, True),
        (StartRecord("scheduled", "d"), False, True),
        (StartRecord("scheduled", "d"), True, False),
        (StartRecord("blocked", "d"), False, False),
    ],
)
def test_whether_checks_are_repeated(
    scheduled: StartRecord | None, is_open: bool, allowed: bool
) -> None:
    assert may_repeat_checks(scheduled, has_open_pull_request=is_open) == allowed


PROMOTED = statuses.promoted("dev")
FAILED = statuses.failed("dev", "no")
DEPLOYING = statuses.deploying("dev")


@breaks(
    "a merge that nobody told of stays untold",
    turned(
        next_check_attempt,
        "statuses.has_failed(latest) and record is not None and not is_same",
        "False",
    ),
)
@breaks(
    "a lost start stays lost",
    turned(
        next_check_attempt,
        "statuses.is_before_merge(latest)",
        "latest is None",
    ),
)
@pytest.mark.parametrize(
    ("latest", "record", "changed", "attempt"),
    [
        pytest.param(None, None, True, 0, id="nothing is promoted"),
        pytest.param(PROMOTED, None, False, 1, id="never started"),
        pytest.param(PROMOTED, StartRecord("starting", HEAD, 1), False, 2, id="lost"),
        pytest.param(
            PROMOTED, StartRecord("starting", HEAD, MOST_ATTEMPTS), False, 0, id="given up"
        ),
        pytest.param(PROMOTED, StartRecord("refused", HEAD), False, 1, id="refused before"),
        pytest.param(PROMOTED, StartRecord("received", HEAD), False, 0, id="received"),
        pytest.param(PROMOTED, StartRecord("received", EARLIER), True, 1, id="an earlier merge"),
        pytest.param(FAILED, StartRecord("starting", HEAD, 1), True, 0, id="poll repeats it"),
        pytest.param(FAILED, None, True, 0, id="a failure without a record"),
        pytest.param(DEPLOYING, StartRecord("received", EARLIER), True, 0, id="under way"),
        pytest.param(FAILED, StartRecord("received", HEAD), True, 0, id="the failed merge"),
        pytest.param(FAILED, StartRecord("received", EARLIER), True, 1, id="corrected"),
        pytest.param(FAILED, StartRecord("received", EARLIER), False, 0, id="other files"),
        pytest.param(
            statuses.deployed("dev"),
            StartRecord("received", EARLIER),
            True,
            0,
            id="deployed",
        ),
    ],
)
def test_starts_of_check_promote_by_schedule(
    latest: CommitStatus | None, record: StartRecord | None, changed: bool, attempt: int
) -> None:
    assert next_check_attempt(latest, record, HEAD, has_changed=lambda _: changed) == attempt


@breaks(
    "every start of cd forces what people removed",
    turned(
        forces_schedule,
        "action == 'unchanged' and not promoted_from",
        "action == 'unchanged'",
    ),
)
@pytest.mark.parametrize(
    ("action", "origin", "forces"),
    [("unchanged", "", True), ("unchanged", "dev", False), ("written", "", False)],
)
def test_whether_cd_forces_schedule(action: str, origin: str, forces: bool) -> None:
    assert forces_schedule(action, origin) == forces
