"""Go's strings: bytes that are usually UTF-8.

A `str` stands for them, with a surrogate escape for each byte that is not UTF-8. What counts bytes
in Go works on `to_bytes(text)`. Text of ASCII alone, nearly all there is, needs no detour.
"""

from __future__ import annotations

import re

_ESCAPES = re.compile("[\udc80-\udcff]")


def to_bytes(text: str) -> bytes:
    """The bytes that Go holds for `text`."""
    return text.encode("utf-8", "surrogateescape")


def from_bytes(data: bytes) -> str:
    """The text for bytes that Go holds as a string."""
    return data.decode("utf-8", "surrogateescape")


def byte_length(text: str) -> int:
    """Go's `len(text)`."""
    return len(text) if text.isascii() else len(to_bytes(text))


def normal(text: str) -> str:
    """`text` as if read from bytes: escaped bytes that make up UTF-8 together become runes."""
    return text if text.isascii() else from_bytes(to_bytes(text))


def to_runes(text: str) -> str:
    """Go's `[]rune(text)`: each byte that is not part of UTF-8 is U+FFFD."""
    return text if text.isascii() else _ESCAPES.sub("\ufffd", normal(text))
