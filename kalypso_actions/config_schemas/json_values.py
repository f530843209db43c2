"""JSON values, and the text by which Go compares them."""

from __future__ import annotations

import math
from typing import TypeAlias

from kalypso_actions.config_schemas.errors import SchemaError
from kalypso_actions.config_schemas.numbers import Number
from kalypso_go.gotemplate.numerals import json_number
from kalypso_go.gotemplate.text import quote_json

Json: TypeAlias = "bool | str | Number | list[Json] | dict[str, Json] | None"


def canonical_text(value: Json) -> str:
    """Return the JSON that `enum`, `const` and `uniqueItems` compare, and that messages show.

    Keys are sorted, and numbers are float64: 1, 1.0 and 1e0 are equal. Raise `SchemaError` if a
    number exceeds float64.
    """
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return quote_json(value)
    if isinstance(value, Number):
        return _float64(value)
    if isinstance(value, list):
        return "[" + ",".join(canonical_text(item) for item in value) + "]"
    members = (f"{quote_json(key)}:{canonical_text(value[key])}" for key in sorted(value))
    return "{" + ",".join(members) + "}"


def _float64(number: Number) -> str:
    value = float(number.text)
    if math.isinf(value):
        raise SchemaError(
            f"json: cannot unmarshal number {number.text} into Go value of type float64"
        )
    return json_number(value)
