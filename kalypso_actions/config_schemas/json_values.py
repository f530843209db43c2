"""JSON values, and how Go's encoding/json writes them."""

from __future__ import annotations

import math
import re
from typing import TypeAlias

from kalypso_actions.config_schemas.errors import SchemaError
from kalypso_actions.config_schemas.numbers import Number, float_text

Json: TypeAlias = "bool | str | Number | list[Json] | dict[str, Json] | None"

_ESCAPED = re.compile('["\\\\\x00-\x1f<>&\u2028\u2029]')
_SHORT_ESCAPES = {
    '"': '\\"', "\\": "\\\\", "\n": "\\n", "\r": "\\r", "\t": "\\t", "\b": "\\b", "\f": "\\f",
}  # fmt: skip


def comparable(value: Json) -> str:
    """The text by which `enum`, `const` and `uniqueItems` compare, and which messages show.

    Keys are sorted, and numbers are what float64 makes of them: 1, 1.0 and 1e0 are equal. Raises
    `SchemaError` for a number beyond a float64.
    """
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return quoted(value)
    if isinstance(value, Number):
        return _float64(value)
    if isinstance(value, list):
        return "[" + ",".join(comparable(item) for item in value) + "]"
    return "{" + ",".join(f"{quoted(key)}:{comparable(value[key])}" for key in sorted(value)) + "}"


def _float64(number: Number) -> str:
    value = float(number.text)
    if math.isinf(value):
        raise SchemaError(
            f"json: cannot unmarshal number {number.text} into Go value of type float64"
        )
    return float_text(value)


def quoted(text: str) -> str:
    """A JSON string with encoding/json's escapes, those for HTML included."""
    return '"' + _ESCAPED.sub(_escape, text) + '"'


def _escape(match: re.Match[str]) -> str:
    character = match[0]
    return _SHORT_ESCAPES.get(character) or f"\\u{ord(character):04x}"
