"""JSON values as Go sees them: decoded with Go's errors, compared by Go's text.

A number keeps its text (`json.Number`). Bounds compare exact fractions (`big.Rat`), messages print
them as `big.Float`, and equality compares float64.

Of a configuration, upstream reads each top-level text as a decimal integer, else as a float, else
leaves it; rendering keeps the text. So to a schema, `"8080"` is a number, and `"00501"` is 501.
Then upstream writes the configuration with jsoniter and reads it back; `to_document` converts it
directly. Keys of nested mappings become texts as jsoniter writes them (`1`, `true`, `1.5`), bytes
that are not UTF-8 become U+FFFD, and a value without JSON form is an error.
"""

from __future__ import annotations

import json
import math
import re
from bisect import bisect_left
from collections.abc import Mapping, Sequence
from decimal import Context, Decimal
from fractions import Fraction
from functools import lru_cache
from typing import TypeAlias

from kalypso_actions.config_schemas.errors import (
    MAX_CONFIG_VALUES,
    MAX_NESTING,
    MAX_NUMBER_DIGITS,
    SchemaError,
    UnsupportedValueError,
)
from kalypso_go.gotemplate.numerals import (
    MAX_INT64,
    MIN_INT64,
    json_number,
    parse_float,
    place_point,
)
from kalypso_go.gotemplate.text import quote_json, quote_rune, to_bytes, to_runes

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


_NUMBER = re.compile(r"(?=[-0-9])-?(0|[1-9][0-9]*|)(?:\.([0-9]*))?(?:[eE][-+]?([0-9]*))?")
_NUMBER_CONTEXTS = (
    "in numeric literal",
    "after decimal point in numeric literal",
    "in exponent of numeric literal",
)
_STRING_START = re.compile(r'"(?:[^"\\\x00-\x1f]+|\\["\\/bfnrt]|\\u[0-9a-fA-F]{4})*')
_SURROGATE = re.compile("[\ud800-\udfff]")
_HEX = frozenset("0123456789abcdefABCDEF")
_LITERALS: dict[str, tuple[str, bool | None]] = {
    "t": ("true", True),
    "f": ("false", False),
    "n": ("null", None),
}


def decode(text: str) -> Json:
    """Return the first JSON value of the text; raise `SchemaError` with Go's message."""
    return _Decoder(text).document()


def position_of(text: str, path: Sequence[str | int]) -> int:
    """Return where the key or item at a path begins, or else its nearest ancestor.

    If the text is not JSON, return where decoding stops.
    """
    decoder = _Decoder(text)
    try:
        decoder.document()
    except SchemaError:
        return min(decoder.at, max(len(text) - 1, 0))
    level, position = 0, 0
    for depth, step, start in decoder.steps:
        if depth < level or level == len(path):
            break  # the item, or its nearest ancestor, ends
        if depth == level and step == path[level]:
            level, position = level + 1, start
    return position


class _Decoder:
    """A position in a text."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.at = 0
        self.steps: list[tuple[int, str | int, int]] = []
        """Each key and list index in order, with its depth and position."""

    def document(self) -> Json:
        self._skip_space()
        if self.at == len(self.text):
            raise SchemaError("EOF")
        return self._value(0)

    def _skip_space(self) -> None:
        while self.at < len(self.text) and self.text[self.at] in " \t\r\n":
            self.at += 1

    def _peek(self) -> str:
        if self.at == len(self.text):
            raise SchemaError("unexpected EOF")
        return self.text[self.at]

    def _next_token(self) -> str:
        self._skip_space()
        return self._peek()

    def _error(self, context: str) -> SchemaError:
        # Go reads and shows bytes, not characters.
        shown = quote_rune(to_bytes(self._peek())[0])
        return SchemaError(f"invalid character {shown} {context}")

    def _value(self, depth: int) -> Json:
        if depth > MAX_NESTING:
            raise SchemaError(
                f"the schema is nested more than {MAX_NESTING} levels deep: "
                "move the inner ones into `definitions`"
            )
        character = self._next_token()
        if character == "{":
            return self._object(depth)
        if character == "[":
            return self._array(depth)
        if character == '"':
            return self._string()
        if character in _LITERALS:
            return self._literal(*_LITERALS[character])
        return self._number()

    def _object(self, depth: int) -> Json:
        self.at += 1
        members: dict[str, Json] = {}
        if self._next_token() == "}":
            self.at += 1
            return members
        while True:
            self._skip_space()
            start = self.at
            key = self._string()
            self.steps.append((depth, key, start))
            if self._next_token() != ":":
                raise self._error("after object key")
            self.at += 1
            members[key] = self._value(depth + 1)
            if self._ends("}", "after object key:value pair"):
                return members

    def _array(self, depth: int) -> Json:
        self.at += 1
        items: list[Json] = []
        if self._next_token() == "]":
            self.at += 1
            return items
        while True:
            self._skip_space()
            self.steps.append((depth, len(items), self.at))
            items.append(self._value(depth + 1))
            if self._ends("]", "after array element"):
                return items

    def _ends(self, bracket: str, context: str) -> bool:
        """Read the closing bracket or a comma."""
        character = self._next_token()
        if character not in (",", bracket):
            raise self._error(context)
        self.at += 1
        return character == bracket

    def _literal(self, word: str, value: bool | None) -> bool | None:
        for expected in word:
            if self._peek() != expected:
                raise self._error(f"in literal {word} (expecting '{expected}')")
            self.at += 1
        return value

    def _number(self) -> Number:
        number = _NUMBER.match(self.text, self.at)
        if number is None:
            raise self._error("looking for beginning of value")
        for group, context in enumerate(_NUMBER_CONTEXTS, 1):
            if number[group] == "":
                self.at = number.end(group)
                raise self._error(context)
        self.at = number.end()
        return parse_number(number[0])

    def _string(self) -> str:
        string = _STRING_START.match(self.text, self.at)
        if string is None:
            raise self._error("looking for beginning of object key string")
        self.at = string.end()
        if self._peek() == "\\":
            raise self._escape_error()
        if self._peek() != '"':
            raise self._error("in string literal")
        self.at += 1
        decoded: str = json.loads(string[0] + '"')
        return _SURROGATE.sub("\ufffd", decoded)

    def _escape_error(self) -> SchemaError:
        self.at += 1
        if self._peek() != "u":
            return self._error("in string escape code")
        self.at += 1
        while self._peek() in _HEX:
            self.at += 1
        return self._error("in \\u hexadecimal character escape")


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
