"""JSON numbers as Go sees them: exact for bounds, float64 for equality.

A number keeps its text (`json.Number`). Bounds compare exact fractions (`big.Rat`), and messages
print them as `big.Float`.
"""

from __future__ import annotations

from bisect import bisect_left
from decimal import Context, Decimal
from fractions import Fraction
from functools import lru_cache

from kalypso_actions.config_schemas.errors import MAX_NUMBER_DIGITS, SchemaError
from kalypso_go.gotemplate.numerals import MAX_INT64, MIN_INT64, place_point

_EXACT = Context(prec=10_000)
"""Enough digits for any number of `MAX_NUMBER_DIGITS` as a `big.Float`, written out."""


class Number:
    """A JSON number: its text, and its exact value, computed on first use."""

    __slots__ = ("_value", "text")

    def __init__(self, text: str) -> None:
        self.text = text
        self._value: int | Fraction | None = None

    @property
    def value(self) -> int | Fraction:
        """The exact value; an int if it is whole."""
        if self._value is None:
            if "." in self.text or "e" in self.text or "E" in self.text:
                exact = Fraction(self.text)
                self._value = exact.numerator if exact.denominator == 1 else exact
            else:
                self._value = int(self.text)
        return self._value

    @property
    def is_integer(self) -> bool:
        """Whether the value is whole, as in `1.0` and `1e2`."""
        return isinstance(self.value, int)

    @property
    def int64(self) -> int | None:
        """The value if the text is a plain int64, else None."""
        if not self.text.removeprefix("-").isdigit():
            return None
        return int(self.text) if MIN_INT64 <= int(self.text) <= MAX_INT64 else None


def parse_number(text: str) -> Number:
    """Return the number of a schema; raise `SchemaError` if it has too many digits."""
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


# The cache holds all numbers of the longest schema: each takes up to a millisecond.
@lru_cache(maxsize=1 << 16)
def big_float_text(value: int | Fraction) -> str:
    """Return the text that `%v` prints for the `big.Float` nearest to the value.

    These are the fewest digits that round to this float and to no other of the same precision.
    """
    if value == 0:
        return "0"
    mantissa, exponent = _big_float(abs(Fraction(value)))
    exact, half_step = _decimal(mantissa, exponent), _decimal(1, exponent - 1)

    def is_unique(digits: int) -> bool:
        rounded = Context(prec=digits).plus(exact)
        distance = _EXACT.subtract(rounded, exact).copy_abs()
        return distance < half_step or (distance == half_step and mantissa % 2 == 0)

    most = len(exact.as_tuple().digits)
    fewest = 1 + bisect_left(range(1, most), True, key=is_unique)
    _, digits, power = Context(prec=fewest).plus(exact).as_tuple()
    text = place_point("".join(map(str, digits)).rstrip("0"), len(digits) + int(power), "g")
    return "-" + text if value < 0 else text


def _big_float(value: Fraction) -> tuple[int, int]:
    """Round to `mantissa × 2^exponent` as `SetRat` does, ties to even.

    The mantissa has 64 bits, or as many as the numerator or the denominator has.
    """
    bits, denominator_bits = value.numerator.bit_length(), value.denominator.bit_length()
    precision = max(64, bits, denominator_bits)
    shift = precision - (bits - denominator_bits)
    scaled = value * Fraction(2) ** shift
    if scaled >= 1 << precision:
        shift -= 1
        scaled /= 2
    mantissa = round(scaled)
    if mantissa == 1 << precision:
        return mantissa >> 1, 1 - shift
    return mantissa, -shift


def _decimal(mantissa: int, exponent: int) -> Decimal:
    """Return `mantissa × 2^exponent`, exactly."""
    if exponent >= 0:
        return Decimal(mantissa << exponent)
    return Decimal(f"{mantissa * 5**-exponent}e{exponent}")
