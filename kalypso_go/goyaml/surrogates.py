"""Go strings are bytes; bytes that are not UTF-8 are surrogate escapes, as in os.fsdecode."""

from __future__ import annotations

import re
from typing import Final

from kalypso_go.goyaml.errors import YAMLError

SURROGATE: Final = re.compile("[\ud800-\udfff]")


def to_bytes(text: str) -> bytes:
    """Return the bytes of the Go string that `text` stands for.

    Raises `YAMLError` for surrogates that stand for no byte.
    """
    try:
        return text.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError as error:
        raise YAMLError(f"a string holds {text[error.start]!a}, which is no character") from error


def to_runes(text: str) -> str:
    """Return the runes of the Go string, with U+FFFD for each byte that is not UTF-8."""
    if not SURROGATE.search(text):
        return text
    return SURROGATE.sub("\ufffd", to_bytes(text).decode("utf-8", "surrogateescape"))
