"""Texts of a configuration that become numbers before it is validated.

Upstream reads every top-level text as a decimal integer, else as a float, else leaves it; what is
rendered stays a text. So `"8080"` is no string to a schema, and `"00501"` is 501.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping

MIN_INT64 = -(1 << 63)
MAX_INT64 = (1 << 63) - 1

_INTEGER = re.compile(r"([-+]?)0*([0-9]{1,19})")
_DIGITS = r"[0-9]+(?:_[0-9]+)*"
_DECIMAL = re.compile(
    rf"[-+]?(?:{_DIGITS}(?:\.(?:{_DIGITS})?)?|\.{_DIGITS})(?:[eE][-+]?{_DIGITS})?"
)
_HEX_DIGITS = r"[0-9a-fA-F]+(?:_[0-9a-fA-F]+)*"
_HEXADECIMAL = re.compile(
    rf"[-+]?0[xX](?:_?{_HEX_DIGITS}(?:\.(?:{_HEX_DIGITS})?)?|\.{_HEX_DIGITS})[pP][-+]?{_DIGITS}"
)
_SPECIAL = re.compile(r"[-+]?inf(?:inity)?|nan", re.IGNORECASE | re.ASCII)


def coerced(config: Mapping[str, object]) -> dict[str, object]:
    """The configuration with its top-level texts as numbers, where they are numbers to Go."""
    return {
        name: number(value) if isinstance(value, str) else value for name, value in config.items()
    }


def number(text: str) -> int | float | str:
    """What Go's `strconv.Atoi` makes of a text, else its `ParseFloat`, else the text."""
    whole = _INTEGER.fullmatch(text)
    if whole is not None:
        integer = int(whole[1] + whole[2])
        if MIN_INT64 <= integer <= MAX_INT64:
            return integer
    value = _float(text)
    return text if value is None else value


def _float(text: str) -> float | None:
    """The float that a text spells, None for none and for one beyond a float64."""
    if _SPECIAL.fullmatch(text):
        return float(text)
    digits = text.replace("_", "")
    if _DECIMAL.fullmatch(text):
        value = float(digits)
        return None if math.isinf(value) else value
    if _HEXADECIMAL.fullmatch(text):
        try:
            return float.fromhex(digits)
        except OverflowError:
            return None
    return None
