"""A configuration → the JSON document to validate.

Upstream reads each top-level text as a decimal integer, else as a float, else leaves it; rendering
keeps the text. So to a schema, `"8080"` is a number, and `"00501"` is 501. Then upstream writes the
configuration with jsoniter and reads it back; this converts it directly. Keys of nested mappings
become texts as jsoniter writes them (`1`, `true`, `1.5`), bytes that are not UTF-8 become U+FFFD,
and a value without JSON form is an error.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping

from kalypso_actions.config_schemas.errors import (
    MAX_CONFIG_VALUES,
    MAX_NESTING,
    UnsupportedValueError,
)
from kalypso_actions.config_schemas.json_values import Json, Number
from kalypso_go.gotemplate.numerals import MAX_INT64, MIN_INT64, json_number, parse_float
from kalypso_go.gotemplate.text import to_runes


def to_document(config: Mapping[str, object]) -> dict[str, Json]:
    """Return the configuration as JSON; raise `UnsupportedValueError`."""
    serializer = _Serializer()
    document: dict[str, Json] = {}
    texts = 0
    for name in sorted(config):
        value = config[name]
        if isinstance(value, str) and value[:1] in _FIRST:
            value = number_or_text(value)
        if type(value) is str and value.isascii():  # nearly all values
            plain: Json = value
            texts += 1
        else:
            plain = serializer.value(value, 1)
        document[name if name.isascii() else to_runes(name)] = plain
    serializer.count(texts)
    return document


class _Serializer:
    """The conversion of one configuration; counts its values."""

    def __init__(self) -> None:
        self._remaining = MAX_CONFIG_VALUES

    def count(self, values: int) -> None:
        """Count values. Raises `UnsupportedValueError` for too many."""
        self._remaining -= values
        if self._remaining < 0:
            raise UnsupportedValueError(
                f"more than {MAX_CONFIG_VALUES:,} values: shorten the lists"
            )

    def value(self, value: object, depth: int) -> Json:
        """Convert a value of the configuration, at most `MAX_NESTING` levels deep."""
        self.count(1)
        if isinstance(value, str):
            return value if value.isascii() else to_runes(value)
        if value is None or isinstance(value, bool):
            return value
        if isinstance(value, int):
            return Number(str(int(value)))
        if isinstance(value, float):
            return Number(_float_text(value))
        if not isinstance(value, list | dict):
            raise TypeError(f"{type(value).__name__} is not a type of a configuration's values")
        if depth > MAX_NESTING:
            raise UnsupportedValueError(f"a value is nested more than {MAX_NESTING} levels deep")
        if isinstance(value, list):
            return self._list(value, depth)
        return {_key(key): self.value(item, depth + 1) for key, item in value.items()}

    def _list(self, items: list[object], depth: int) -> Json:
        try:
            return [self.value(item, depth + 1) for item in items]
        except UnsupportedValueError as error:
            # jsoniter names the type of each list around the value.
            raise UnsupportedValueError(f"[]interface {{}}: {error}") from error


def _float_text(value: float) -> str:
    if math.isnan(value):
        raise UnsupportedValueError("unsupported value: NaN")
    if math.isinf(value):
        raise UnsupportedValueError(f"unsupported value: {'+' if value > 0 else '-'}Inf")
    return json_number(value)


def _key(key: object) -> str:
    if isinstance(key, str):
        return to_runes(key)
    if isinstance(key, bool):
        return "true" if key else "false"
    if isinstance(key, int):
        return str(int(key))
    if isinstance(key, float):
        return _float_text(key)
    raise UnsupportedValueError("a key of a mapping is null: give it a name")


_INTEGER = re.compile(r"([-+]?)0*([0-9]{1,19})")


_FIRST = frozenset("+-.0123456789iInN")
"""The first characters of numbers, `inf` and `nan`. Most texts begin with another character."""


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
