"""Names and texts that people probably meant."""

from __future__ import annotations

import difflib
import re
import unicodedata
from bisect import bisect
from collections.abc import Iterable, Iterator
from functools import lru_cache
from itertools import takewhile
from typing import Final

MOST_COMPARED: Final = 40
"""The most texts to compare by difflib, which takes 0.1 ms for each: a fleet may have ten thousand
names, and a mistake may concern thousands of them."""

ABOUT_AS_SIMILAR: Final = 0.1
"""The difference of two of difflib's ratios that says nothing about which name is meant."""

MIN_COMMON: Final = 3
"""The fewest letters with which a word and its replacement begin."""

_SEPARATOR: Final = re.compile(r"[-_.]")


def nearest(text: str, known: Iterable[str]) -> str:
    """Return the known text that is most similar; "" if none is.

    Among many texts, only those count that share the longest beginnings or ends with `text`. Of
    texts that are about as similar, one that differs within a word comes before one with another
    word: for `store-north`, `store-nordic` comes before `store-south`.
    """
    names = list(known)
    if len(names) > MOST_COMPARED:
        forwards, backwards = _sorted_both_ways(tuple(names))
        of_ends = (name[::-1] for name in _around(text[::-1], backwards))
        names = list(dict.fromkeys((*_around(text, forwards), *of_ends)))
    close = difflib.get_close_matches(text, names, n=3)
    if not close[1:]:
        return next(iter(close), "")
    ratios = {name: difflib.SequenceMatcher(None, name, text).ratio() for name in close}
    alike = (name for name in close if ratios[name] > ratios[close[0]] - ABOUT_AS_SIMILAR)
    return next((name for name in alike if _begin_alike(text, name)), close[0])


def _begin_alike(text: str, name: str) -> bool:
    """Whether the first words that differ begin with the same letter."""
    pairs = zip(_SEPARATOR.split(text), _SEPARATOR.split(name), strict=False)
    one, other = next(((one, other) for one, other in pairs if one != other), ("", ""))
    return one[:1] == other[:1]


def suggestion(text: str, known: Iterable[str]) -> str:
    """Return `did you mean x? ` for the nearest known text; "" if none is near."""
    near = nearest(text, known)
    return f"did you mean {near}? " if near else ""


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


def replaces(name: str, old: str) -> bool:
    """Whether a name may stand for another one after a renaming, as `store-nordic`, `store-north`.

    One word differs, begins as the old one, and has letters only; or it is a typing error.
    """
    if _is_slip(old, name):
        return True
    words = _SEPARATOR.split(name), _SEPARATOR.split(old)
    changed = [pair for pair in zip(*words, strict=False) if pair[0] != pair[1]]
    if len(words[0]) != len(words[1]) or len(changed) != 1:
        return False
    one, other = changed[0]
    common = _common_start(one, other)
    is_near = common >= MIN_COMMON and 2 * common >= max(len(one), len(other))
    return is_near and (one + other).isalpha()


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


_TYPOGRAPHIC: Final = re.compile(r"[“”„‟‘’‚‛«»].*[“”‟‘’‛«»]", re.DOTALL)
"""Quotes of a word processor around a text."""
_DASHED: Final = re.compile(r"[–—]\w")
_INVISIBLE: Final = re.compile("[\u00a0\u00ad\u200b-\u200f\u2028\u2029\u2060\ufeff]")
"""Characters that nobody sees: blanks that are none, and marks."""


def character_advice(text: object) -> str:
    """Return advice for a text with a character that is probably not meant; "" for another one."""
    return next((f"it {fault}: {advice}" for fault, advice in character_faults(text)), "")


def character_faults(value: object) -> Iterator[tuple[str, str]]:
    """Yield what is probably not meant in the characters of a value, with advice; each once.

    A word processor puts in quotes and dashes, a web page blanks that nobody sees.
    """
    match value:
        case str():
            text = value.strip()
            hidden = _INVISIBLE.search(value)
            if _TYPOGRAPHIC.fullmatch(text):
                quotes = f"{text[0]} and {text[-1]}"
                yield (
                    f"begins and ends with {quotes}, which are no quotes in YAML",
                    'write " or no quotes',
                )
            elif _DASHED.match(text):
                yield f"begins with the dash {text[0]}, which is no hyphen", "write - or --"
            if hidden and (hidden.start() in {0, len(value) - 1} or " " not in text):
                name = unicodedata.name(hidden[0], "unknown").lower()
                yield f"has the invisible character U+{ord(hidden[0]):04X} ({name})", "remove it"
        case dict():
            for inner in value.values():
                yield from character_faults(inner)
        case list():
            for item in value:
                yield from character_faults(item)
