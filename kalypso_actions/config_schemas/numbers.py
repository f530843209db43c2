"""JSON's numbers as Go sees them: exact where they are compared, float64 where they are equal.

A number stays the text that it was (`json.Number`). Bounds compare exact fractions (`big.Rat`)
and print as `big.Float`: the shortest digits that tell it from its neighbours, `1e+06` from six
integer digits on. `enum`, `const` and `uniqueItems` compare what float64 makes of it.
"""

from __future__ import annotations

from fractions import Fraction

from kalypso_actions.config_schemas.errors import MAX_NUMBER_DIGITS, SchemaError
from kalypso_actions.gotemplate.numerals import MAX_INT64, MIN_INT64, format_float


class Number:
    """A JSON number: its text, and its exact value once that is asked for."""

    __slots__ = ("_value", "text")

    def __init__(self, text: str) -> None:
        self.text = text
        self._value: int | Fraction | None = None

    @property
    def value(self) -> int | Fraction:
        """The exact value, an int wherever it is whole."""
        if self._value is None:
            if "." in self.text or "e" in self.text or "E" in self.text:
                exact = Fraction(self.text)
                self._value = exact.numerator if exact.denominator == 1 else exact
            else:
                self._value = int(self.text)
        return self._value

    @property
    def is_integer(self) -> bool:
        """Whether it is whole, `1.0` and `1e2` included."""
        return isinstance(self.value, int)

    @property
    def int64(self) -> int | None:
        """The value where it is written as a plain int64, else None."""
        if not self.text.removeprefix("-").isdigit():
            return None
        return int(self.text) if MIN_INT64 <= int(self.text) <= MAX_INT64 else None


def bounded(text: str) -> Number:
    """The number of a schema's text; raises `SchemaError` where its digits would be too many."""
    mantissa, _, exponent = text.lower().partition("e")
    whole, _, fraction = mantissa.removeprefix("-").partition(".")
    if len(text) <= MAX_NUMBER_DIGITS and len(exponent) < 6:
        shift = int(exponent or 0)
        if max(len(whole) + shift, len(fraction) - shift) <= MAX_NUMBER_DIGITS:
            return Number(text)
    shown = text if len(text) <= 40 else text[:40] + "…"
    raise SchemaError(
        f"number {shown} has more than {MAX_NUMBER_DIGITS} digits: write a smaller or rounder one"
    )


def float_text(value: float) -> str:
    """A finite float64 as Go's encoding/json writes it."""
    if value == 0 or 1e-6 <= abs(value) < 1e21:
        return format_float(value, "f")
    return format_float(value, "e").replace("e-0", "e-")


def big_float_text(value: int | Fraction) -> str:
    """What `%v` prints of the `big.Float` that Go sets to this fraction."""
    if value == 0:
        return "0"
    digits, point = _shortest(abs(Fraction(value)))
    return ("-" if value < 0 else "") + _written(digits, point)


def _written(digits: str, point: int) -> str:
    """`0.digits × 10^point` as `%g` writes shortest digits: with an exponent from 1e6 on."""
    exponent = point - 1
    if not -4 <= exponent < 6:
        fraction = "." + digits[1:] if len(digits) > 1 else ""
        return f"{digits[0]}{fraction}e{exponent:+03d}"
    if point <= 0:
        return "0." + "0" * -point + digits
    if point >= len(digits):
        return digits + "0" * (point - len(digits))
    return digits[:point] + "." + digits[point:]


def _shortest(value: Fraction) -> tuple[str, int]:
    """The shortest digits, `0.digits × 10^point`, that no other float of this precision has.

    The precision is that of `SetRat`: 64 bits, or as many as numerator or denominator need. The
    digits are found as math/big's `roundShortest` does: along the exact decimal, until it has
    parted from those half a unit in the last place below and above.
    """
    precision = max(64, value.numerator.bit_length(), value.denominator.bit_length())
    mantissa, exponent = _rounded(value, precision)
    doubled = mantissa << 1
    digits, point = _decimal(doubled, exponent - 1)
    lower, _ = _decimal(doubled - 1, exponent - 1)
    upper, _ = _decimal(doubled + 1, exponent - 1)
    inclusive = mantissa % 2 == 0
    for index, digit in enumerate(digits):
        low = lower[index] if index < len(lower) else "0"
        high = upper[index] if index < len(upper) else "0"
        down = low != digit or (inclusive and index + 1 == len(lower))
        up = digit != high and (inclusive or chr(ord(digit) + 1) < high or index + 1 < len(upper))
        if down and up:
            up = _rounds_up(digits, index + 1)
        if down or up:
            return _cut(digits, point, index + 1, up=up)
    return digits, point


def _rounded(value: Fraction, precision: int) -> tuple[int, int]:
    """`mantissa × 2^exponent` with exactly `precision` bits, ties to even."""
    shift = precision - (value.numerator.bit_length() - value.denominator.bit_length())
    scaled = value * Fraction(2) ** shift
    if scaled >= 1 << precision:
        shift -= 1
        scaled /= 2
    mantissa = round(scaled)
    if mantissa == 1 << precision:
        return mantissa >> 1, 1 - shift
    return mantissa, -shift


def _decimal(mantissa: int, exponent: int) -> tuple[str, int]:
    """The exact decimal digits of `mantissa × 2^exponent` and the place of its point."""
    if exponent >= 0:
        digits = str(mantissa << exponent)
        return digits.rstrip("0"), len(digits)
    digits = str(mantissa * 5**-exponent)
    return digits.rstrip("0"), len(digits) + exponent


def _rounds_up(digits: str, length: int) -> bool:
    """Whether cutting the digits there rounds up, a tie to the even digit."""
    if length >= len(digits):
        return False
    if digits[length] == "5" and length + 1 == len(digits):
        return int(digits[length - 1]) % 2 == 1
    return digits[length] >= "5"


def _cut(digits: str, point: int, length: int, *, up: bool) -> tuple[str, int]:
    """The first `length` digits, one more in the last place where `up`."""
    if not up:
        return digits[:length].rstrip("0"), point
    raised = str(int(digits[:length]) + 1)
    return raised.rstrip("0"), point + len(raised) - length
