"""Points in time and their calendar, as Go's `time` package counts them.

An `Instant` has Go's range, which is far beyond that of Python's `datetime`, and nanoseconds.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta, tzinfo
from functools import lru_cache
from zoneinfo import ZoneInfo

from kalypso_actions.gotemplate.numerals import MAX_INT64
from kalypso_actions.gotemplate.sprig.coercion import wrap_int64
from kalypso_actions.gotemplate.values import FunctionError

NANOSECONDS = 10**9
DAY = 86400

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_CYCLE = 146_097 * DAY
"""After 400 years the calendar begins anew."""

_YEAR_1 = -62_135_596_800
"""The zero `time.Time`, in Unix seconds."""

_DATETIMES = (_YEAR_1 + 2 * DAY, 253_402_300_800 - 2 * DAY)
"""What Python's `datetime` holds in any time zone, in Unix seconds."""

_ABSOLUTE_ZERO = -(292_277_022_400 * 3_652_425 // 10_000 + 306) * DAY + _YEAR_1
"""Where Go begins to count the 64 bits of its calendar, in Unix seconds."""


@dataclass(frozen=True, slots=True)
class Location:
    """A time zone by name: Go's own two, one of the database, or a fixed offset.

    A fixed one has an `abbreviation`, perhaps empty, and seconds east of UTC.
    """

    name: str
    abbreviation: str = ""
    offset: int = 0
    rules: tzinfo | None = None
    is_local: bool = False

    def at(self, unix: int) -> tuple[str, int, bool]:
        """Abbreviation, seconds east of UTC, and whether that is summer time."""
        if self.rules is None:
            return self.abbreviation, self.offset, False
        if not _DATETIMES[0] <= unix < _DATETIMES[1]:
            # Beyond Python's years the rules of the same day in another cycle hold.
            unix = unix % _CYCLE + (_CYCLE if unix > 0 else -4 * _CYCLE)
        moment = (_EPOCH + timedelta(seconds=unix)).astimezone(self.rules)
        offset = moment.utcoffset() or timedelta()
        return moment.tzname() or "", int(offset.total_seconds()), bool(moment.dst())


UTC_LOCATION = Location("UTC", "UTC")
LOCAL = Location("UTC", "UTC", is_local=True)
"""The operator's own time zone, in which Go reads and writes dates unless told otherwise: UTC."""


def fixed_zone(abbreviation: str, offset: int) -> Location:
    """Go's `time.FixedZone`."""
    return Location(abbreviation, abbreviation, offset)


@lru_cache(maxsize=64)
def load_location(name: str) -> Location | None:
    """Go's `time.LoadLocation`: None for a name that the time zone database does not know.

    Raises `FunctionError` where this computer has no such database.
    """
    if name in ("", "UTC"):
        return UTC_LOCATION
    if name == "Local":
        return LOCAL
    if ".." in name or name.startswith(("/", "\\")):
        return None
    try:
        return Location(name, rules=ZoneInfo(name))
    except (ValueError, OSError, KeyError):
        pass
    try:
        ZoneInfo("America/New_York")
    except KeyError as error:
        raise FunctionError(
            f"time zone {name}: this computer has no time zone database "
            "(the Python package tzdata is one)"
        ) from error
    return None


@dataclass(frozen=True, slots=True)
class Instant:
    """A moment: seconds since 1970 in UTC, nanoseconds, and where it is looked at from."""

    unix: int
    nanosecond: int = 0
    location: Location = UTC_LOCATION

    @property
    def total(self) -> int:
        """Nanoseconds since the beginning of the year 1."""
        return (self.unix - _YEAR_1) * NANOSECONDS + self.nanosecond

    def at(self, location: Location) -> Instant:
        """The same moment, looked at from elsewhere."""
        return replace(self, location=location)

    def zone(self) -> tuple[str, int, bool]:
        """Abbreviation, seconds east of UTC, and whether that is summer time."""
        return self.location.at(self.unix)

    def clock(self) -> tuple[int, int]:
        """The day since 1970 and the second of that day, where it is looked at from."""
        absolute = (self.unix + self.zone()[1] - _ABSOLUTE_ZERO) % (1 << 64)
        return divmod(absolute + _ABSOLUTE_ZERO, DAY)

    def date(self) -> tuple[int, int, int]:
        """Year, month and day."""
        return civil_date(self.clock()[0])

    def weekday(self) -> int:
        """The day of the week, 0 for Sunday."""
        return (self.clock()[0] + 4) % 7

    def year_day(self) -> int:
        """The day of the year, from 1."""
        return self.clock()[0] - day_number(self.date()[0], 1, 1) + 1

    def plus(self, nanoseconds: int) -> Instant:
        """Go's `Time.Add`."""
        carry, nanosecond = divmod(self.nanosecond + nanoseconds, NANOSECONDS)
        internal = self.unix - _YEAR_1 + carry
        unix = max(-MAX_INT64, min(internal, MAX_INT64)) + _YEAR_1
        return Instant(unix, nanosecond, self.location)


def from_unix(seconds: int, location: Location = LOCAL) -> Instant:
    """Go's `time.Unix(seconds, 0)`, which wraps around far outside of the calendar."""
    return Instant(wrap_int64(seconds - _YEAR_1) + _YEAR_1, 0, location)


def from_date(
    year: int, month: int, day: int, second: int, nanosecond: int, location: Location
) -> Instant:
    """Go's `time.Date`: months and days beyond their range carry over."""
    years, month = divmod(month - 1, 12)
    unix = (day_number(year + years, month + 1, 1) + day - 1) * DAY + second
    offset = location.at(unix)[1]
    if offset:
        offset = location.at(unix - offset)[1]
    return Instant(unix - offset, nanosecond, location)


ZERO = Instant(_YEAR_1)
"""Go's zero `time.Time`: what cannot be parsed."""


def is_leap(year: int) -> bool:
    """Whether February has 29 days."""
    return year % 4 == 0 and (year % 100 != 0 or year % 400 == 0)


def days_in_month(year: int, month: int) -> int:
    """How many days a month has."""
    if month == 2:
        return 29 if is_leap(year) else 28
    return 30 if month in (4, 6, 9, 11) else 31


def day_number(year: int, month: int, day: int) -> int:
    """Days since 1970, in the Gregorian calendar of any year."""
    # Years begin in March here, so that the leap day is their last.
    year -= month <= 2
    months = (month + 9) % 12
    of_year = (153 * months + 2) // 5 + day - 1
    return year * 365 + year // 4 - year // 100 + year // 400 + of_year - 719_468


def civil_date(number: int) -> tuple[int, int, int]:
    """Year, month and day of a `day_number`."""
    cycle, of_cycle = divmod(number + 719_468, 146_097)
    of_year_400 = (of_cycle - of_cycle // 1460 + of_cycle // 36_524 - of_cycle // 146_096) // 365
    of_year = of_cycle - (365 * of_year_400 + of_year_400 // 4 - of_year_400 // 100)
    months = (5 * of_year + 2) // 153
    day = of_year - (153 * months + 2) // 5 + 1
    month = months + 3 if months < 10 else months - 9
    return of_year_400 + cycle * 400 + (month <= 2), month, day
