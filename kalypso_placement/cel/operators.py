"""CEL's standard operators and conversions.

https://github.com/google/cel-spec/blob/master/doc/langdef.md#list-of-standard-definitions
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Final
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from kalypso_go.gotemplate.numerals import RangeError, format_float, parse_float
from kalypso_go.gotemplate.sprig.instants import parse_duration
from kalypso_placement.cel.limits import joined
from kalypso_placement.cel.values import (
    INT,
    UINT,
    Duration,
    EvaluationError,
    Function,
    Timestamp,
    TypeName,
    UInt,
    Value,
    as_duration,
    as_int,
    as_timestamp,
    as_uint,
    compare,
    equal,
    from_key,
    is_number,
    key_of,
    size,
    type_of,
)
from kalypso_placement.instants import SECOND, format_instant, parse_instant

_TRUE: Final = frozenset({"1", "t", "T", "TRUE", "true", "True"})
_FALSE: Final = frozenset({"0", "f", "F", "FALSE", "false", "False"})


def no_overload() -> EvaluationError:
    """Return the error for a function that has no overload for the types of its arguments."""
    return EvaluationError("no such overload")


def _add(a: Value, b: Value) -> Value:
    if isinstance(a, list) and isinstance(b, list):
        return joined(a, b)
    if type(a) is type(b):
        if type(a) in {str, bytes}:
            return a + b
        if isinstance(a, Duration):
            return as_duration(a.nanos + b.nanos)
    for time, duration in ((a, b), (b, a)):
        if isinstance(time, Timestamp) and isinstance(duration, Duration):
            return as_timestamp(time.nanos + duration.nanos, time.offset)
    return _arithmetic(a, b, lambda x, y: x + y)


def _subtract(a: Value, b: Value) -> Value:
    if isinstance(a, Timestamp) and isinstance(b, Timestamp):
        return as_duration(a.nanos - b.nanos)
    if isinstance(a, Timestamp) and isinstance(b, Duration):
        return as_timestamp(a.nanos - b.nanos, a.offset)
    if isinstance(a, Duration) and isinstance(b, Duration):
        return as_duration(a.nanos - b.nanos)
    return _arithmetic(a, b, lambda x, y: x - y)


def _arithmetic(a: Value, b: Value, operation: Callable[[Value, Value], Value]) -> Value:
    if type(a) is not type(b) or not is_number(a):
        raise no_overload()
    if type(a) is float:
        try:
            return operation(a, b)
        except OverflowError:
            return math.inf
    result = operation(int(a), int(b))
    return as_uint(result) if isinstance(a, UInt) else as_int(result)


def _divide(a: Value, b: Value) -> Value:
    if type(a) is float and type(b) is float:
        if b == 0:
            infinity = math.copysign(math.inf, a) * math.copysign(1, b)
            return math.nan if a == 0 or math.isnan(a) else infinity
        return a / b
    if is_number(a) and type(a) is type(b) and b == 0:
        raise EvaluationError("division by zero")
    return _arithmetic(a, b, lambda x, y: abs(x) // abs(y) * (1 if (x < 0) == (y < 0) else -1))


def _modulo(a: Value, b: Value) -> Value:
    if type(a) is float:
        raise no_overload()
    if is_number(a) and type(a) is type(b) and b == 0:
        raise EvaluationError("modulus by zero")
    return _arithmetic(a, b, lambda x, y: abs(x) % abs(y) * (-1 if x < 0 else 1))


def _negate(a: Value) -> Value:
    if isinstance(a, Duration):
        return as_duration(-a.nanos)
    if type(a) is float:
        return -a
    if type(a) is int:
        return as_int(-a)
    raise no_overload()


def _not(a: Value) -> bool:
    if type(a) is not bool:
        raise no_overload()
    return not a


def index(container: Value, key: Value) -> Value:
    """Return an element. Raises EvaluationError if there is none."""
    if isinstance(container, Mapping):
        try:
            return container[key_of(key)]
        except KeyError:
            raise EvaluationError(f"no such key: {key}") from None
    if isinstance(container, list):
        if not is_number(key) or not float(key).is_integer():
            raise no_overload()
        if not 0 <= key < len(container):
            raise EvaluationError(f"index out of bounds: {key}")
        return container[int(key)]
    raise no_overload()


def _in(element: Value, container: Value) -> bool:
    if isinstance(container, Mapping):
        try:
            return key_of(element) in container
        except EvaluationError:
            return False
    if isinstance(container, list):
        return any(equal(element, item) for item in container)
    raise no_overload()


def _to_int(value: Value) -> int:
    if isinstance(value, Timestamp):
        return value.nanos // SECOND
    if isinstance(value, Duration):
        return value.nanos
    number = _whole(value, INT)
    return as_int(int(number))


def _to_uint(value: Value) -> UInt:
    return as_uint(int(_whole(value, UINT)))


def _whole(value: Value, limits: tuple[int, int]) -> int:
    if type(value) is float:
        if not limits[0] - (limits[0] != 0) < value < limits[1]:
            raise EvaluationError("range error converting")
        return int(value)
    if is_number(value):
        return int(value)
    if isinstance(value, str):
        digits = value[1:] if limits == INT and value[:1] in {"+", "-"} else value
        if digits.isascii() and digits.isdigit():
            return int(value)
    raise EvaluationError("type conversion error")


def _to_double(value: Value) -> float:
    if is_number(value):
        return float(value)
    if isinstance(value, str):
        try:
            return parse_float(value)
        except (ValueError, RangeError):
            pass
    raise EvaluationError("type conversion error")


def to_string(value: Value) -> str:  # noqa: PLR0911 - one for each type
    """Convert to a string as `string()` does."""
    if isinstance(value, str):
        return value
    if type(value) is bool:
        return "true" if value else "false"
    if type(value) is float:
        return format_float(value, "g")
    if isinstance(value, int):
        return str(int(value))
    if isinstance(value, bytes):
        try:
            return value.decode("utf-8")
        except UnicodeDecodeError:
            raise EvaluationError("invalid UTF-8 in bytes") from None
    if isinstance(value, Timestamp):
        return _timestamp_text(value)
    if isinstance(value, Duration):
        return f"{format_float(value.nanos / SECOND, 'f')}s"
    text = getattr(value, "cel_text", None)
    if isinstance(text, str):
        return text
    raise no_overload()


def _timestamp_text(value: Timestamp) -> str:
    text = format_instant(value.nanos + value.offset * SECOND)
    if not value.offset:
        return text
    minutes = abs(value.offset) // 60
    sign = "-" if value.offset < 0 else "+"
    return f"{text[:-1]}{sign}{minutes // 60:02}:{minutes % 60:02}"


def _to_bytes(value: Value) -> bytes:
    if isinstance(value, str):
        return value.encode("utf-8")
    if isinstance(value, bytes):
        return value
    raise no_overload()


def _to_bool(value: Value) -> bool:
    if type(value) is bool:
        return value
    if isinstance(value, str) and value in _TRUE | _FALSE:
        return value in _TRUE
    raise EvaluationError("type conversion error")


def _to_timestamp(value: Value) -> Timestamp:
    if isinstance(value, Timestamp):
        return value
    if type(value) is int:
        return as_timestamp(value * SECOND)
    nanos = parse_instant(value) if isinstance(value, str) else None
    if nanos is None:
        raise EvaluationError("type conversion error")
    sign = -1 if value[-6] == "-" else 1
    zulu = value[-1] in "Zz"
    offset = 0 if zulu else sign * (int(value[-5:-3]) * 3600 + int(value[-2:]) * 60)
    return as_timestamp(nanos, offset)


def _to_duration(value: Value) -> Duration:
    if isinstance(value, Duration):
        return value
    if type(value) is int:
        return as_duration(value)
    if isinstance(value, str):
        try:
            return as_duration(parse_duration(value))
        except ValueError:
            pass
    raise EvaluationError("type conversion error")


def _offset(value: Timestamp, zone: str | None) -> int:
    """Return the offset in seconds of a zone, which is a name or `+01:00`, at a time."""
    if zone is None:
        return value.offset
    if ":" in zone:
        hours, _, minutes = zone.partition(":")
        digits = hours.lstrip("+-")
        if not (digits.isdigit() and minutes.isdigit()):
            raise EvaluationError("unknown time zone")
        seconds = int(digits) * 3600 + int(minutes) * 60
        return -seconds if hours.startswith("-") else seconds
    try:
        offset = value.at(0).astimezone(ZoneInfo(zone or "UTC")).utcoffset()
    except (ZoneInfoNotFoundError, ValueError, OSError):
        raise EvaluationError("unknown time zone") from None
    return int(offset.total_seconds()) if offset else 0


def _part(of_timestamp: Callable[[Value], int], unit: int = 0, modulo: int = 0) -> Function:
    """Return a getter for a part of a timestamp, and for a duration in whole units."""

    def get(value: Value, zone: str | None = None) -> int:
        if isinstance(value, Timestamp):
            return of_timestamp(value.at(_offset(value, zone)))
        if isinstance(value, Duration) and unit and zone is None:
            whole = abs(value.nanos) // unit
            whole = whole % modulo if modulo else whole
            return whole if value.nanos >= 0 else -whole
        raise no_overload()

    return get


STANDARD: Final[Mapping[str, Function]] = {
    "_==_": equal,
    "_!=_": lambda a, b: not equal(a, b),
    "_<_": lambda a, b: compare(a, b) < 0,
    "_<=_": lambda a, b: compare(a, b) <= 0,
    "_>_": lambda a, b: compare(a, b) > 0,
    "_>=_": lambda a, b: compare(a, b) >= 0,
    "_+_": _add,
    "_-_": _subtract,
    "_*_": lambda a, b: _arithmetic(a, b, lambda x, y: x * y),
    "_/_": _divide,
    "_%_": _modulo,
    "-_": _negate,
    "!_": _not,
    "_[_]": index,
    "@in": _in,
    "size": size,
    "int": _to_int,
    "uint": _to_uint,
    "double": _to_double,
    "string": to_string,
    "bytes": _to_bytes,
    "bool": _to_bool,
    "dyn": lambda value: value,
    "type": lambda value: TypeName(type_of(value)),
    "timestamp": _to_timestamp,
    "duration": _to_duration,
    "getFullYear": _part(lambda t: t.year),
    "getMonth": _part(lambda t: t.month - 1),
    "getDayOfYear": _part(lambda t: t.timetuple().tm_yday - 1),
    "getDayOfMonth": _part(lambda t: t.day - 1),
    "getDate": _part(lambda t: t.day),
    "getDayOfWeek": _part(lambda t: t.isoweekday() % 7),
    "getHours": _part(lambda t: t.hour, 3600 * SECOND),
    "getMinutes": _part(lambda t: t.minute, 60 * SECOND),
    "getSeconds": _part(lambda t: t.second, SECOND),
    "getMilliseconds": _part(lambda t: t.microsecond // 1000, SECOND // 1000, 1000),
}
"""The functions whose arguments are always evaluated, by name."""


def iterate(value: Value) -> list[Value]:
    """Return the elements of a list, or the keys of a map."""
    if isinstance(value, list):
        return value
    if isinstance(value, Mapping):
        return [from_key(key) for key in value]
    raise no_overload()
