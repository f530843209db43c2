"""Properties and letter case of runes, like Go's `unicode` package.

Case changes use Unicode's simple mappings, while Python's `str` considers context and maps to
several letters: in Go, `ß` has no upper case, and a sigma at the end of a word is not special.
"""

from __future__ import annotations

import unicodedata
from functools import lru_cache
from typing import Final

from kalypso_go.gotemplate.text import to_bytes, to_runes

_CACHED: Final = 1024
"""Without the cache, each changed rune of a long text would be a new string of 50 bytes."""


def is_upper(rune: str) -> bool:
    """Go's `unicode.IsUpper`."""
    return unicodedata.category(rune) == "Lu"


def is_lower(rune: str) -> bool:
    """Go's `unicode.IsLower`."""
    return unicodedata.category(rune) == "Ll"


def is_title(rune: str) -> bool:
    """Go's `unicode.IsTitle`."""
    return unicodedata.category(rune) == "Lt"


def is_number(rune: str) -> bool:
    """Go's `unicode.IsNumber`."""
    return unicodedata.category(rune)[0] == "N"


def is_punctuation(rune: str) -> bool:
    """Go's `unicode.IsPunct`."""
    return unicodedata.category(rune)[0] == "P"


@lru_cache(_CACHED)
def to_upper(rune: str) -> str:
    """Go's `unicode.ToUpper`."""
    changed = rune.upper()
    return changed if len(changed) == 1 else to_title(rune)


@lru_cache(_CACHED)
def to_lower(rune: str) -> str:
    """Go's `unicode.ToLower`."""
    return rune.lower()[0]


@lru_cache(_CACHED)
def to_title(rune: str) -> str:
    """Go's `unicode.ToTitle`."""
    changed = rune.title()
    return changed if len(changed) == 1 else rune


def upper(text: str) -> str:
    """Go's `strings.ToUpper`."""
    return text.upper() if text.isascii() else "".join(map(to_upper, to_runes(text)))


def lower(text: str) -> str:
    """Go's `strings.ToLower`."""
    return text.lower() if text.isascii() else "".join(map(to_lower, to_runes(text)))


def bytes_as_runes(text: str) -> str:
    """Go's `rune(text[i])` for each byte, a mistake that some functions make."""
    return text if text.isascii() else to_bytes(text).decode("latin-1")
