"""Texts of a configuration that become numbers before it is validated.

Upstream reads every top-level text as a decimal integer, else as a float, else leaves it; what is
rendered stays a text. So `"8080"` is no string to a schema, and `"00501"` is 501.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from kalypso_actions.gotemplate.numerals import MAX_INT64, MIN_INT64, parse_float

_INTEGER = re.compile(r"([-+]?)0*([0-9]{1,19})")


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
    try:
        return parse_float(text)
    except ValueError:
        return text
