"""Letter case: of runes like Go's `unicode` package, and of words.

Case changes use Unicode's simple mappings, while Python's `str` considers context and maps to
several letters: in Go, `ß` has no upper case, and a sigma at the end of a word is not special.
"""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache
from typing import Final

from kalypso_go.gotemplate.budget import Budget
from kalypso_go.gotemplate.characters import is_digit, is_letter
from kalypso_go.gotemplate.sprig.signature import function
from kalypso_go.gotemplate.text import SPACES, bytes_as_runes, normal, to_runes
from kalypso_go.gotemplate.values import STRING


@function("upper", STRING, returns=STRING)
def upper(text: str) -> str:
    """Go's `strings.ToUpper`."""
    return text.upper() if text.isascii() else "".join(map(to_upper, to_runes(text)))


@function("lower", STRING, returns=STRING)
def lower(text: str) -> str:
    """Go's `strings.ToLower`."""
    return text.lower() if text.isascii() else "".join(map(to_lower, to_runes(text)))


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
        changed.append(to_title(rune) if _separates_words(before) else rune)
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
            changed.append(to_lower(rune) if begins else rune)
            begins = False
    return "".join(changed)


@function("swapcase", STRING, returns=STRING, cost=2)
def swapcase(text: str) -> str:
    """Change upper and title case to lower, lower to upper, or to title case at a word's start."""
    changed = []
    begins = True
    for rune in to_runes(text):
        if is_upper(rune) or is_title(rune):
            changed.append(to_lower(rune))
            begins = False
        elif is_lower(rune):
            changed.append(to_title(rune) if begins else to_upper(rune))
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
    for rune in bytes_as_runes(text):
        if rune in SPACES:
            begins = True
        elif begins:
            first_runes.append(rune)
            begins = False
    return "".join(first_runes)


@function("nospace", STRING, returns=STRING)
def nospace(text: str) -> str:
    """Remove white space; if there is any, each byte becomes a rune."""
    bytewise = bytes_as_runes(text)
    kept = "".join([rune for rune in bytewise if rune not in SPACES])
    return text if len(kept) == len(bytewise) else kept


_UPPER, _LETTER, _NUMBER, _SPACE, _CONNECTOR, _PUNCTUATION, _OTHER, _NONE = "ULNSCPO-"

_WORDS = re.compile("U+(?=UL)|UU+|UL*|L+|N+|[SC]+|P[PC]*|O+")
"""Matches the kinds of a word's runes; the last capital before other letters begins their word.

Hyphens and underscores are connectors, but after other punctuation they belong to it.
"""

_WORK = 32
"""The work for one character, relative to simpler functions."""

_CONNECTORS = "-_" + SPACES

_HAN = (("\u3400", "\u4d85"), ("\u4e00", "\u9fcc"), ("\U00020000", "\U0002b81d"))
_INVALID = re.compile("[\udc80-\udcff\ufffd]")

_Word = tuple[str, str]


@function("snakecase", STRING, returns=STRING, takes_budget=True)
def snakecase(budget: Budget, text: str) -> str:
    """Convert `HTTPServer` to `http_server`."""
    budget.spend(len(text) * _WORK, "snakecase")
    return _Joiner(text, "_").join()


@function("kebabcase", STRING, returns=STRING, takes_budget=True)
def kebabcase(budget: Budget, text: str) -> str:
    """Convert `HTTPServer` to `http-server`."""
    budget.spend(len(text) * _WORK, "kebabcase")
    return _Joiner(text, "-").join()


@function("camelcase", STRING, returns=STRING)
def camelcase(text: str) -> str:
    """Convert `some_words` to `SomeWords`; keep leading connectors, drop one between two words."""
    plain = to_runes(text)
    words = plain.lstrip(_CONNECTORS)
    if not words:
        # xstrings writes the last connector twice; an empty text stays empty.
        return plain + plain[-1:]
    changed = [plain[: len(plain) - len(words)]]
    before = to_upper(words[0])
    for rune in words[1:]:
        if before in _CONNECTORS and rune not in _CONNECTORS:
            before = to_upper(rune)
        else:
            changed.append(before)
            before = rune
    return "".join([*changed, before])


def _kind(rune: str) -> str:
    if rune in SPACES:
        return _SPACE
    if rune in "-_":
        return _CONNECTOR
    if is_punctuation(rune):
        return _PUNCTUATION
    if is_upper(rune):
        return _UPPER
    if is_letter(rune) and not any(low <= rune <= high for low, high in _HAN):
        return _LETTER
    return _NUMBER if is_number(rune) else _OTHER


def _split(text: str) -> list[_Word]:
    """Return the words with their kinds; invalid bytes belong to the next rune."""
    cells: list[str] = []
    kinds = ""
    pending = ""
    for rune in text:
        pending += rune
        if not _INVALID.match(rune):
            cells.append(pending)
            kinds += _kind(rune)
            pending = ""
    if not cells:
        return [(_NONE, text)]
    cells[-1] += pending
    return [
        (match[0][0].replace(_SPACE, _CONNECTOR), "".join(cells[match.start() : match.end()]))
        for match in _WORDS.finditer(kinds)
    ]


class _Joiner:
    """Writes the words of a text with connectors."""

    def __init__(self, text: str, connector: str) -> None:
        self.words = _split(normal(text))
        self.connector = connector
        self.position = 0
        self.written: list[str] = []

    @property
    def kind(self) -> str:
        """The kind of the next word."""
        return self.words[self.position][0] if self.position < len(self.words) else _NONE

    def join(self) -> str:
        while self.position < len(self.words) - 1:
            before = self.kind
            self._write()
            if before == _NUMBER:
                self._write_tail()
            elif before not in (_CONNECTOR, _PUNCTUATION):
                self._write_between()
        if self.position < len(self.words):
            self._write()
        return "".join(self.written)

    def _write(self) -> None:
        """Write the next word in lower case, replacing each connector by the chosen one."""
        kind, word = self.words[self.position]
        self.position += 1
        if kind == _CONNECTOR:
            word = "".join([self.connector if rune in _CONNECTORS else "\ufffd" for rune in word])
        elif kind == _UPPER:
            word = "".join([to_lower(rune) if is_upper(rune) else rune for rune in to_runes(word)])
        self.written.append(word)

    def _write_tail(self) -> None:
        """After a number, write letters and numbers without a connector."""
        while self.kind in (_LETTER, _NUMBER):
            self._write()
        self._connect(_NONE, _CONNECTOR, _PUNCTUATION)

    def _write_between(self) -> None:
        """After letters, write a number without a connector, unless lower case follows it."""
        if self.kind != _NUMBER:
            self._connect(_CONNECTOR, _PUNCTUATION)
            return
        if self.position == len(self.words) - 1:
            return
        if self.words[self.position + 1][0] == _LETTER:
            self.written.append(self.connector)
            self._write()
            self._write_tail()
            return
        self._write()
        self._connect(_CONNECTOR, _PUNCTUATION)

    def _connect(self, *unless: str) -> None:
        if self.kind not in unless:
            self.written.append(self.connector)


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
