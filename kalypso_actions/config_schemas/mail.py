"""Whether a text is one mail address, as Go's net/mail reads RFC 5322.

    address  =  addr-spec [comment]  |  [phrase] "<" addr-spec ">"  |  a group of one address
    addr-spec  =  (dot-atom | quoted-string) "@" (dot-atom | domain-literal)

Go is lenient in places (dots anywhere in a display name, letters of any script); so is this.
"""

from __future__ import annotations

import base64
import binascii
import re

from kalypso_actions.gotemplate.addresses import is_ip_address

_SPACE = re.compile(r"[ \t]*")
_ATOM = re.compile('[^\x00-\x20\x7f()<>\\[\\]:;@\\\\,"]+')
_QUOTED = re.compile(r'"((?:[^\0-\x08\n-\x1f"\\\x7f]|\\[^\0-\x08\n-\x1f\x7f])*)"')
_LITERAL = re.compile("\\[([^\x00-\x20\x7f\\[\\]\\\\]*)\\]")
_ENCODED_WORD = re.compile(r"=\?([^?]+)\?([bBqQ])\?([^?]*)\?=")
_Q_TEXT = re.compile(r"(?:[\t\r\n\x20-\x3c\x3e-\x7e]|=[0-9A-Fa-f]{2})*")
_CHARSETS = frozenset({"utf-8", "iso-8859-1", "us-ascii"})


class _NoAddress(Exception):  # noqa: N818 -- a way out of the parser, not an error of ours
    """The text does not go on as an address must."""


def is_mail_address(text: str) -> bool:
    """Whether `mail.ParseAddress` takes the text."""
    try:
        return _Parser(text).is_single_address()
    except _NoAddress:
        return False


class _Parser:
    """A position in a text."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.at = 0

    def is_single_address(self) -> bool:
        count = self._address(in_group=False)
        self._skip_comments()
        return self.at == len(self.text) and count == 1

    def _take(self, pattern: re.Pattern[str]) -> re.Match[str]:
        match = pattern.match(self.text, self.at)
        if match is None:
            raise _NoAddress
        self.at = match.end()
        return match

    def _stands(self, character: str) -> bool:
        return self.text.startswith(character, self.at)

    def _consume(self, character: str) -> bool:
        if not self._stands(character):
            return False
        self.at += 1
        return True

    def _expect(self, character: str) -> None:
        if not self._consume(character):
            raise _NoAddress

    def _skip_space(self) -> None:
        self._take(_SPACE)

    def _address(self, *, in_group: bool) -> int:
        """One address or, outside of a group, a group; the number of addresses."""
        self._skip_space()
        if self._is_addr_spec():
            self._skip_space()
            if self._consume("("):
                for word in re.split("[ \t]+", self._comment()):
                    _is_encoded(word)
            return 1
        if not self._stands("<"):
            self._phrase()
        self._skip_space()
        if not in_group and self._consume(":"):
            return self._group()
        self._expect("<")
        self._addr_spec()
        self._expect(">")
        return 1

    def _group(self) -> int:
        self._skip_space()
        if self._consume(";"):
            self._skip_comments()
            return 0
        count = 0
        while True:
            count += self._address(in_group=True)
            self._skip_comments()
            if self._consume(";"):
                self._skip_comments()
                return count
            self._expect(",")

    def _is_addr_spec(self) -> bool:
        before = self.at
        try:
            self._addr_spec()
        except _NoAddress:
            self.at = before
            return False
        return True

    def _addr_spec(self) -> None:
        self._skip_space()
        if self._stands('"'):
            if not self._take(_QUOTED)[1]:
                raise _NoAddress
        else:
            self._dot_atom()
        self._expect("@")
        self._skip_space()
        if not self._stands("["):
            self._dot_atom()
        elif not is_ip_address(self._take(_LITERAL)[1]):
            raise _NoAddress

    def _dot_atom(self) -> None:
        atom = self._take(_ATOM)[0]
        if atom.startswith(".") or atom.endswith(".") or ".." in atom:
            raise _NoAddress

    def _phrase(self) -> None:
        """Words; the first that cannot be read ends them. Comments follow plain words only."""
        any_word = plain_word = False
        while True:
            if plain_word:
                self._skip_comments()
            self._skip_space()
            if self.at == len(self.text):
                return
            try:
                plain_word = not self._is_encoded_word() or plain_word
            except _NoAddress:
                if not any_word:
                    raise
                return
            any_word = True

    def _is_encoded_word(self) -> bool:
        """Reads a word of a phrase."""
        if self._stands('"'):
            self._take(_QUOTED)
            return False
        return _is_encoded(self._take(_ATOM)[0])

    def _skip_comments(self) -> None:
        self._skip_space()
        while self._consume("("):
            self._comment()
            self._skip_space()

    def _comment(self) -> str:
        """The rest of a comment, which may hold others, behind its opening bracket."""
        depth = 1
        content = []
        while depth:
            if self.at == len(self.text):
                raise _NoAddress
            if self._stands("\\") and self.at + 1 < len(self.text):
                self.at += 1
            elif self._stands("("):
                depth += 1
            elif self._stands(")"):
                depth -= 1
            if depth:
                content.append(self.text[self.at])
            self.at += 1
        return "".join(content)


def _is_encoded(word: str) -> bool:
    """Whether a word is encoded by RFC 2047; no address holds one in an unknown character set."""
    encoded = _ENCODED_WORD.fullmatch(word)
    if encoded is None or not _decodes(encoded[2].lower(), encoded[3]):
        return False
    if encoded[1].lower() not in _CHARSETS:
        raise _NoAddress
    return True


def _decodes(encoding: str, text: str) -> bool:
    if encoding == "q":
        return _Q_TEXT.fullmatch(text) is not None
    try:
        base64.b64decode(text.replace("\r", "").replace("\n", ""), validate=True)
    except (binascii.Error, ValueError):
        return False
    return True
