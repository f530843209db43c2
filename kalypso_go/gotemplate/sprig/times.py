"""Go's `time.Time`: a value with methods.

Methods that encode to binary or append to given bytes are missing.
"""

from __future__ import annotations

from kalypso_go.gotemplate.sprig.coercion import wrap_int64
from kalypso_go.gotemplate.sprig.durations import DURATION, clamp, duration
from kalypso_go.gotemplate.sprig.instants import (
    LOCAL,
    UTC_LOCATION,
    ZERO,
    Instant,
    Location,
    from_date,
)
from kalypso_go.gotemplate.sprig.layouts import MONTHS, WEEKDAYS, format_instant
from kalypso_go.gotemplate.sprig.signature import Methods
from kalypso_go.gotemplate.text import quote, to_bytes
from kalypso_go.gotemplate.values import (
    BOOL,
    INT,
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
)

TIME = Type("struct", "time.Time")
MONTH = Type("int", "time.Month")
WEEKDAY = Type("int", "time.Weekday")
LOCATION = Type("struct", "time.Location")
BYTES = slice_of(UINT8)

_METHODS = Methods()


class TimeValue(GoStruct):
    """A `time.Time`."""

    __slots__ = ("instant",)

    def __init__(self, instant: Instant) -> None:
        super().__init__(TIME, {}, _METHODS.of(instant))
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


@_METHODS("String", returns=STRING)
def _string(instant: Instant) -> str:
    return format_instant(instant, "2006-01-02 15:04:05.999999999 -0700 MST")


@_METHODS("GoString", returns=STRING)
def _go_string(instant: Instant) -> str:
    year, month, day = instant.date()
    second = instant.clock()[1]
    names = {UTC_LOCATION: "time.UTC", LOCAL: "time.Local"}
    place = names.get(instant.location, f"time.Location({quote(instant.location.name)})")
    return (
        f"time.Date({year}, time.{MONTHS[month - 1]}, {day}, {second // 3600}, "
        f"{second // 60 % 60}, {second % 60}, {instant.nanosecond}, {place})"
    )


@_METHODS("Format", STRING, returns=STRING)
def _format(instant: Instant, layout: str) -> str:
    return format_instant(instant, layout)


@_METHODS("Year", returns=INT)
def _year(instant: Instant) -> int:
    return instant.date()[0]


@_METHODS("Month", returns=MONTH)
def _month(instant: Instant) -> GoInt:
    return _named(MONTH, instant.date()[1], ("", *MONTHS))


@_METHODS("Day", returns=INT)
def _day(instant: Instant) -> int:
    return instant.date()[2]


@_METHODS("Weekday", returns=WEEKDAY)
def _weekday(instant: Instant) -> GoInt:
    return _named(WEEKDAY, instant.weekday(), WEEKDAYS)


@_METHODS("YearDay", returns=INT)
def _year_day(instant: Instant) -> int:
    return instant.year_day()


@_METHODS("Hour", returns=INT)
def _hour(instant: Instant) -> int:
    return instant.clock()[1] // 3600


@_METHODS("Minute", returns=INT)
def _minute(instant: Instant) -> int:
    return instant.clock()[1] // 60 % 60


@_METHODS("Second", returns=INT)
def _second(instant: Instant) -> int:
    return instant.clock()[1] % 60


@_METHODS("Nanosecond", returns=INT)
def _nanosecond(instant: Instant) -> int:
    return instant.nanosecond


def _since_1970(instant: Instant, unit: int) -> GoInt:
    """Return the time since 1970 in whole units of `unit` nanoseconds."""
    total = instant.unix * 10**9 + instant.nanosecond
    return GoInt(INT64, wrap_int64(total // unit))


@_METHODS("Unix", returns=INT64)
def _unix(instant: Instant) -> GoInt:
    return _since_1970(instant, 10**9)


@_METHODS("UnixMilli", returns=INT64)
def _unix_milli(instant: Instant) -> GoInt:
    return _since_1970(instant, 10**6)


@_METHODS("UnixMicro", returns=INT64)
def _unix_micro(instant: Instant) -> GoInt:
    return _since_1970(instant, 10**3)


@_METHODS("UnixNano", returns=INT64)
def _unix_nano(instant: Instant) -> GoInt:
    return _since_1970(instant, 1)


@_METHODS("IsZero", returns=BOOL)
def _is_zero(instant: Instant) -> bool:
    return instant.total == ZERO.total


@_METHODS("IsDST", returns=BOOL)
def _is_dst(instant: Instant) -> bool:
    return instant.zone()[2]


@_METHODS("After", TIME, returns=BOOL)
def _after(instant: Instant, other: TimeValue) -> bool:
    return instant.total > other.instant.total


@_METHODS("Before", TIME, returns=BOOL)
def _before(instant: Instant, other: TimeValue) -> bool:
    return instant.total < other.instant.total


@_METHODS("Equal", TIME, returns=BOOL)
def _equal(instant: Instant, other: TimeValue) -> bool:
    return instant.total == other.instant.total


@_METHODS("Compare", TIME, returns=INT)
def _compare(instant: Instant, other: TimeValue) -> int:
    return (instant.total > other.instant.total) - (instant.total < other.instant.total)


@_METHODS("Sub", TIME, returns=DURATION)
def _sub(instant: Instant, other: TimeValue) -> GoInt:
    return duration(clamp(instant.total - other.instant.total))


@_METHODS("Add", DURATION, returns=TIME)
def _add(instant: Instant, nanoseconds: int) -> TimeValue:
    return TimeValue(instant.plus(nanoseconds))


@_METHODS("AddDate", INT, INT, INT, returns=TIME)
def _add_date(instant: Instant, years: int, months: int, days: int) -> TimeValue:
    year, month, day = instant.date()
    second = instant.clock()[1]
    moved = (year + years, month + months, day + days)
    return TimeValue(from_date(*moved, second, instant.nanosecond, instant.location))


@_METHODS("Round", DURATION, returns=TIME)
def _round(instant: Instant, unit: int) -> TimeValue:
    """Round to a multiple of `unit` since the year 1, halves up."""
    if unit <= 0:
        return TimeValue(instant)
    rest = instant.total % unit
    return TimeValue(instant.plus(-rest if rest + rest < unit else unit - rest))


@_METHODS("Truncate", DURATION, returns=TIME)
def _truncate(instant: Instant, unit: int) -> TimeValue:
    """Round down to a multiple of `unit` since the year 1."""
    return TimeValue(instant.plus(-(instant.total % unit)) if unit > 0 else instant)


@_METHODS("UTC", returns=TIME)
def _utc(instant: Instant) -> TimeValue:
    return TimeValue(instant.at(UTC_LOCATION))


@_METHODS("Local", returns=TIME)
def _local(instant: Instant) -> TimeValue:
    return TimeValue(instant.at(LOCAL))


@_METHODS("In", pointer_to(LOCATION), returns=TIME)
def _in(instant: Instant, place: LocationValue | None) -> TimeValue:
    if place is None:
        raise FunctionError("time: missing Location in call to Time.In")
    return TimeValue(instant.at(place.location))


@_METHODS("Location", returns=pointer_to(LOCATION))
def _location(instant: Instant) -> LocationValue:
    return LocationValue(instant.location)


@_METHODS("MarshalText", returns=BYTES)
def _marshal_text(instant: Instant) -> GoSlice:
    return GoSlice(BYTES, [GoInt(UINT8, byte) for byte in to_bytes(json_text(instant))])


@_METHODS("MarshalJSON", returns=BYTES)
def _marshal_json(instant: Instant) -> GoSlice:
    text = f'"{json_text(instant)}"'
    return GoSlice(BYTES, [GoInt(UINT8, byte) for byte in to_bytes(text)])


for _name in ("Clock", "Date"):
    _METHODS.unusable(_name, f"function {_name} has 3 return values; should be 1 or 2")
for _name, _type in (("ISOWeek", INT), ("Zone", INT), ("ZoneBounds", TIME)):
    _METHODS.unusable(
        _name,
        f"invalid function signature for {_name}: second return value should be error; is {_type}",
    )
