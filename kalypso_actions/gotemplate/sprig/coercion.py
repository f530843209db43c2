"""From a value of any type to text, texts, or a number: what other functions begin with."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from kalypso_actions.gotemplate.budget import Budget
from kalypso_actions.gotemplate.formatting import PLAIN
from kalypso_actions.gotemplate.numerals import MAX_INT64, MIN_INT64, parse_float
from kalypso_actions.gotemplate.printer import Printer
from kalypso_actions.gotemplate.text import from_bytes
from kalypso_actions.gotemplate.values import UINT8, GoSlice

_INTEGERS = {8: re.compile("[+-]?[0-7]+"), 10: re.compile("[+-]?[0-9]+")}


def sprint(budget: Budget, value: object) -> str:
    """Go's `fmt.Sprintf("%v", value)`."""
    if type(value) is str:
        return value
    if type(value) is int:
        return str(value)
    printer = Printer(budget)
    printer.argument(value, "v", PLAIN)
    budget.spend(printer.length, "printing")
    return printer.text()


def to_string(budget: Budget, value: object) -> str:
    """The value as `print` writes it; bytes are the text they hold."""
    if isinstance(value, GoSlice) and value.type.elem == UINT8:
        return from_bytes(bytes([byte for byte in value if isinstance(byte, int)]))
    return sprint(budget, value)


def to_strings(budget: Budget, value: object) -> list[str]:
    """The elements as texts, nil left out; what is no list is one element, nil none."""
    elements = value if isinstance(value, list) else [value]
    return fitting(budget, [element for element in elements if element is not None], to_string)


def fitting(
    budget: Budget, values: Sequence[object], to_text: Callable[[Budget, object], str]
) -> list[str]:
    """The values as texts; the budget bounds them together, as they are about to become one."""
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
    """`value` as the 64 bits of an int64 hold it."""
    if MIN_INT64 <= value <= MAX_INT64:
        return value
    return (value - MIN_INT64) % (1 << 64) + MIN_INT64


def parse_integer(text: str, base: int = 10) -> int | None:
    """Go's `strconv.ParseInt(text, base, 64)`: None where it is no number, maybe out of range."""
    if not _INTEGERS[base].fullmatch(text):
        return None
    digits = text.lstrip("+-").lstrip("0")
    # Beyond so many digits it is out of range anyway, and Python refuses to read them.
    number = int(digits[:80] or "0", base)
    return -number if text[0] == "-" else number


def to_int64(value: object) -> int:
    """An int64 as sprig makes it: 0 for what is no number, also for a text beyond 64 bits."""
    if isinstance(value, str):
        number = parse_integer(value)
        return number if number is not None and MIN_INT64 <= number <= MAX_INT64 else 0
    if isinstance(value, int):
        return min(int(value), MAX_INT64)
    if isinstance(value, float):
        return float_to_int64(value)
    return 0


def float_to_int64(value: float) -> int:
    """Go's `int64(value)` on amd64: towards zero, and the least int64 for what does not fit."""
    return int(value) if -(2.0**63) <= value < 2.0**63 else MIN_INT64


def to_float64(value: object) -> float:
    """A float64 as sprig makes it: 0 for what is no number, also for a text beyond the range."""
    if isinstance(value, str):
        try:
            return parse_float(value)
        except ValueError:
            return 0.0
    return float(value) if isinstance(value, int | float) else 0.0
