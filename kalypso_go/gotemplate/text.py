"""Go's strings as Python's: bytes that are usually UTF-8.

A `str` has a surrogate escape for each byte that is not UTF-8. Operations that count bytes in Go
use `to_bytes(text)`, except for ASCII text, where bytes and characters coincide.
"""

from __future__ import annotations

import re

SPACES = (
    "\t\n\v\f\r \x85\xa0\u1680"
    "\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u2028\u2029\u202f\u205f\u3000"
)
"""White space by `unicode.IsSpace`; `str.isspace` includes more."""

_ESCAPES = re.compile("[\udc80-\udcff]")


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
    return text if text.isascii() else _ESCAPES.sub("\ufffd", normal(text))
