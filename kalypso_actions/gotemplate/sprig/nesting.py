"""What functions that walk through nested values have in common: how deep, and what is nil."""

from __future__ import annotations

from kalypso_actions.gotemplate.budget import LimitError
from kalypso_actions.gotemplate.values import FunctionError, type_of

MAX_DEPTH = 100
"""How deep values may nest: further down there is most likely a map within itself."""

NIL_DEREFERENCE = "runtime error: invalid memory address or nil pointer dereference"


def check_depth(depth: int, what: str) -> None:
    """Raises `LimitError` where `what` has come too deep into a value."""
    if depth > MAX_DEPTH:
        raise LimitError(f"{what}: values may nest {MAX_DEPTH} levels")


def kind_of(value: object) -> str:
    """Go's `reflect.ValueOf(value).Kind()` as text."""
    known = type_of(value)
    return "invalid" if known is None else known.kind


def elements(value: object, refusal: str) -> list[object]:
    """The elements of a list of any type.

    Raises `FunctionError` for what is no list, with `refusal` and the kind in it, and as Go does
    for nil.
    """
    if isinstance(value, list):
        return value
    if value is None:
        raise FunctionError(NIL_DEREFERENCE)
    raise FunctionError(refusal.format(kind_of(value)))
