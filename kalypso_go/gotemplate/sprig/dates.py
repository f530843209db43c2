"""Dates and durations: functions, and values with the methods of Go's `time.Time` and `Duration`.

Go's functions fall back to the current time; here that is an error, because manifests must not
depend on the time of rendering. Methods that encode to binary or append to given bytes are missing.
"""

from __future__ import annotations

from kalypso_go.gotemplate.budget import Budget
from kalypso_go.gotemplate.sprig.coercion import wrap_int64
from kalypso_go.gotemplate.sprig.instants import (
    LOCAL,
    UNITS,
    UTC_LOCATION,
    ZERO,
    Instant,
    Location,
    clamp,
    format_duration,
    from_date,
    from_unix,
    load_location,
    parse_duration,
)
from kalypso_go.gotemplate.sprig.layouts import MONTHS, WEEKDAYS, format_instant, parse_instant
from kalypso_go.gotemplate.sprig.signature import Methods, function
from kalypso_go.gotemplate.text import quote, to_bytes
from kalypso_go.gotemplate.values import (
    ANY,
    BOOL,
    FLOAT64,
    INT,
    INT32,
    INT64,
    STRING,
    UINT8,
    Function,
    FunctionError,
    GoInt,
    GoSlice,
    GoStruct,
    Type,
    pointer_to,
    slice_of,
    type_of,
)

TIME = Type("struct", "time.Time")
MONTH = Type("int", "time.Month")
WEEKDAY = Type("int", "time.Weekday")
LOCATION = Type("struct", "time.Location")
DURATION = Type("int64", "time.Duration")
BYTES = slice_of(UINT8)

_HTML = "2006-01-02"


def _instant(value: object) -> Instant:
    """Return the date that a value stands for: a date itself, or seconds since 1970.

    Raises `FunctionError` for other values, for which sprig uses the current time.
    """
    if isinstance(value, TimeValue):
        return value.instant
    if isinstance(value, int) and type_of(value) in (INT, INT32, INT64):
        return from_unix(value)
    raise FunctionError(
        f"{type_of(value) or 'nil'} is not a date: sprig would use the current time, so the output "
        "would not be reproducible"
    )


def _formatted(layout: str, value: object, zone: str) -> str:
    return format_instant(_instant(value).at(load_location(zone) or UTC_LOCATION), layout)


@function("date", STRING, ANY, returns=STRING, cost=16)
def date(layout: str, value: object) -> str:
    """Format a date in the operator's time zone, which is UTC."""
    return _formatted(layout, value, "Local")


@function("dateInZone", "date_in_zone", STRING, ANY, STRING, returns=STRING, cost=16)
def date_in_zone(layout: str, value: object, zone: str) -> str:
    """Format a date in a named time zone, or in UTC if the name is unknown."""
    return _formatted(layout, value, zone)


@function("htmlDate", ANY, returns=STRING)
def html_date(value: object) -> str:
    """Format a date as `2006-01-02`."""
    return _formatted(_HTML, value, "Local")


@function("htmlDateInZone", ANY, STRING, returns=STRING)
def html_date_in_zone(value: object, zone: str) -> str:
    """Format a date in a named time zone as `2006-01-02`."""
    return _formatted(_HTML, value, zone)


@function("dateModify", "date_modify", STRING, TIME, returns=TIME)
def date_modify(duration: str, value: TimeValue) -> TimeValue:
    """Add a duration to a date; an invalid duration changes nothing."""
    try:
        return TimeValue(value.instant.plus(parse_duration(duration)))
    except ValueError:
        return value


@function("toDate", STRING, STRING, returns=TIME, takes_budget=True)
def to_date(budget: Budget, layout: str, text: str) -> TimeValue:
    """Parse a date; return the first day of the year 1 for an invalid text."""
    # The parser copies the rest of the text for each element of the layout.
    budget.spend(512 + len(layout) * (16 + len(text) // 256), "toDate")
    try:
        return TimeValue(parse_instant(layout, text))
    except ValueError:
        return TimeValue(ZERO)


@function("unixEpoch", TIME, returns=STRING)
def unix_epoch(value: TimeValue) -> str:
    """Return the seconds since 1970."""
    return str(value.instant.unix)


# Times


class TimeValue(GoStruct):
    """A `time.Time`."""

    __slots__ = ("instant",)

    def __init__(self, instant: Instant) -> None:
        super().__init__(TIME, {}, _TIME_METHODS.of(instant))
        self.instant = instant

    def __eq__(self, other: object) -> bool:
        """Go's `==`: the same point in time in the same location."""
        return isinstance(other, TimeValue) and self.instant == other.instant

    def __hash__(self) -> int:
        return hash(self.instant)


class LocationValue(GoStruct):
    """A `*time.Location`."""

    __slots__ = ("location",)

    def __init__(self, location: Location) -> None:
        string = Function("String", lambda: location.name, result=STRING)
        super().__init__(LOCATION, {}, {"String": string}, pointer=True)
        self.location = location


def _named(type_: Type, number: int, names: tuple[str, ...]) -> GoInt:
    """Return a number that prints as its name."""
    string = Function("String", lambda: names[number], result=STRING)
    return GoInt(type_, number, {"String": string})


def json_text(instant: Instant) -> str:
    """Go's `Time.MarshalText`; raises `FunctionError` for dates outside RFC 3339."""
    if not 0 <= instant.date()[0] <= 9999:
        raise FunctionError("Time.MarshalText: year outside of range [0,9999]")
    if abs(instant.zone()[1]) >= 24 * 3600:
        raise FunctionError("Time.MarshalText: timezone hour outside of range [0,23]")
    return format_instant(instant, "2006-01-02T15:04:05.999999999Z07:00")


def _go_bytes(text: str) -> GoSlice:
    return GoSlice(BYTES, [GoInt(UINT8, byte) for byte in to_bytes(text)])


def _since_1970(instant: Instant, unit: int) -> GoInt:
    """Return the time since 1970 in whole units of `unit` nanoseconds."""
    total = instant.unix * 10**9 + instant.nanosecond
    return GoInt(INT64, wrap_int64(total // unit))


_TIME_METHODS = Methods()
_time = _TIME_METHODS.add
_time("String", STRING, lambda at: format_instant(at, "2006-01-02 15:04:05.999999999 -0700 MST"))
_time("Format", STRING, format_instant, STRING)
_time("Year", INT, lambda at: at.date()[0])
_time("Month", MONTH, lambda at: _named(MONTH, at.date()[1], ("", *MONTHS)))
_time("Day", INT, lambda at: at.date()[2])
_time("Weekday", WEEKDAY, lambda at: _named(WEEKDAY, at.weekday(), WEEKDAYS))
_time("YearDay", INT, lambda at: at.year_day())
_time("Hour", INT, lambda at: at.clock()[1] // 3600)
_time("Minute", INT, lambda at: at.clock()[1] // 60 % 60)
_time("Second", INT, lambda at: at.clock()[1] % 60)
_time("Nanosecond", INT, lambda at: at.nanosecond)
_time("Unix", INT64, lambda at: _since_1970(at, 10**9))
_time("UnixMilli", INT64, lambda at: _since_1970(at, 10**6))
_time("UnixMicro", INT64, lambda at: _since_1970(at, 10**3))
_time("UnixNano", INT64, lambda at: _since_1970(at, 1))
_time("IsZero", BOOL, lambda at: at.total == ZERO.total)
_time("IsDST", BOOL, lambda at: at.zone()[2])
_time("After", BOOL, lambda at, other: at.total > other.instant.total, TIME)
_time("Before", BOOL, lambda at, other: at.total < other.instant.total, TIME)
_time("Equal", BOOL, lambda at, other: at.total == other.instant.total, TIME)
_time("Sub", DURATION, lambda at, other: duration(clamp(at.total - other.instant.total)), TIME)
_time("Add", TIME, lambda at, nanoseconds: TimeValue(at.plus(nanoseconds)), DURATION)
_time("UTC", TIME, lambda at: TimeValue(at.at(UTC_LOCATION)))
_time("Local", TIME, lambda at: TimeValue(at.at(LOCAL)))
_time("Location", pointer_to(LOCATION), lambda at: LocationValue(at.location))
_time("MarshalText", BYTES, lambda at: _go_bytes(json_text(at)))
_time("MarshalJSON", BYTES, lambda at: _go_bytes(f'"{json_text(at)}"'))

for _name in ("Clock", "Date"):
    _TIME_METHODS.unusable(_name, f"function {_name} has 3 return values; should be 1 or 2")
for _name, _type in (("ISOWeek", INT), ("Zone", INT), ("ZoneBounds", TIME)):
    _TIME_METHODS.unusable(
        _name,
        f"invalid function signature for {_name}: second return value should be error; is {_type}",
    )


@_TIME_METHODS("GoString", returns=STRING)
def _go_string(instant: Instant) -> str:
    year, month, day = instant.date()
    second = instant.clock()[1]
    names = {UTC_LOCATION: "time.UTC", LOCAL: "time.Local"}
    place = names.get(instant.location, f"time.Location({quote(instant.location.name)})")
    return (
        f"time.Date({year}, time.{MONTHS[month - 1]}, {day}, {second // 3600}, "
        f"{second // 60 % 60}, {second % 60}, {instant.nanosecond}, {place})"
    )


@_TIME_METHODS("Compare", TIME, returns=INT)
def _compare(instant: Instant, other: TimeValue) -> int:
    return (instant.total > other.instant.total) - (instant.total < other.instant.total)


@_TIME_METHODS("AddDate", INT, INT, INT, returns=TIME)
def _add_date(instant: Instant, years: int, months: int, days: int) -> TimeValue:
    year, month, day = instant.date()
    second = instant.clock()[1]
    moved = (year + years, month + months, day + days)
    return TimeValue(from_date(*moved, second, instant.nanosecond, instant.location))


@_TIME_METHODS("Round", DURATION, returns=TIME)
def _round(instant: Instant, unit: int) -> TimeValue:
    """Round to a multiple of `unit` since the year 1, halves up."""
    if unit <= 0:
        return TimeValue(instant)
    rest = instant.total % unit
    return TimeValue(instant.plus(-rest if rest + rest < unit else unit - rest))


@_TIME_METHODS("Truncate", DURATION, returns=TIME)
def _truncate(instant: Instant, unit: int) -> TimeValue:
    """Round down to a multiple of `unit` since the year 1."""
    return TimeValue(instant.plus(-(instant.total % unit)) if unit > 0 else instant)


@_TIME_METHODS("In", pointer_to(LOCATION), returns=TIME)
def _in(instant: Instant, place: LocationValue | None) -> TimeValue:
    if place is None:
        raise FunctionError("time: missing Location in call to Time.In")
    return TimeValue(instant.at(place.location))


# Durations


def duration(nanoseconds: int) -> GoInt:
    """Return a `time.Duration`."""
    return GoInt(DURATION, nanoseconds, _DURATION_METHODS.of(nanoseconds))


def _in_units(nanoseconds: int, unit: str) -> float:
    rest = nanoseconds - _truncated(nanoseconds, UNITS[unit])
    return float((nanoseconds - rest) // UNITS[unit]) + rest / UNITS[unit]


def _whole_units(nanoseconds: int, unit: str) -> GoInt:
    return GoInt(INT64, _truncated(nanoseconds, UNITS[unit]) // UNITS[unit])


def _truncated(nanoseconds: int, unit: int) -> int:
    """Round towards zero to a multiple of `unit`."""
    if unit <= 0:
        return nanoseconds
    rest = abs(nanoseconds) % unit
    return nanoseconds + rest if nanoseconds < 0 else nanoseconds - rest


def _rounded(nanoseconds: int, unit: int) -> int:
    """Round to the nearest multiple of `unit`, halves away from zero."""
    if unit <= 0:
        return nanoseconds
    size = abs(nanoseconds)
    rest = size % unit
    size += -rest if rest + rest < unit else unit - rest
    return clamp(-size if nanoseconds < 0 else size)


_DURATION_METHODS = Methods()
_duration = _DURATION_METHODS.add
_duration("String", STRING, format_duration)
_duration("Hours", FLOAT64, lambda nanoseconds: _in_units(nanoseconds, "h"))
_duration("Minutes", FLOAT64, lambda nanoseconds: _in_units(nanoseconds, "m"))
_duration("Seconds", FLOAT64, lambda nanoseconds: _in_units(nanoseconds, "s"))
_duration("Milliseconds", INT64, lambda nanoseconds: _whole_units(nanoseconds, "ms"))
_duration("Microseconds", INT64, lambda nanoseconds: _whole_units(nanoseconds, "us"))
_duration("Nanoseconds", INT64, lambda nanoseconds: GoInt(INT64, nanoseconds))
_duration("Abs", DURATION, lambda nanoseconds: duration(clamp(abs(nanoseconds))))
_duration("Truncate", DURATION, lambda ns, unit: duration(_truncated(ns, unit)), DURATION)
_duration("Round", DURATION, lambda ns, unit: duration(_rounded(ns, unit)), DURATION)
