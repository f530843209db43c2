"""Go's `time.Duration`: nanoseconds, written as `1h30m0.5s`."""

from __future__ import annotations

import re

from kalypso_go.gotemplate.numerals import MAX_INT64, MIN_INT64
from kalypso_go.gotemplate.sprig.signature import Methods
from kalypso_go.gotemplate.values import FLOAT64, INT64, STRING, GoInt, Type

DURATION = Type("int64", "time.Duration")

_UNITS = {
    "ns": 1,
    "us": 1_000,
    "µs": 1_000,
    "μs": 1_000,
    "ms": 1_000_000,
    "s": 1_000_000_000,
    "m": 60_000_000_000,
    "h": 3_600_000_000_000,
}
_PART = re.compile(r"([0-9]*)(?:\.([0-9]*))?([^.0-9]+)")


def parse_duration(text: str) -> int:
    """Go's `time.ParseDuration` in nanoseconds; raises ValueError."""
    sign, rest = (text[0], text[1:]) if text[:1] in ("-", "+") else ("+", text)
    if rest == "0":
        return 0
    if not rest:
        raise ValueError("invalid duration")
    total = position = 0
    while position < len(rest):
        match = _PART.match(rest, position)
        if match is None or not (match[1] or match[2]) or match[3] not in _UNITS:
            raise ValueError("invalid duration")
        total += _nanoseconds(match[1], match[2] or "", _UNITS[match[3]])
        position = match.end()
    if total > (-MIN_INT64 if sign == "-" else MAX_INT64):
        raise ValueError("invalid duration")
    return -total if sign == "-" else total


def _nanoseconds(whole: str, fraction: str, unit: int) -> int:
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
        if total < _UNITS[unit] * 1_000:
            return sign + _decimal(total, _UNITS[unit]) + unit
    minutes, rest = divmod(total, _UNITS["m"])
    text = _decimal(rest, _UNITS["s"]) + "s"
    if minutes:
        text = f"{minutes % 60}m{text}"
    if minutes >= 60:
        text = f"{minutes // 60}h{text}"
    return sign + text


def _decimal(number: int, unit: int) -> str:
    """Format `number / unit` with the fewest digits; `unit` is a power of ten."""
    whole, rest = divmod(number, unit)
    return f"{whole}.{str(unit + rest)[1:].rstrip('0')}" if rest else str(whole)


def clamp(nanoseconds: int) -> int:
    """Return the nearest duration that an int64 holds."""
    return max(MIN_INT64, min(nanoseconds, MAX_INT64))


_METHODS = Methods()


def duration(nanoseconds: int) -> GoInt:
    """Return a `time.Duration`."""
    return GoInt(DURATION, nanoseconds, _METHODS.of(nanoseconds))


@_METHODS("String", returns=STRING)
def _string(nanoseconds: int) -> str:
    return format_duration(nanoseconds)


@_METHODS("Hours", returns=FLOAT64)
def _hours(nanoseconds: int) -> float:
    return _in_units(nanoseconds, _UNITS["h"])


@_METHODS("Minutes", returns=FLOAT64)
def _minutes(nanoseconds: int) -> float:
    return _in_units(nanoseconds, _UNITS["m"])


@_METHODS("Seconds", returns=FLOAT64)
def _seconds(nanoseconds: int) -> float:
    return _in_units(nanoseconds, _UNITS["s"])


def _in_units(nanoseconds: int, unit: int) -> float:
    rest = nanoseconds - _truncated(nanoseconds, unit)
    return float((nanoseconds - rest) // unit) + rest / unit


@_METHODS("Milliseconds", returns=INT64)
def _milliseconds(nanoseconds: int) -> GoInt:
    return GoInt(INT64, _truncated(nanoseconds, _UNITS["ms"]) // _UNITS["ms"])


@_METHODS("Microseconds", returns=INT64)
def _microseconds(nanoseconds: int) -> GoInt:
    return GoInt(INT64, _truncated(nanoseconds, _UNITS["us"]) // _UNITS["us"])


@_METHODS("Nanoseconds", returns=INT64)
def _nanoseconds_of(nanoseconds: int) -> GoInt:
    return GoInt(INT64, nanoseconds)


@_METHODS("Abs", returns=DURATION)
def _abs(nanoseconds: int) -> GoInt:
    return duration(clamp(abs(nanoseconds)))


@_METHODS("Truncate", DURATION, returns=DURATION)
def _truncate(nanoseconds: int, unit: int) -> GoInt:
    return duration(_truncated(nanoseconds, unit))


def _truncated(nanoseconds: int, unit: int) -> int:
    """Round towards zero to a multiple of `unit`."""
    if unit <= 0:
        return nanoseconds
    rest = abs(nanoseconds) % unit
    return nanoseconds + rest if nanoseconds < 0 else nanoseconds - rest


@_METHODS("Round", DURATION, returns=DURATION)
def _round(nanoseconds: int, unit: int) -> GoInt:
    """Round to the nearest multiple of `unit`, halves away from zero."""
    if unit <= 0:
        return duration(nanoseconds)
    size = abs(nanoseconds)
    rest = size % unit
    size += -rest if rest + rest < unit else unit - rest
    return duration(clamp(-size if nanoseconds < 0 else size))
