"""Points in time and their calendar, like Go's `time` package.

An `Instant` has nanoseconds and Go's range, which far exceeds that of Python's `datetime`.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta, tzinfo
from functools import lru_cache
from zoneinfo import ZoneInfo

from kalypso_go.gotemplate.numerals import MAX_INT64, MIN_INT64
from kalypso_go.gotemplate.sprig.coercion import wrap_int64
from kalypso_go.gotemplate.values import FunctionError

NANOSECONDS = 10**9
DAY = 86400

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_CYCLE = 146_097 * DAY
"""The calendar repeats every 400 years."""

_YEAR_1 = -62_135_596_800
"""The zero `time.Time`, in Unix seconds."""

_DATETIMES = (_YEAR_1 + 2 * DAY, 253_402_300_800 - 2 * DAY)
"""The range of Python's `datetime` in any time zone, in Unix seconds."""

_ABSOLUTE_ZERO = -(292_277_022_400 * 3_652_425 // 10_000 + 306) * DAY + _YEAR_1
"""The start of Go's calendar of 64 bits, in Unix seconds."""


@dataclass(frozen=True, slots=True)
class Location:
    """A time zone: UTC, the local zone, a zone of the database, or a fixed offset.

    A fixed zone has an `abbreviation`, possibly empty, and an `offset` in seconds east of UTC.
    """

    name: str
    abbreviation: str = ""
    offset: int = 0
    rules: tzinfo | None = None
    is_local: bool = False

    def at(self, unix: int) -> tuple[str, int, bool]:
        """Return abbreviation, seconds east of UTC, and whether daylight saving time applies."""
        if self.rules is None:
            return self.abbreviation, self.offset, False
        if not _DATETIMES[0] <= unix < _DATETIMES[1]:
            # Outside Python's range, use the rules of the same day in another cycle.
            unix = unix % _CYCLE + (_CYCLE if unix > 0 else -4 * _CYCLE)
        moment = (_EPOCH + timedelta(seconds=unix)).astimezone(self.rules)
        offset = moment.utcoffset() or timedelta()
        return moment.tzname() or "", int(offset.total_seconds()), bool(moment.dst())


UTC_LOCATION = Location("UTC", "UTC")
LOCAL = Location("UTC", "UTC", is_local=True)
"""The operator's time zone, in which Go parses and formats by default: UTC."""


def fixed_zone(abbreviation: str, offset: int) -> Location:
    """Go's `time.FixedZone`."""
    return Location(abbreviation, abbreviation, offset)


@lru_cache(maxsize=64)
def load_location(name: str) -> Location | None:
    """Go's `time.LoadLocation`: None if the time zone database does not have the name.

    Raises `FunctionError` if this computer has no time zone database.
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
            "(install the Python package tzdata)"
        ) from error
    return None


@dataclass(frozen=True, slots=True)
class Instant:
    """A point in time: seconds since 1970 in UTC, nanoseconds, and the location of its clock."""

    unix: int
    nanosecond: int = 0
    location: Location = UTC_LOCATION

    @property
    def total(self) -> int:
        """The nanoseconds since the beginning of the year 1."""
        return (self.unix - _YEAR_1) * NANOSECONDS + self.nanosecond

    def at(self, location: Location) -> Instant:
        """Return the same point in time in another location."""
        return replace(self, location=location)

    def zone(self) -> tuple[str, int, bool]:
        """Return abbreviation, seconds east of UTC, and whether daylight saving time applies."""
        return self.location.at(self.unix)

    def clock(self) -> tuple[int, int]:
        """Return the day since 1970 and the second of that day, in its location."""
        absolute = (self.unix + self.zone()[1] - _ABSOLUTE_ZERO) % (1 << 64)
        return divmod(absolute + _ABSOLUTE_ZERO, DAY)

    def date(self) -> tuple[int, int, int]:
        """Return year, month and day."""
        return civil_date(self.clock()[0])

    def weekday(self) -> int:
        """Return the day of the week, 0 for Sunday."""
        return (self.clock()[0] + 4) % 7

    def year_day(self) -> int:
        """Return the day of the year, from 1."""
        return self.clock()[0] - day_number(self.date()[0], 1, 1) + 1

    def plus(self, nanoseconds: int) -> Instant:
        """Go's `Time.Add`."""
        carry, nanosecond = divmod(self.nanosecond + nanoseconds, NANOSECONDS)
        internal = self.unix - _YEAR_1 + carry
        unix = max(-MAX_INT64, min(internal, MAX_INT64)) + _YEAR_1
        return Instant(unix, nanosecond, self.location)


def from_unix(seconds: int, location: Location = LOCAL) -> Instant:
    """Go's `time.Unix(seconds, 0)`, which wraps around far outside the calendar."""
    return Instant(wrap_int64(seconds - _YEAR_1) + _YEAR_1, 0, location)


def from_date(
    year: int, month: int, day: int, second: int, nanosecond: int, location: Location
) -> Instant:
    """Go's `time.Date`: months and days out of range carry over."""
    years, month = divmod(month - 1, 12)
    unix = (day_number(year + years, month + 1, 1) + day - 1) * DAY + second
    offset = location.at(unix)[1]
    if offset:
        offset = location.at(unix - offset)[1]
    return Instant(unix - offset, nanosecond, location)


ZERO = Instant(_YEAR_1)
"""Go's zero `time.Time`, the result for dates that cannot be parsed."""


def is_leap(year: int) -> bool:
    """Return whether February has 29 days."""
    return year % 4 == 0 and (year % 100 != 0 or year % 400 == 0)


def days_in_month(year: int, month: int) -> int:
    """Return the number of days of a month."""
    if month == 2:
        return 29 if is_leap(year) else 28
    return 30 if month in (4, 6, 9, 11) else 31


def day_number(year: int, month: int, day: int) -> int:
    """Return the days since 1970, in the Gregorian calendar of any year."""
    # Count years from March, so that the leap day is the last day.
    year -= month <= 2
    months = (month + 9) % 12
    day_of_year = (153 * months + 2) // 5 + day - 1
    return year * 365 + year // 4 - year // 100 + year // 400 + day_of_year - 719_468


def civil_date(number: int) -> tuple[int, int, int]:
    """Return year, month and day of a `day_number`."""
    cycle, days = divmod(number + 719_468, 146_097)
    year_of_cycle = (days - days // 1460 + days // 36_524 - days // 146_096) // 365
    day_of_year = days - (365 * year_of_cycle + year_of_cycle // 4 - year_of_cycle // 100)
    months = (5 * day_of_year + 2) // 153
    day = day_of_year - (153 * months + 2) // 5 + 1
    month = months + 3 if months < 10 else months - 9
    return year_of_cycle + cycle * 400 + (month <= 2), month, day


UNITS = {
    "ns": 1,
    "us": 1_000,
    "µs": 1_000,
    "μs": 1_000,
    "ms": 1_000_000,
    "s": 1_000_000_000,
    "m": 60_000_000_000,
    "h": 3_600_000_000_000,
}
_DURATION_PART = re.compile(r"([0-9]*)(?:\.([0-9]*))?([^.0-9]+)")


def parse_duration(text: str) -> int:
    """Go's `time.ParseDuration` in nanoseconds; raises ValueError."""
    sign, rest = (text[0], text[1:]) if text[:1] in ("-", "+") else ("+", text)
    if rest == "0":
        return 0
    if not rest:
        raise ValueError("invalid duration")
    total = position = 0
    while position < len(rest):
        match = _DURATION_PART.match(rest, position)
        if match is None or not (match[1] or match[2]) or match[3] not in UNITS:
            raise ValueError("invalid duration")
        total += _in_nanoseconds(match[1], match[2] or "", UNITS[match[3]])
        position = match.end()
    if total > (-MIN_INT64 if sign == "-" else MAX_INT64):
        raise ValueError("invalid duration")
    return -total if sign == "-" else total


def _in_nanoseconds(whole: str, fraction: str, unit: int) -> int:
    if len(whole.lstrip("0")) > 19:
        raise ValueError("invalid duration")
    total = int(whole.lstrip("0") or "0") * unit
    if total > -MIN_INT64:
        raise ValueError("invalid duration")
    # Go keeps the digits of the fraction that fit in 63 bits, and divides floats.
    kept = fraction[:19]
    while int(kept or "0") > MAX_INT64:
        kept = kept[:-1]
    return total + int(float(int(kept or "0")) * (float(unit) / 10.0 ** len(kept)))


def format_duration(nanoseconds: int) -> str:
    """Go's `Duration.String`."""
    if nanoseconds == 0:
        return "0s"
    sign = "-" if nanoseconds < 0 else ""
    total = abs(nanoseconds)
    for unit in ("ns", "µs", "ms"):
        if total < UNITS[unit] * 1_000:
            return sign + _decimal_units(total, UNITS[unit]) + unit
    minutes, rest = divmod(total, UNITS["m"])
    text = _decimal_units(rest, UNITS["s"]) + "s"
    if minutes:
        text = f"{minutes % 60}m{text}"
    if minutes >= 60:
        text = f"{minutes // 60}h{text}"
    return sign + text


def _decimal_units(number: int, unit: int) -> str:
    """Format `number / unit` with the fewest digits; `unit` is a power of ten."""
    whole, rest = divmod(number, unit)
    return f"{whole}.{str(unit + rest)[1:].rstrip('0')}" if rest else str(whole)


def clamp(nanoseconds: int) -> int:
    """Return the nearest duration that an int64 holds."""
    return max(MIN_INT64, min(nanoseconds, MAX_INT64))
