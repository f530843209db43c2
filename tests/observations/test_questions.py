"""The time, and the name, that a person means."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from kalypso_actions.errors import UsageError
from kalypso_actions.observations.histories import cluster_periods, target_periods
from kalypso_actions.observations.questions import is_known, moment, states, where
from tests.observations.test_record import AT
from tests.observations.told import Look, told

NOW = datetime(2026, 3, 10, 12, 30, tzinfo=UTC)


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        ("2026-03-01T12:00:00Z", "2026-03-01T12:00:00+00:00"),
        ("2026-03-01T12:00:00+02:00", "2026-03-01T10:00:00+00:00"),
        ("2026-03-01", "2026-03-01T00:00:00+00:00"),
        ("2026-03-01 08:15", "2026-03-01T08:15:00+00:00"),
        ("2026-03-01 08:15:30", "2026-03-01T08:15:30+00:00"),
        ("08:15", "2026-03-10T08:15:00+00:00"),
        ("12:30:01", "2026-03-09T12:30:01+00:00"),
        ("3h", "2026-03-10T09:30:00+00:00"),
        ("2d ago", "2026-03-08T12:30:00+00:00"),
    ],
)
def test_a_time_is_understood(text: str, meant: str) -> None:
    assert moment(text, NOW) == datetime.fromisoformat(meant)


@pytest.mark.parametrize("name", ["Äpfel", "äpfel", "ÄPFEL"])
def test_the_case_of_a_name_does_not_matter_in_any_alphabet(name: str) -> None:
    tables = told(Look(0, {"large": "a", "Äpfel": "a"}, {"c1": "a success, Äpfel a success"}))
    (state,) = where(states(tables, AT, about=name), name)
    assert state.target == "Äpfel"
    assert is_known(tables, name)
    assert [each.target for each in target_periods(tables, name, AT)] == ["Äpfel"]
    assert [each.target for each in cluster_periods(tables, "C1", AT, None, name)] == ["Äpfel"]


@pytest.mark.parametrize(
    "text", ["yesterday", "25:00", "2026-13-01", "", "3", "3 fortnights", "999999w", "800000d ago"]
)
def test_another_text_is_refused(text: str) -> None:
    with pytest.raises(UsageError, match="is no time"):
        moment(text, NOW)
