"""JSON text → values, with the errors of Go's encoding/json.

As its Decoder does, this reads the first value and leaves what follows it unread. An invalid
escape of a surrogate gives U+FFFD, and the last of equal keys wins.
"""

from __future__ import annotations

import re

from kalypso_actions.config_schemas.errors import MAX_NESTING, SchemaError
from kalypso_actions.config_schemas.json_values import Json
from kalypso_actions.config_schemas.numbers import bounded
from kalypso_actions.gotemplate.quoting import quote_rune
from kalypso_actions.gotemplate.text import to_bytes

_SPACE = frozenset(" \t\r\n")
_NOT_PLAIN = re.compile('["\\\\\x00-\x1f]')
_HEX = frozenset("0123456789abcdefABCDEF")
_DIGITS = frozenset("0123456789")
_ESCAPES = {
    '"': '"', "\\": "\\", "/": "/", "b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t",
}  # fmt: skip
_LITERALS: dict[str, tuple[str, bool | None]] = {
    "t": ("true", True),
    "f": ("false", False),
    "n": ("null", None),
}
_KEY = "looking for beginning of object key string"


def decode(text: str) -> Json:
    """The first JSON value of the text; raises `SchemaError` with Go's message."""
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
        while self.at < len(self.text) and self.text[self.at] in _SPACE:
            self.at += 1

    def _peek(self) -> str:
        if self.at == len(self.text):
            raise SchemaError("unexpected EOF")
        return self.text[self.at]

    def _next_token(self) -> str:
        self._skip_space()
        return self._peek()

    def _error(self, context: str) -> SchemaError:
        return SchemaError(f"invalid character {_shown(self._peek())} {context}")

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
        if character == "-" or character in _DIGITS:
            return bounded(self._number())
        if character in _LITERALS:
            return self._literal(*_LITERALS[character])
        raise self._error("looking for beginning of value")

    def _object(self, depth: int) -> Json:
        self.at += 1
        members: dict[str, Json] = {}
        if self._next_token() == "}":
            self.at += 1
            return members
        while True:
            if self._next_token() != '"':
                raise self._error(_KEY)
            key = self._string()
            if self._next_token() != ":":
                raise self._error("after object key")
            self.at += 1
            members[key] = self._value(depth + 1)
            following = self._next_token()
            if following not in ",}":
                raise self._error("after object key:value pair")
            self.at += 1
            if following == "}":
                return members

    def _array(self, depth: int) -> Json:
        self.at += 1
        items: list[Json] = []
        if self._next_token() == "]":
            self.at += 1
            return items
        while True:
            items.append(self._value(depth + 1))
            following = self._next_token()
            if following not in ",]":
                raise self._error("after array element")
            self.at += 1
            if following == "]":
                return items

    def _literal(self, word: str, value: bool | None) -> bool | None:
        for expected in word:
            if self._peek() != expected:
                raise self._error(f"in literal {word} (expecting '{expected}')")
            self.at += 1
        return value

    def _number(self) -> str:
        start = self.at
        if self._peek() == "-":
            self.at += 1
            if self._peek() not in _DIGITS:
                raise self._error("in numeric literal")
        if self._peek() == "0":
            self.at += 1
        else:
            self._skip_digits()
        if self._stands("."):
            self.at += 1
            self._digits("after decimal point in numeric literal")
        if self._stands("eE"):
            self.at += 1
            if self._peek() in "+-":
                self.at += 1
            self._digits("in exponent of numeric literal")
        return self.text[start : self.at]

    def _stands(self, characters: str) -> bool:
        return self.at < len(self.text) and self.text[self.at] in characters

    def _digits(self, context: str) -> None:
        if self._peek() not in _DIGITS:
            raise self._error(context)
        self._skip_digits()

    def _skip_digits(self) -> None:
        while self.at < len(self.text) and self.text[self.at] in _DIGITS:
            self.at += 1

    def _string(self) -> str:
        self.at += 1
        parts = []
        while True:
            special = _NOT_PLAIN.search(self.text, self.at)
            end = special.start() if special else len(self.text)
            parts.append(self.text[self.at : end])
            self.at = end
            character = self._peek()
            if character == '"':
                self.at += 1
                return "".join(parts)
            if character != "\\":
                raise self._error("in string literal")
            self.at += 1
            parts.append(self._escape())

    def _escape(self) -> str:
        character = self._peek()
        if character == "u":
            self.at += 1
            return self._unicode_escape()
        if character not in _ESCAPES:
            raise self._error("in string escape code")
        self.at += 1
        return _ESCAPES[character]

    def _unicode_escape(self) -> str:
        unit = self._hexadecimal()
        if not 0xD800 <= unit < 0xE000:
            return chr(unit)
        if unit < 0xDC00 and self.text.startswith("\\u", self.at):
            before = self.at
            self.at += 2
            low = self._hexadecimal()
            if 0xDC00 <= low < 0xE000:
                return chr(0x10000 + ((unit - 0xD800) << 10) + (low - 0xDC00))
            self.at = before
        return "\ufffd"

    def _hexadecimal(self) -> int:
        start = self.at
        while self.at < start + 4:
            if self._peek() not in _HEX:
                raise self._error("in \\u hexadecimal character escape")
            self.at += 1
        return int(self.text[start : self.at], 16)


def _shown(character: str) -> str:
    """The first byte of a character as Go quotes it: its scanner reads bytes."""
    return quote_rune(to_bytes(character)[0])
