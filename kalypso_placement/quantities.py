"""Read Kubernetes' resource quantities exactly, and convert them to doubles as Kubernetes does.

https://kubernetes.io/docs/reference/kubernetes-api/common-definitions/quantity/
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from decimal import ROUND_CEILING, ROUND_UP, Decimal, localcontext
from functools import lru_cache
from typing import Final, Literal

Format = Literal["binary", "decimal", "exponent"]

_FORM: Final = re.compile(
    r"(?P<sign>[+-]?)(?=\.?[0-9])(?P<whole>[0-9]*)(?:\.(?P<part>[0-9]*))?"
    r"(?P<suffix>[KMGTPE]i|[numkMGTPE]?|[eE][+-]?[0-9]+)\Z"
)
_BINARY: Final = {"Ki": 10, "Mi": 20, "Gi": 30, "Ti": 40, "Pi": 50, "Ei": 60}
_DECIMAL: Final = {
    "n": -9, "u": -6, "m": -3, "": 0, "k": 3, "M": 6, "G": 9, "T": 12, "P": 15, "E": 18,
}  # fmt: skip
_NANO: Final = -9
_FAST_DIGITS: Final = 18
_BINARY_DIGITS: Final = 15
_INT64_MAX: Final = 2**63 - 1


@dataclass(frozen=True, slots=True)
class Quantity:
    """A quantity: `digits` times ten to the power of `exponent`, and how it is written."""

    digits: int
    exponent: int
    format: Format
    text: str = ""

    @property
    def value(self) -> Decimal:
        """The exact value."""
        with localcontext() as context:
            context.prec = 1000
            return Decimal(self.digits).scaleb(self.exponent)

    @property
    def approximate(self) -> float:
        """The double that Kubernetes computes: digits times a power of ten, rounded twice."""
        if self.exponent == 0:
            return float(self.digits)
        if self.exponent > 308:
            return float("inf") if self.digits > 0 else float("-inf") if self.digits else 0.0
        power = 10.0**self.exponent if self.exponent > 0 else 1 / 10.0**-self.exponent
        return float(self.digits) * power

    @property
    def canonical(self) -> str:
        """The text that Kubernetes writes for the quantity."""
        return self.text or _canonical(self)


@lru_cache(maxsize=65536)
def parse_quantity(text: str) -> Quantity | None:
    """Read a quantity as apimachinery's ParseQuantity does; None if the text is not one.

    Small numbers keep their digits. Others are rounded up to nanos, and numbers with a binary
    suffix are capped at 2^63-1.
    """
    match = _FORM.match(text)
    if match is None:
        return None
    whole, part, suffix = match["whole"].lstrip("0") or "0", match["part"] or "", match["suffix"]
    binary = _BINARY.get(suffix)
    power = 0 if binary is not None else _decimal_power(suffix)
    form: Format = "binary" if binary is not None else "decimal"
    if binary is None and suffix not in _DECIMAL:
        form = "exponent"
    digits, exponent = int(whole + part), power - len(part)
    if binary is None:
        precision = _FAST_DIGITS - len(whole) - len(part)
    else:
        precision = -1 if part else _BINARY_DIGITS - len(whole) - binary * 3 // 10 - 1
        digits <<= binary
    sign = -1 if match["sign"] == "-" else 1
    if precision >= 0 and exponent >= _NANO and digits <= _INT64_MAX:
        return Quantity(sign * digits, exponent, form, text)
    return _rounded(digits, exponent, form, sign)


def _decimal_power(suffix: str) -> int:
    return _DECIMAL[suffix] if suffix in _DECIMAL else int(suffix[1:])


def _rounded(digits: int, exponent: int, form: Format, sign: int) -> Quantity:
    """Round to nanos, away from zero; cap numbers with a binary suffix at 64 bits."""
    if digits:
        shift = exponent - _NANO
        digits = digits * 10**shift if shift >= 0 else -(-digits // 10**-shift)
        exponent = _NANO
    if form == "binary":
        if digits > _INT64_MAX * 10**-exponent:
            digits, exponent = _INT64_MAX, 0
        if 0 < digits < 10**-exponent:
            form = "decimal"
    return Quantity(sign * digits, exponent, form)


def _canonical(quantity: Quantity) -> str:
    value = quantity.value
    with localcontext() as context:
        context.prec = 1000
        if quantity.format == "binary" and not -1024 < value < 1024:
            number = value.to_integral_value(ROUND_CEILING if value > 0 else ROUND_UP)
            whole, suffix = int(number), ""
            for name in _BINARY:
                if whole % 1024:
                    break
                whole, suffix = whole // 1024, name
            return f"{whole}{suffix}"
        digits, exponent = quantity.digits, quantity.exponent
        while digits and digits % 10 == 0:
            digits, exponent = digits // 10, exponent + 1
        if not digits:
            return "0"
        shift = exponent % 3
        digits, exponent = digits * 10**shift, exponent - shift
        if quantity.format == "exponent":
            return f"{digits}e{exponent}" if exponent else str(digits)
        suffix = next((name for name, power in _DECIMAL.items() if power == exponent), "")
        return f"{digits}{suffix}" if suffix or not exponent else f"{digits}e{exponent}"
