"""Texts and numbers as Go's encoding/json writes them."""

from __future__ import annotations

import re

from kalypso_go.gotemplate.numerals import format_float
from kalypso_go.gotemplate.text import normal

_ESCAPED = re.compile('["\\\\\\x00-\\x1f<>&\u2028\u2029\udc80-\udcff]')
_SHORT = {'"': '\\"', "\\": "\\\\", "\b": "\\b", "\f": "\\f", "\n": "\\n", "\r": "\\r", "\t": "\\t"}


def quote_json(text: str) -> str:
    """Quote the text; also escape the characters that are special in HTML."""
    if text.isascii() and not _ESCAPED.search(text):
        return f'"{text}"'
    return '"' + _ESCAPED.sub(_escape, normal(text)) + '"'


def _escape(match: re.Match[str]) -> str:
    char = match[0]
    if char in _SHORT:
        return _SHORT[char]
    return "\\ufffd" if char >= "\udc80" else f"\\u{ord(char):04x}"


def json_number(value: float) -> str:
    """Write a finite number as JavaScript does."""
    if value and not 1e-6 <= abs(value) < 1e21:
        return format_float(value, "e").replace("e-0", "e-")
    return format_float(value, "f")
