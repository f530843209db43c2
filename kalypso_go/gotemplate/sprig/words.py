"""`snakecase`, `kebabcase` and `camelcase` like huandu/xstrings 1.4.

To convert `HTTPServer` to `http_server`, split the text into words, each of one kind of runes; the
kinds of two neighbours decide whether a connector separates them.
"""

from __future__ import annotations

import re

from kalypso_go.gotemplate.budget import Budget
from kalypso_go.gotemplate.characters import is_letter
from kalypso_go.gotemplate.sprig import runes
from kalypso_go.gotemplate.sprig.signature import function
from kalypso_go.gotemplate.text import SPACES, normal, to_runes
from kalypso_go.gotemplate.values import STRING

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
    before = runes.to_upper(words[0])
    for rune in words[1:]:
        if before in _CONNECTORS and rune not in _CONNECTORS:
            before = runes.to_upper(rune)
        else:
            changed.append(before)
            before = rune
    return "".join([*changed, before])


def _kind(rune: str) -> str:
    if rune in SPACES:
        return _SPACE
    if rune in "-_":
        return _CONNECTOR
    if runes.is_punctuation(rune):
        return _PUNCTUATION
    if runes.is_upper(rune):
        return _UPPER
    if is_letter(rune) and not any(low <= rune <= high for low, high in _HAN):
        return _LETTER
    return _NUMBER if runes.is_number(rune) else _OTHER


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
            word = "".join(
                [runes.to_lower(rune) if runes.is_upper(rune) else rune for rune in to_runes(word)]
            )
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
