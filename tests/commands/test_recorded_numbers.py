"""The records of a waiting run: GitHub keeps 1,000 of them."""

from __future__ import annotations

from datetime import timedelta

from kalypso_actions.commands.check_promote.recorded_numbers import pause_after


def test_a_large_fleet_that_changes_every_minute_for_a_month() -> None:
    waited, records = timedelta(), 0
    while waited < timedelta(days=30):
        waited += pause_after(waited)
        records += 1
    assert records < 500


def test_the_first_hour_has_a_record_each_minute() -> None:
    assert pause_after(timedelta(minutes=59)) == timedelta(minutes=1)
    assert pause_after(timedelta(hours=10)) == timedelta(minutes=10)
