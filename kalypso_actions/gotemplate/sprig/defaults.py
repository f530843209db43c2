"""Values that are empty, and what to take instead."""

from __future__ import annotations

from kalypso_actions.gotemplate.sprig.signature import function
from kalypso_actions.gotemplate.values import ANY, BOOL

_EMPTY_IF_FALSE = (str, int, float, complex, list, dict)


def is_empty(value: object) -> bool:
    """Whether a value is nil, false, zero, or a text, list or map without anything in it."""
    return value is None or (isinstance(value, _EMPTY_IF_FALSE) and not value)


@function("empty", ANY, returns=BOOL)
def empty(value: object) -> bool:
    """Whether a value is nil, false, zero, or a text, list or map without anything in it."""
    return is_empty(value)


@function("default", ANY, ANY, variadic=True)
def default(instead: object, *given: object) -> object:
    """The second argument, or `instead` where that is empty or absent."""
    return given[0] if given and not is_empty(given[0]) else instead


@function("coalesce", ANY, variadic=True)
def coalesce(*values: object) -> object:
    """The first value that is not empty, nil where there is none."""
    return next((value for value in values if not is_empty(value)), None)


@function("ternary", ANY, ANY, BOOL)
def ternary(if_true: object, if_false: object, condition: bool) -> object:
    """One of two values."""
    return if_true if condition else if_false
