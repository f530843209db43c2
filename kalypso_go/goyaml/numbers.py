"""Numbers as Go formats them."""

from __future__ import annotations

from kalypso_go.goyaml.errors import YAMLError
from kalypso_go.goyaml.scalars import MAX_UINT64, MIN_INT64


def format_integer(value: int) -> str:
    """Return the decimal digits; raise `YAMLError` if no Go integer type holds the value."""
    if not MIN_INT64 <= value <= MAX_UINT64:
        raise YAMLError(f"an integer of {value.bit_length()} bits has no type in Go")
    return int.__repr__(value)


def format_float(value: float) -> str:
    """Return the fewest digits that read back as `value` (strconv's `g`), or `.inf`, `.nan` etc.

    Values below 1e-4 and from 1e6 on have an exponent of at least two digits.
    """
    text = float.__repr__(value)
    if text in {"inf", "-inf", "nan"}:
        return text.replace("inf", ".inf").replace("nan", ".nan")
    mantissa, _, exponent = text.partition("e")
    sign = "-" if mantissa[0] == "-" else ""
    whole, _, fraction = mantissa.lstrip("-").partition(".")
    fraction = fraction.rstrip("0")
    if not exponent and len(whole) <= 6:
        return f"{sign}{whole}.{fraction}" if fraction else sign + whole
    digits = (whole + fraction).strip("0")
    power = int(exponent or 0) + len(whole) - 1
    point = f".{digits[1:]}" if len(digits) > 1 else ""
    return f"{sign}{digits[0]}{point}e{power:+03d}"
