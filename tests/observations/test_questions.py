"""The time that a person means."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from kalypso_actions.errors import UsageError
from kalypso_actions.observations.questions import moment

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


@pytest.mark.parametrize(
    "text", ["yesterday", "25:00", "2026-13-01", "", "3", "3 fortnights", "999999w", "800000d ago"]
)
def test_another_text_is_refused(text: str) -> None:
    with pytest.raises(UsageError, match="is no time"):
        moment(text, NOW)
