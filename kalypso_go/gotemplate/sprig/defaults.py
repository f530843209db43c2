"""Default values and flow control."""

from __future__ import annotations

from kalypso_go.gotemplate.sprig.signature import function
from kalypso_go.gotemplate.values import ANY, BOOL, STRING, FunctionError

_EMPTY_IF_FALSE = (str, int, float, complex, list, dict)


@function("empty", ANY, returns=BOOL)
def is_empty(value: object) -> bool:
    """Return whether a value is nil, false, zero, or an empty text, list or map."""
    return value is None or (isinstance(value, _EMPTY_IF_FALSE) and not value)


@function("default", ANY, ANY, variadic=True)
def default(instead: object, *given: object) -> object:
    """Return the second argument, or `instead` if that is empty or absent."""
    return given[0] if given and not is_empty(given[0]) else instead


@function("coalesce", ANY, variadic=True)
def coalesce(*values: object) -> object:
    """Return the first value that is not empty, or nil."""
    return next((value for value in values if not is_empty(value)), None)


@function("ternary", ANY, ANY, BOOL)
def ternary(if_true: object, if_false: object, condition: bool) -> object:
    """Return one of two values."""
    return if_true if condition else if_false


@function("fail", STRING, returns=STRING)
def fail(message: str) -> str:
    """Fail with the message as the error."""
    raise FunctionError(message)
