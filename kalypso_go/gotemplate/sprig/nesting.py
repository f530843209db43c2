"""Shared checks of functions on nested values."""

from __future__ import annotations

from kalypso_go.gotemplate.budget import LimitError
from kalypso_go.gotemplate.values import FunctionError, type_of

MAX_DEPTH = 100
"""The limit on the nesting of values; a map that contains itself has no end."""

NIL_DEREFERENCE = "runtime error: invalid memory address or nil pointer dereference"


def check_depth(depth: int, what: str) -> None:
    """Raise `LimitError` if `what` exceeds the nesting limit."""
    if depth > MAX_DEPTH:
        raise LimitError(f"{what}: values may nest {MAX_DEPTH} levels")


def kind_of(value: object) -> str:
    """Go's `reflect.ValueOf(value).Kind()` as a string."""
    go_type = type_of(value)
    return "invalid" if go_type is None else go_type.kind


def elements(value: object, refusal: str) -> list[object]:
    """Return the elements of a list of any type.

    For other values, raises `FunctionError` with the text `refusal`, which contains `{}` for the
    kind; for nil, the error is Go's nil dereference.
    """
    if isinstance(value, list):
        return value
    if value is None:
        raise FunctionError(NIL_DEREFERENCE)
    raise FunctionError(refusal.format(kind_of(value)))
