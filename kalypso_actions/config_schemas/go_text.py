"""Texts inside error messages, as Go's strconv writes them."""

from __future__ import annotations

_SHORT = {
    "\a": "\\a", "\b": "\\b", "\f": "\\f", "\n": "\\n", "\r": "\\r", "\t": "\\t", "\v": "\\v",
    "\\": "\\\\",
}  # fmt: skip


def quote(text: str) -> str:
    """`strconv.Quote`: the text in double quotes, what cannot be printed escaped."""
    return '"' + escaped(text).replace('"', '\\"') + '"'


def escaped(text: str) -> str:
    """The text with Go's escapes for backslashes and for what cannot be printed."""
    if text.isprintable() and "\\" not in text:
        return text
    return "".join(_escape(character) for character in text)


def _escape(character: str) -> str:
    if character in _SHORT:
        return _SHORT[character]
    if character.isprintable():
        return character
    code = ord(character)
    if 0xDC80 <= code <= 0xDCFF:  # a byte that is not UTF-8
        return f"\\x{code - 0xDC00:02x}"
    if code < 0x80:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"
