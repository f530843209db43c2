"""Dates that the input fixes: read by a layout, moved, written by a layout.

What Go would take from the clock is refused: manifests must not change with the time of day.
"""

from __future__ import annotations

from kalypso_actions.gotemplate.sprig.date_parsing import parse_instant
from kalypso_actions.gotemplate.sprig.durations import parse_duration
from kalypso_actions.gotemplate.sprig.instants import (
    UTC_LOCATION,
    ZERO,
    Instant,
    from_unix,
    load_location,
)
from kalypso_actions.gotemplate.sprig.layouts import format_instant
from kalypso_actions.gotemplate.sprig.signature import function
from kalypso_actions.gotemplate.sprig.times import TIME, TimeValue
from kalypso_actions.gotemplate.values import (
    ANY,
    INT,
    INT32,
    INT64,
    STRING,
    FunctionError,
    type_of,
)

_HTML = "2006-01-02"


def _instant(value: object) -> Instant:
    """A date, or seconds since 1970; sprig would take anything else for now."""
    if isinstance(value, TimeValue):
        return value.instant
    if isinstance(value, int) and type_of(value) in (INT, INT32, INT64):
        return from_unix(value)
    raise FunctionError(
        f"{type_of(value) or 'nil'} is no date: the current time would be used, and the output "
        "would not be reproducible"
    )


def _formatted(layout: str, value: object, zone: str) -> str:
    return format_instant(_instant(value).at(load_location(zone) or UTC_LOCATION), layout)


@function("date", STRING, ANY, returns=STRING)
def date(layout: str, value: object) -> str:
    """The date in the operator's time zone, which is UTC."""
    return _formatted(layout, value, "Local")


@function("dateInZone", "date_in_zone", STRING, ANY, STRING, returns=STRING)
def date_in_zone(layout: str, value: object, zone: str) -> str:
    """The date in a time zone by name; in UTC where there is none of that name."""
    return _formatted(layout, value, zone)


@function("htmlDate", ANY, returns=STRING)
def html_date(value: object) -> str:
    """The date as `2006-01-02`."""
    return _formatted(_HTML, value, "Local")


@function("htmlDateInZone", ANY, STRING, returns=STRING)
def html_date_in_zone(value: object, zone: str) -> str:
    """The date in a time zone, as `2006-01-02`."""
    return _formatted(_HTML, value, zone)


@function("dateModify", "date_modify", STRING, TIME, returns=TIME)
def date_modify(duration: str, value: TimeValue) -> TimeValue:
    """The date so much later; unchanged where `duration` is none."""
    try:
        return TimeValue(value.instant.plus(parse_duration(duration)))
    except ValueError:
        return value


@function("toDate", STRING, STRING, returns=TIME)
def to_date(layout: str, text: str) -> TimeValue:
    """The date that `text` is; the first day of the year 1 where it is none."""
    try:
        return TimeValue(parse_instant(layout, text))
    except ValueError:
        return TimeValue(ZERO)


@function("unixEpoch", TIME, returns=STRING)
def unix_epoch(value: TimeValue) -> str:
    """The seconds since 1970."""
    return str(value.instant.unix)
