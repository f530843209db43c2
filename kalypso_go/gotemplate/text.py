"""Go's strings as Python's, and their quoted forms.

A Go string has bytes, usually of UTF-8. A `str` has a surrogate escape for each byte that is not
UTF-8. Operations that count bytes in Go use `to_bytes(text)`, except for ASCII text, where bytes
and characters coincide.
"""

from __future__ import annotations

import re
from functools import lru_cache
from json.encoder import encode_basestring_ascii

from kalypso_go.gotemplate.characters import is_print

SPACES = (
    "\t\n\v\f\r \x85\xa0\u1680"
    "\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u2028\u2029\u202f\u205f\u3000"
)
"""White space by `unicode.IsSpace`; `str.isspace` includes more."""

_ESCAPED_BYTES = re.compile("[\udc80-\udcff]")


def to_bytes(text: str) -> bytes:
    """Return the bytes of the Go string."""
    return text.encode("utf-8", "surrogateescape")


def from_bytes(data: bytes) -> str:
    """Return the text for the bytes of a Go string."""
    return data.decode("utf-8", "surrogateescape")


def byte_length(text: str) -> int:
    """Go's `len(text)`."""
    return len(text) if text.isascii() else len(to_bytes(text))


def normal(text: str) -> str:
    """Return `text` as if read from bytes: escaped bytes that form UTF-8 become runes."""
    return text if text.isascii() else from_bytes(to_bytes(text))


def to_runes(text: str) -> str:
    """Go's `[]rune(text)`: each byte that is not UTF-8 becomes U+FFFD."""
    return text if text.isascii() else _ESCAPED_BYTES.sub("\ufffd", normal(text))


def bytes_as_runes(text: str) -> str:
    """Go's `rune(text[i])` for each byte, a mistake that some functions make."""
    return text if text.isascii() else to_bytes(text).decode("latin-1")


_ESCAPED = {
    "\a": r"\a",
    "\b": r"\b",
    "\f": r"\f",
    "\n": r"\n",
    "\r": r"\r",
    "\t": r"\t",
    "\v": r"\v",
    "\\": r"\\",
}
_UNESCAPED = {escape[1]: char for char, escape in _ESCAPED.items()}

_ESCAPE = re.compile(
    r"\\(?:([abfnrtv\\'\"])|([0-7]{3})|x([0-9a-fA-F]{2})|u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8}))"
)


def quote(text: str, ascii_only: bool = False) -> str:
    """Go's `strconv.Quote`, or with `ascii_only` its `strconv.QuoteToASCII`."""
    quoted = encode_basestring_ascii(text)  # as in JSON, which escapes at least as much
    if len(quoted) == len(text) + 2:  # nothing
        return quoted
    return '"' + "".join(_escape(rune, '"', ascii_only) for rune in normal(text)) + '"'


def quote_rune(code: int, *, ascii_only: bool = False) -> str:
    """Go's `strconv.QuoteRune`: invalid code points become U+FFFD."""
    rune = chr(code) if is_rune(code) else "\ufffd"
    return "'" + _escape(rune, "'", ascii_only) + "'"


def can_backquote(text: str) -> bool:
    """Go's `strconv.CanBackquote`: one line without control characters and backquotes."""
    return not re.search("[\0-\x08\n-\x1f`\x7f\ufeff\udc80-\udcff]", normal(text))


def is_rune(code: int) -> bool:
    """Go's `utf8.ValidRune`: whether `code` is a code point that text can hold."""
    return 0 <= code < 0xD800 or 0xE000 <= code <= 0x10FFFF


# Without the cache, each escaped rune of a long text would be a new string of 50 bytes.
@lru_cache(1024)
def _escape(rune: str, delimiter: str, ascii_only: bool) -> str:
    if rune == delimiter:
        return "\\" + rune
    if rune in _ESCAPED:
        return _ESCAPED[rune]
    if is_print(rune) and (rune < "\x80" or not ascii_only):
        return rune
    code = ord(rune)
    if 0xDC80 <= code <= 0xDCFF:
        return f"\\x{code - 0xDC00:02x}"
    if code < 0x20 or code == 0x7F:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


def unquote(literal: str) -> str:
    """Go's `strconv.Unquote` of a string constant, in double quotes or backquotes.

    Raises ValueError for invalid escapes.
    """
    if literal[0] == "`":
        return literal[1:-1].replace("\r", "")
    inner = literal[1:-1]
    if "\\" not in inner:
        return inner
    data = bytearray()
    position = 0
    while (backslash := inner.find("\\", position)) >= 0:
        data += to_bytes(inner[position:backslash])
        escaped, position = _unescape(inner, backslash, '"')
        data += escaped
    data += to_bytes(inner[position:])
    return from_bytes(bytes(data))


def unquote_char(literal: str) -> int:
    r"""Return the code point of a character constant such as `'x'` or `'\u00e9'`.

    Raises ValueError with Go's text.
    """
    inner = literal[1:]
    if inner[0] == "'":
        raise ValueError("invalid syntax")
    if inner[0] == "\\":
        data, end = _unescape(inner, 0, "'")
        code = data[0] if inner[1] in "x01234567" else ord(data.decode())
    else:
        code = 0xFFFD if "\udc80" <= inner[0] <= "\udcff" else ord(inner[0])
        end = 1
    if inner[end:] != "'":
        raise ValueError(f"malformed character constant: {literal}")
    return code


def _unescape(text: str, position: int, delimiter: str) -> tuple[bytes, int]:
    """Return the bytes of the escape at `position`, and its end."""
    match = _ESCAPE.match(text, position)
    if match is None:
        raise ValueError("invalid syntax")
    letter, octal, byte, short, long = match.groups()
    if letter:
        if letter in "'\"" and letter != delimiter:
            raise ValueError("invalid syntax")
        return _UNESCAPED.get(letter, letter).encode(), match.end()
    if octal or byte:
        code = int(octal, 8) if octal else int(byte, 16)
        if code > 0xFF:
            raise ValueError("invalid syntax")
        return bytes([code]), match.end()
    code = int(short or long, 16)
    if not is_rune(code):
        raise ValueError("invalid syntax")
    return chr(code).encode(), match.end()


_ESCAPED_IN_JSON = re.compile('["\\\\\\x00-\\x1f<>&\u2028\u2029\udc80-\udcff]')
_JSON_ESCAPES = {
    '"': '\\"',
    "\\": "\\\\",
    "\b": "\\b",
    "\f": "\\f",
    "\n": "\\n",
    "\r": "\\r",
    "\t": "\\t",
}


def quote_json(text: str) -> str:
    """Quote the text; also escape the characters that are special in HTML."""
    if text.isascii() and not _ESCAPED_IN_JSON.search(text):
        return f'"{text}"'
    return '"' + _ESCAPED_IN_JSON.sub(_escape_in_json, normal(text)) + '"'


def _escape_in_json(match: re.Match[str]) -> str:
    char = match[0]
    if char in _JSON_ESCAPES:
        return _JSON_ESCAPES[char]
    return "\\ufffd" if char >= "\udc80" else f"\\u{ord(char):04x}"
