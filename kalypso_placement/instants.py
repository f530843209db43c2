"""Points in time as whole nanoseconds, as Go's time.Time counts them.

A Python datetime has microseconds, and cannot hold a sum beyond the year 9999.
"""

from __future__ import annotations

import re
from datetime import UTC, date, datetime, timedelta
from typing import Final

SECOND: Final = 1_000_000_000
YEAR_ONE: Final = -62135596800 * SECOND
"""Go's zero time: the `timeAdded` of a taint that has none."""

_INT64: Final = 2**64
_RFC3339: Final = re.compile(
    r"(\d{4})-(\d\d)-(\d\d)[Tt](\d\d):(\d\d):(\d\d)(?:[.,](\d{1,9})\d*)?"
    r"(?:([Zz])|([+-])(\d\d):(\d\d))\Z"
)


def parse_instant(text: str) -> int | None:
    """Return the nanoseconds since 1970 of an RFC 3339 time; None if the text is not one."""
    match = _RFC3339.match(text)
    if match is None:
        return None
    year, month, day, hour, minute, second = (int(part) for part in match.groups()[:6])
    if hour > 23 or minute > 59 or second > 59:
        return None
    try:
        days = date(year, month, day).toordinal() - date(1970, 1, 1).toordinal()
    except ValueError:
        return None
    offset = 0
    if match[9]:
        if int(match[10]) > 23 or int(match[11]) > 59:
            return None
        offset = (int(match[10]) * 3600 + int(match[11]) * 60) * (-1 if match[9] == "-" else 1)
    seconds = days * 86400 + hour * 3600 + minute * 60 + second - offset
    return seconds * SECOND + int((match[7] or "").ljust(9, "0") or 0)


def format_instant(instant: int) -> str:
    """Format as RFC 3339 in UTC, with a fraction only if it is not zero."""
    seconds, nanos = divmod(instant, SECOND)
    moment = datetime(1970, 1, 1, tzinfo=UTC) + timedelta(seconds=seconds)
    fraction = f".{nanos:09}".rstrip("0") if nanos else ""
    return f"{moment.replace(tzinfo=None).isoformat()}{fraction}Z"


def of_datetime(moment: datetime) -> int:
    """Convert a datetime with a time zone."""
    since = moment - datetime(1970, 1, 1, tzinfo=UTC)
    return (since.days * 86400 + since.seconds) * SECOND + since.microseconds * 1000


def as_datetime(instant: int) -> datetime:
    """Convert to a datetime in UTC; cut fractions of a microsecond."""
    return datetime(1970, 1, 1, tzinfo=UTC) + timedelta(microseconds=instant // 1000)


def add_seconds(instant: int, seconds: int) -> int:
    """Add as Go does: a duration of more than 292 years overflows 64 bits."""
    duration = seconds * SECOND % _INT64
    return instant + (duration - _INT64 if duration >= _INT64 // 2 else duration)
