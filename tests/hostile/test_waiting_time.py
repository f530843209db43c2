"""A dispatch of check-promote falsely claims a long waiting time."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from kalypso_actions.inputs.chain import CheckPromoteInputs
from kalypso_actions.inputs.values import option_of
from kalypso_actions.promotion.requests import waiting_start
from tests.breaks import breaks, turned
from tests.commands.chain.organisation import Organisation
from tests.commands.chain.promotions import check, document, main_commit, merge, sign_in

MERGED = datetime(2026, 3, 1, 12, tzinfo=UTC)
NOW = MERGED + timedelta(hours=1)


@pytest.fixture
def waiting(acme: Organisation, monkeypatch: pytest.MonkeyPatch) -> Organisation:
    """An environment whose cluster needs five minutes; runs wait for ten."""
    sign_in(acme, monkeypatch)
    acme.cluster("dev", "drone", delay=300)
    return acme


@pytest.mark.parametrize(
    "claimed", ["1970-01-01T00:00:00Z", "0001-01-01T00:00:00+14:00", "2026-02-28T12:00:00+00:00"]
)
def test_no_promotion_times_out_before_its_time(waiting: Organisation, claimed: str) -> None:
    commit = main_commit(waiting)
    merged = merge(waiting, commit)
    outcome = check(waiting, merged, commit, started_at=claimed)
    assert document(outcome).verdict == "compliant"
    assert any("before the merge" in line for line in waiting.logged)


@breaks(
    "the waiting may have begun before the merge",
    turned(waiting_start, "max(claimed, merged)", "claimed"),
)
@pytest.mark.parametrize(
    ("claimed", "expected"),
    [
        (MERGED - timedelta(days=9000), MERGED),
        (MERGED - timedelta(seconds=1), MERGED),
        (MERGED + timedelta(seconds=1), MERGED + timedelta(seconds=1)),
        (NOW + timedelta(days=9000), NOW),
        (datetime.min.replace(tzinfo=UTC), MERGED),
        (datetime.max.replace(tzinfo=UTC), NOW),
    ],
)
def test_the_waiting_began_between_the_merge_and_now(claimed: datetime, expected: datetime) -> None:
    assert waiting_start(claimed, merged=MERGED, now=NOW) == expected


def test_a_commit_from_the_future_was_merged_by_now() -> None:
    assert waiting_start(MERGED, merged=NOW + timedelta(days=1), now=NOW) == NOW


def test_the_input_is_a_claim() -> None:
    assert "not before the merge" in option_of(CheckPromoteInputs.model_fields["started_at"]).text
