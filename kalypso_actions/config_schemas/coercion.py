"""Texts of a configuration → numbers, before validation.

Upstream reads each top-level text as a decimal integer, else as a float, else leaves it. Rendering
keeps the text. So to a schema, `"8080"` is a number, and `"00501"` is 501.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from kalypso_go.gotemplate.numerals import MAX_INT64, MIN_INT64, parse_float

_INTEGER = re.compile(r"([-+]?)0*([0-9]{1,19})")


_FIRST = frozenset("+-.0123456789iInN")
"""The first characters of numbers, `inf` and `nan`. Most texts begin with another character."""


def coerce_numbers(config: Mapping[str, object]) -> dict[str, object]:
    """Return the configuration with each top-level text that Go reads as a number replaced."""
    return {
        name: number_or_text(value) if isinstance(value, str) and value[:1] in _FIRST else value
        for name, value in config.items()
    }


def number_or_text(text: str) -> int | float | str:
    """Return the result of Go's `strconv.Atoi`, else of its `ParseFloat`, else the text."""
    digits = _INTEGER.fullmatch(text)
    if digits is not None:
        integer = int(digits[1] + digits[2])
        if MIN_INT64 <= integer <= MAX_INT64:
            return integer
    try:
        return parse_float(text)
    except ValueError:
        return text
