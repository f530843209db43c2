"""Names that people probably meant."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable
from itertools import takewhile
from typing import Final


def nearest(text: str, known: Iterable[str]) -> str:
    """Return the known text that is most similar; "" if none is."""
    return next(iter(difflib.get_close_matches(text, list(known), n=1)), "")


MIN_WORD: Final = 4
"""In shorter words, a wrong letter is no typing error: `dev` and `dep` may be different words."""


def misspelled(text: str, known: Iterable[str]) -> str:
    """Return the known text that differs by one typing error; "" if none does.

    A typing error is a different case or separator or, in a word of at least four letters, one
    letter that is missing, added, wrong, or swapped with the next. A different first letter or
    digit is no typing error: `zone-a` and `zone-b`, `west` and `rest` are different names.
    """
    return next((name for name in sorted(known) if _is_slip(text, name)), "")


def _is_slip(text: str, name: str) -> bool:
    first, other = text.casefold(), name.casefold()
    if first == other:
        return text != name
    start = _common_start(first, other)
    end = _common_start(first[start:][::-1], other[start:][::-1])
    changed = first[start : len(first) - end], other[start : len(other) - end]
    is_exchanged = len(changed[0]) == 2 and changed[0] == changed[1][::-1]
    if not start or not (is_exchanged or max(map(len, changed)) == 1):
        return False
    letters = "".join(changed)
    if not letters.strip("-_."):
        return True
    words = re.finditer(r"[a-z]+", max(first, other, key=len))
    length = next((len(word[0]) for word in words if word.start() <= start < word.end()), 0)
    return letters.isalpha() and length >= MIN_WORD


def _common_start(first: str, other: str) -> int:
    return sum(
        1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(first, other, strict=False))
    )
