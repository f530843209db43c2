"""Parsing, arithmetic and formatting of dates.

Go's functions fall back to the current time; here that is an error, because manifests must not
depend on the time of rendering.
"""

from __future__ import annotations

from kalypso_go.gotemplate.budget import Budget
from kalypso_go.gotemplate.sprig.durations import parse_duration
from kalypso_go.gotemplate.sprig.instants import (
    UTC_LOCATION,
    ZERO,
    Instant,
    from_unix,
    load_location,
)
from kalypso_go.gotemplate.sprig.layouts import format_instant
from kalypso_go.gotemplate.sprig.signature import function
from kalypso_go.gotemplate.sprig.times import TIME, TimeValue
from kalypso_go.gotemplate.values import ANY, INT, INT32, INT64, STRING, FunctionError, type_of

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
    # Few templates need this import.
    from kalypso_go.gotemplate.sprig.date_parsing import parse_instant  # noqa: PLC0415

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
