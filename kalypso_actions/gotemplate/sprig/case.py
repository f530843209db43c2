"""Letter case, and what is told by words: titles, initials, white space."""

from __future__ import annotations

from kalypso_actions.gotemplate.characters import is_digit, is_letter
from kalypso_actions.gotemplate.sprig import runes
from kalypso_actions.gotemplate.sprig.runes import SPACES
from kalypso_actions.gotemplate.sprig.signature import function
from kalypso_actions.gotemplate.text import to_runes
from kalypso_actions.gotemplate.values import STRING


def _separates_words(rune: str) -> bool:
    """What `strings.Title` takes for the end of a word."""
    if rune.isascii():
        return not (rune.isalnum() or rune == "_")
    return not (is_letter(rune) or is_digit(rune)) and rune in SPACES


@function("title", STRING, returns=STRING)
def title(text: str) -> str:
    """Go's `strings.Title`: the first letter of each word in title case, the others as they are."""
    changed = []
    before = " "
    for rune in to_runes(text):
        changed.append(runes.to_title(rune) if _separates_words(before) else rune)
        before = rune
    return "".join(changed)


@function("untitle", STRING, returns=STRING)
def untitle(text: str) -> str:
    """The first letter of each word, told by white space, in lower case."""
    changed = []
    begins = True
    for rune in to_runes(text):
        if rune in SPACES:
            begins = True
            changed.append(rune)
        else:
            changed.append(runes.to_lower(rune) if begins else rune)
            begins = False
    return "".join(changed)


@function("swapcase", STRING, returns=STRING)
def swapcase(text: str) -> str:
    """Upper and title case to lower, lower to upper, or to title case where a word begins."""
    changed = []
    begins = True
    for rune in to_runes(text):
        if runes.is_upper(rune) or runes.is_title(rune):
            changed.append(runes.to_lower(rune))
            begins = False
        elif runes.is_lower(rune):
            changed.append(runes.to_title(rune) if begins else runes.to_upper(rune))
            begins = False
        else:
            changed.append(rune)
            begins = rune in SPACES
    return "".join(changed)


@function("initials", STRING, returns=STRING)
def initials(text: str) -> str:
    """The first byte of each word, told by white space, taken for a rune."""
    found = []
    begins = True
    for rune in runes.bytes_as_runes(text):
        if rune in SPACES:
            begins = True
        elif begins:
            found.append(rune)
            begins = False
    return "".join(found)


@function("nospace", STRING, returns=STRING)
def nospace(text: str) -> str:
    """`text` without white space; where there is any, its bytes are taken for runes."""
    found = runes.bytes_as_runes(text)
    kept = "".join([rune for rune in found if rune not in SPACES])
    return text if len(kept) == len(found) else kept
