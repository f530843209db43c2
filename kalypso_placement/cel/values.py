"""CEL's values in Python, and how they compare.

A CEL int is an int, a uint a UInt, a list a list, a map a dict whose boolean keys are wrapped.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta, timezone
from typing import Any, Final

from kalypso_placement.instants import SECOND

Value = Any
"""A value of CEL."""

Function = Callable[..., Value]
"""A function of CEL."""

INT: Final = (-(2**63), 2**63 - 1)
UINT: Final = (0, 2**64 - 1)


class EvaluationError(Exception):
    """The evaluation fails: a missing key, an overflow, no matching overload."""


class UInt(int):
    """A value of CEL's type uint."""


class SizedList(list[Value]):
    """A list that knows the number of its parts."""

    __slots__ = ("parts",)
    parts: int


class SizedMap(dict[Value, Value]):
    """A map that knows the number of its parts."""

    __slots__ = ("parts",)
    parts: int


@dataclass(frozen=True, slots=True)
class TypeName:
    """A type as a value."""

    name: str


@dataclass(frozen=True, slots=True)
class Duration:
    """A duration in nanoseconds."""

    nanos: int


@dataclass(frozen=True, slots=True)
class Timestamp:
    """A time in nanoseconds since 1970; `offset` is the UTC offset of its text in seconds."""

    nanos: int
    offset: int = 0

    def at(self, offset: int) -> datetime:
        """Return the date and time at an offset."""
        zone = timezone(timedelta(seconds=offset))
        start = datetime(1970, 1, 1, tzinfo=UTC)
        return (start + timedelta(microseconds=self.nanos // 1000)).astimezone(zone)


@dataclass(frozen=True, slots=True)
class Optional:
    """A value of an optional type."""

    present: bool
    content: Value = None

    def value(self) -> Value:
        """Return the content. Raises EvaluationError if there is none."""
        if not self.present:
            raise EvaluationError("optional.none() dereference")
        return self.content


NONE: Final = Optional(present=False)


def some(value: Value) -> Optional:
    """Return an optional with a value."""
    return Optional(True, value)


def key_of(value: Value) -> Value:
    """Return a key for a dict, which would otherwise treat True and 1 as the same key."""
    if type(value) is bool:
        return (value,)
    if type(value) is float:
        if not value.is_integer():
            raise EvaluationError("unsupported key type")
        return int(value)
    if not isinstance(value, int | str):
        raise EvaluationError("unsupported key type")
    return value


def from_key(key: Value) -> Value:
    """Return the value that `key_of` made a key of."""
    return key[0] if type(key) is tuple else key


def is_number(value: Value) -> bool:
    """Whether a value is an int, a uint or a double."""
    return isinstance(value, int | float) and type(value) is not bool


def equal(first: Value, second: Value) -> bool:
    """Compare as `==` does: numbers by value, other values of different types are unequal."""
    if is_number(first) or is_number(second):
        return is_number(first) and is_number(second) and bool(first == second)
    if isinstance(first, list) and isinstance(second, list):
        pairs = zip(first, second, strict=False)
        return len(first) == len(second) and all(equal(*pair) for pair in pairs)
    if isinstance(first, Mapping) and isinstance(second, Mapping):
        return first.keys() == second.keys() and all(equal(v, second[k]) for k, v in first.items())
    if isinstance(first, Timestamp) and isinstance(second, Timestamp):
        return first.nanos == second.nanos
    if isinstance(first, Optional) and isinstance(second, Optional):
        return first.present == second.present and equal(first.content, second.content)
    return type(first) is type(second) and bool(first == second)


def compare(first: Value, second: Value) -> int:
    """Return -1, 0 or 1. Raises EvaluationError for values without an order."""
    if is_number(first) and is_number(second):
        if math.isnan(first) or math.isnan(second):
            raise EvaluationError("NaN values cannot be ordered")
        left, right = first, second
    elif type(first) is not type(second):
        raise EvaluationError("no such overload")
    elif isinstance(first, str):
        left, right = first.encode("utf-8"), second.encode("utf-8")
    elif isinstance(first, bool | bytes):
        left, right = first, second
    elif isinstance(first, Timestamp | Duration):
        left, right = first.nanos, second.nanos
    else:
        raise EvaluationError("no such overload")
    return int(left > right) - int(left < right)


def size(value: Value) -> int:
    """Return the length of a string in code points, of bytes, a list or a map."""
    if isinstance(value, str | bytes | list | Mapping):
        return len(value)
    raise EvaluationError("no such overload")


def cost_size(value: Value) -> int:
    """Return the size that determines the cost of a value; 1 for a value without a size."""
    return len(value) if isinstance(value, str | bytes | list | Mapping) else 1


def as_int(value: int) -> int:
    """Check the range of an int."""
    if not INT[0] <= value <= INT[1]:
        raise EvaluationError("integer overflow")
    return value


def as_uint(value: int) -> UInt:
    """Check the range of a uint."""
    if not UINT[0] <= value <= UINT[1]:
        raise EvaluationError("unsigned integer overflow")
    return UInt(value)


def as_duration(nanos: int) -> Duration:
    """Check the range of a duration."""
    return Duration(as_int(nanos))


def as_timestamp(nanos: int, offset: int = 0) -> Timestamp:
    """Check the range of a timestamp: the years 1 to 9999."""
    if not -62135596800 * SECOND <= nanos < 253402300800 * SECOND:
        raise EvaluationError("timestamp overflow")
    return Timestamp(nanos, offset)


def type_of(value: Value) -> str:
    """Return the name of a value's type."""
    names: dict[type, str] = {
        bool: "bool", UInt: "uint", int: "int", float: "double", str: "string", bytes: "bytes",
        list: "list", SizedList: "list", dict: "map", SizedMap: "map", type(None): "null_type",
        TypeName: "type",
        Duration: "google.protobuf.Duration", Timestamp: "google.protobuf.Timestamp",
        Optional: "optional_type",
    }  # fmt: skip
    return names.get(type(value), getattr(value, "cel_type", "dyn"))
