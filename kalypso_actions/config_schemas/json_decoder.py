"""JSON text → values, with the errors of Go's encoding/json.

Like Go's Decoder, read the first value and ignore the text after it. An unpaired surrogate becomes
U+FFFD; the last of several equal keys wins.
"""

from __future__ import annotations

import json
import re

from kalypso_actions.config_schemas.errors import MAX_NESTING, SchemaError
from kalypso_actions.config_schemas.json_values import Json
from kalypso_actions.config_schemas.numbers import Number, parse_number
from kalypso_go.gotemplate.text import quote_rune, to_bytes

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


class _Decoder:
    """A position in a text."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.at = 0

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
            key = self._string()
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
