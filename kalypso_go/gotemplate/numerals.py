"""Parse and format numbers like Go's strconv.

Both languages choose the same shortest digits (Python's `repr`) and round alike; only the notation
differs.
"""

from __future__ import annotations

import math
import re

MIN_INT64, MAX_INT64 = -(1 << 63), (1 << 63) - 1
MAX_UINT64 = (1 << 64) - 1

_DIGITS = {2: re.compile("[01]+"), 8: re.compile("[0-7]+"), 10: re.compile("[0-9]+")}
_DIGITS[16] = re.compile("[0-9a-fA-F]+")
_BASES = {"b": 2, "o": 8, "x": 16}

_DECIMAL_FLOAT = re.compile(r"[+-]?(?=\.?[0-9])[0-9]*\.?[0-9]*(?:[eE][+-]?[0-9]+)?")
_HEX_FLOAT = re.compile(
    r"([+-]?)0[xX](?=\.?[0-9a-fA-F])([0-9a-fA-F]*)\.?([0-9a-fA-F]*)[pP]([+-]?[0-9]+)"
)
_SPECIAL_FLOAT = re.compile(r"[+-]?inf(?:inity)?|nan", re.IGNORECASE)


class RangeError(ValueError):
    """The syntax is valid, but the number is out of range of its type."""


def parse_uint(text: str) -> int:
    """Go's `strconv.ParseUint(text, 0, 64)`; raises ValueError, or RangeError beyond 64 bits."""
    base, digits = 10, text
    if text[:1] == "0" and len(text) > 1:
        base, digits = 8, text[1:]
        if len(text) > 2 and text[1].lower() in _BASES:
            base, digits = _BASES[text[1].lower()], text[2:]
    if "_" in text:
        if not _underscores_separate_digits(text):
            raise ValueError("invalid syntax")
        digits = digits.replace("_", "")
    if not _DIGITS[base].fullmatch(digits):
        raise ValueError("invalid syntax")
    if len(digits) > 80:
        digits = digits.lstrip("0")[:80] or "0"
    value = int(digits, base)
    if value > MAX_UINT64:
        raise RangeError("value out of range")
    return value


def parse_int(text: str) -> int:
    """Go's `strconv.ParseInt(text, 0, 64)`; raises ValueError, or RangeError beyond 64 bits."""
    if text[:1] in ("+", "-"):
        value = parse_uint(text[1:])
        value = -value if text[0] == "-" else value
    else:
        value = parse_uint(text)
    if not MIN_INT64 <= value <= MAX_INT64:
        raise RangeError("value out of range")
    return value


def parse_float(text: str) -> float:
    """Go's `strconv.ParseFloat(text, 64)`; raises ValueError, or RangeError on overflow."""
    if _SPECIAL_FLOAT.fullmatch(text):
        return float(text)
    plain = text
    if "_" in text:
        if not _underscores_separate_digits(text):
            raise ValueError("invalid syntax")
        plain = text.replace("_", "")
    if match := _HEX_FLOAT.fullmatch(plain):
        value = _hex_float(*match.groups())
    elif _DECIMAL_FLOAT.fullmatch(plain):
        value = float(plain)
    else:
        raise ValueError("invalid syntax")
    if math.isinf(value):
        raise RangeError("value out of range")
    return value


def _hex_float(sign: str, whole: str, fraction: str, exponent: str) -> float:
    """Return the nearest float; the exponent may have any number of digits."""
    power = int(exponent[:8])
    digits = (whole + fraction).lstrip("0")
    if not digits:
        return -0.0 if sign == "-" else 0.0
    try:
        return float.fromhex(f"{sign}0x{whole or 0}.{fraction}p{power}")
    except OverflowError:
        return math.inf


def _underscores_separate_digits(text: str) -> bool:
    """Return whether each underscore is between two digits or follows the prefix of a base."""
    number = text.lstrip("+-").lower()
    digit = "[0-9]"
    if number[:2] in ("0b", "0o", "0x"):
        digit = "[0-9a-f]" if number[1] == "x" else digit
        number = "0" + number[2:]
    return not re.search(f"(?<!{digit})_|_(?!{digit})", number)


def format_float(value: float, verb: str, precision: int = -1) -> str:
    """Go's `strconv.FormatFloat(value, verb, precision, 64)`; verbs `b e E f g G x X`.

    Precision -1 means the fewest digits that read back as the same value.
    """
    if math.isnan(value):
        return "NaN"
    if math.isinf(value):
        return "+Inf" if value > 0 else "-Inf"
    if verb == "b":
        return _binary(value)
    if verb in "xX":
        text = _hexadecimal(value, precision)
        return text.upper() if verb == "X" else text
    if precision >= 0:
        return f"{value:.{precision or 1}{verb}}" if verb in "gG" else f"{value:.{precision}{verb}}"
    text = _shortest(abs(value), verb.lower())
    text = text.upper() if verb in "EG" else text
    return "-" + text if math.copysign(1, value) < 0 else text


def _shortest(value: float, verb: str) -> str:
    """Format `value`, which is not negative, with the fewest digits."""
    mantissa, _, power = repr(value).partition("e")
    whole, _, fraction = mantissa.partition(".")
    fraction = "" if fraction == "0" else fraction
    digits = (whole + fraction).lstrip("0")
    point = len(digits) - len(fraction) + int(power or 0)
    return place_point(digits.rstrip("0") or "0", point if value else 1, verb)


def place_point(digits: str, point: int, verb: str) -> str:
    """Format `0.digits × 10^point` with all its digits; verbs `e f g`."""
    exponent = point - 1
    if verb == "e" or (verb == "g" and not -4 <= exponent < 6):
        return _scientific(digits, exponent)
    if point <= 0:
        return "0." + "0" * -point + digits
    if point >= len(digits):
        return digits + "0" * (point - len(digits))
    return f"{digits[:point]}.{digits[point:]}"


def _scientific(digits: str, exponent: int) -> str:
    mantissa = digits[0] + ("." + digits[1:] if len(digits) > 1 else "")
    return f"{mantissa}e{exponent:+03d}"


def _binary(value: float) -> str:
    """Format an integer mantissa and a power of two: `4503599627370496p-52`."""
    exponent = max(math.frexp(value)[1], -1021) - 53 if value else -1074
    sign = "-" if math.copysign(1, value) < 0 else ""
    return f"{sign}{int(math.ldexp(abs(value), -exponent))}p{exponent:+d}"


def _hexadecimal(value: float, precision: int) -> str:
    """Format a hexadecimal mantissa (1 or more, below 2) and a power of two: `0x1.8p+01`."""
    sign = "-" if math.copysign(1, value) < 0 else ""
    fraction, exponent = math.frexp(abs(value))
    mantissa = int(math.ldexp(fraction, 53))
    exponent = exponent - 1 if value else 0
    if 0 <= precision < 13:
        dropped = 52 - 4 * precision
        kept, rest = divmod(mantissa, 1 << dropped)
        half = 1 << (dropped - 1)
        mantissa = (kept + (rest > half or (rest == half and kept % 2))) << dropped
        if mantissa >> 53:
            mantissa >>= 1
            exponent += 1
    digits = f"{mantissa % (1 << 52):013x}"
    digits = digits.rstrip("0") if precision < 0 else digits[:precision].ljust(precision, "0")
    point = "." if digits else ""
    return f"{sign}0x{mantissa >> 52}{point}{digits}p{exponent:+03d}"


def json_number(value: float) -> str:
    """Write a finite number as JavaScript does."""
    if value and not 1e-6 <= abs(value) < 1e21:
        return format_float(value, "e").replace("e-0", "e-")
    return format_float(value, "f")
