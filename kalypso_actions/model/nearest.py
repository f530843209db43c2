"""Names that people probably meant."""

from __future__ import annotations

import difflib
import re
from bisect import bisect
from collections.abc import Iterable
from functools import lru_cache
from itertools import takewhile
from typing import Final

MOST_COMPARED: Final = 40
"""The most texts to compare by difflib, which takes 0.1 ms for each: a fleet may have ten thousand
names, and a mistake may concern thousands of them."""


def nearest(text: str, known: Iterable[str]) -> str:
    """Return the known text that is most similar; "" if none is.

    Among many texts, only those count that share the longest beginnings or ends with `text`.
    """
    names = list(known)
    if len(names) > MOST_COMPARED:
        forwards, backwards = _sorted_both_ways(tuple(names))
        of_ends = (name[::-1] for name in _around(text[::-1], backwards))
        names = list(dict.fromkeys((*_around(text, forwards), *of_ends)))
    return next(iter(difflib.get_close_matches(text, names, n=1)), "")


@lru_cache(maxsize=4)
def _sorted_both_ways(names: tuple[str, ...]) -> tuple[list[str], list[str]]:
    """Return the names in order, and the reversed names in order."""
    return sorted(names), sorted(name[::-1] for name in names)


def _around(text: str, ordered: list[str]) -> list[str]:
    """Return the neighbours of a text, which share the longest beginnings with it."""
    place, quarter = bisect(ordered, text), MOST_COMPARED // 4
    return ordered[max(0, place - quarter) : place + quarter]


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
