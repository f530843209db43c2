"""Letter case, initials and white space."""

from __future__ import annotations

from kalypso_go.gotemplate.characters import is_digit, is_letter
from kalypso_go.gotemplate.sprig import runes
from kalypso_go.gotemplate.sprig.signature import function
from kalypso_go.gotemplate.text import SPACES, to_runes
from kalypso_go.gotemplate.values import STRING


def _separates_words(rune: str) -> bool:
    """Return whether `strings.Title` ends a word at this rune."""
    if rune.isascii():
        return not (rune.isalnum() or rune == "_")
    return not (is_letter(rune) or is_digit(rune)) and rune in SPACES


@function("title", STRING, returns=STRING, cost=2)
def title(text: str) -> str:
    """Go's `strings.Title`: change the first letter of each word to title case."""
    changed = []
    before = " "
    for rune in to_runes(text):
        changed.append(runes.to_title(rune) if _separates_words(before) else rune)
        before = rune
    return "".join(changed)


@function("untitle", STRING, returns=STRING)
def untitle(text: str) -> str:
    """Change the first letter of each word (after white space) to lower case."""
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


@function("swapcase", STRING, returns=STRING, cost=2)
def swapcase(text: str) -> str:
    """Change upper and title case to lower, lower to upper, or to title case at a word's start."""
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


@function("initials", STRING, returns=STRING, cost=8)
def initials(text: str) -> str:
    """Return the first byte of each word (after white space) as a rune."""
    first_runes = []
    begins = True
    for rune in runes.bytes_as_runes(text):
        if rune in SPACES:
            begins = True
        elif begins:
            first_runes.append(rune)
            begins = False
    return "".join(first_runes)


@function("nospace", STRING, returns=STRING)
def nospace(text: str) -> str:
    """Remove white space; if there is any, each byte becomes a rune."""
    bytewise = runes.bytes_as_runes(text)
    kept = "".join([rune for rune in bytewise if rune not in SPACES])
    return text if len(kept) == len(bytewise) else kept
