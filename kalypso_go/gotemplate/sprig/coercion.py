"""Values of any type: their kinds, and their conversion to strings and numbers."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from kalypso_go.gotemplate import printf
from kalypso_go.gotemplate.budget import Budget, LimitError
from kalypso_go.gotemplate.numerals import MAX_INT64, MIN_INT64, parse_float
from kalypso_go.gotemplate.text import from_bytes
from kalypso_go.gotemplate.values import UINT8, FunctionError, GoSlice, type_of

_INTEGERS = {8: re.compile("[+-]?[0-7]+"), 10: re.compile("[+-]?[0-9]+")}


def sprint(budget: Budget, value: object) -> str:
    """Go's `fmt.Sprintf("%v", value)`."""
    if type(value) is str:
        return value
    if type(value) is int:
        return str(value)
    text = printf.sprint((value,), budget)
    budget.spend(len(text), "printing")
    return text


def to_string(budget: Budget, value: object) -> str:
    """Return the value as `print` writes it; bytes become text."""
    if isinstance(value, GoSlice) and value.type.elem == UINT8:
        return from_bytes(bytes([byte for byte in value if isinstance(byte, int)]))
    return sprint(budget, value)


def to_strings(budget: Budget, value: object) -> list[str]:
    """Return all elements but nil as strings; a value that is not a list counts as one element."""
    elements = value if isinstance(value, list) else [value]
    return to_texts(budget, [element for element in elements if element is not None], to_string)


def to_texts(
    budget: Budget, values: Sequence[object], to_text: Callable[[Budget, object], str]
) -> list[str]:
    """Return the values as strings; the budget limits their total size: callers join them."""
    if len(values) == 1:
        return [to_text(budget, values[0])]
    texts = []
    size = 0
    for value in values:
        text = to_text(budget, value)
        size += len(text)
        budget.fit(size, "the text")
        texts.append(text)
    return texts


def wrap_int64(value: int) -> int:
    """Wrap `value` to an int64."""
    if MIN_INT64 <= value <= MAX_INT64:
        return value
    return (value - MIN_INT64) % (1 << 64) + MIN_INT64


def parse_integer(text: str, base: int = 10) -> int | None:
    """Go's `strconv.ParseInt(text, base, 64)` without the range check; None for other texts."""
    if not _INTEGERS[base].fullmatch(text):
        return None
    digits = text.lstrip("+-").lstrip("0")
    # Numbers with more digits are out of range, and Python refuses to parse very long ones.
    number = int(digits[:80] or "0", base)
    return -number if text[0] == "-" else number


def to_int64(value: object) -> int:
    """Return sprig's int64 of a value; 0 for other values and for texts out of range."""
    if isinstance(value, str):
        number = parse_integer(value)
        return number if number is not None and MIN_INT64 <= number <= MAX_INT64 else 0
    if isinstance(value, int):
        return min(int(value), MAX_INT64)
    if isinstance(value, float):
        return float_to_int64(value)
    return 0


def float_to_int64(value: float) -> int:
    """Go's `int64(value)` on amd64: truncate, with the least int64 for values out of range."""
    return int(value) if -(2.0**63) <= value < 2.0**63 else MIN_INT64


def to_float64(value: object) -> float:
    """Return sprig's float64 of a value; 0 for other values and for texts out of range."""
    if isinstance(value, str):
        try:
            return parse_float(value)
        except ValueError:
            return 0.0
    return float(value) if isinstance(value, int | float) else 0.0


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
