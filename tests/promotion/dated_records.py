"""Start records that were posted some minutes before noon."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from kalypso_actions.promotion.start_records import Kind, StartRecord

NOON = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)


def record(
    kind: Kind = "starting", *, minutes: float | None = 10, attempt: int = 1, subject: str = "ci"
) -> StartRecord:
    """Return a record that was posted so many minutes before noon (None: not known)."""
    since = None if minutes is None else NOON - timedelta(minutes=minutes)
    return StartRecord(kind, subject, attempt if kind == "starting" else 0, since)
