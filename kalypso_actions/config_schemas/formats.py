"""The values of `format` that upstream's validator checks; it ignores all others."""

from __future__ import annotations

import base64
import binascii
import re
from calendar import monthrange
from collections.abc import Callable

from kalypso_actions.config_schemas.schema import is_regex
from kalypso_go.gotemplate.urls import URL, URLError, is_ip_address, parse_url

_DATE = re.compile(r"([0-9]{4})-([0-9]{2})-([0-9]{2})")
_TIME = re.compile(r"([0-9]{1,2}):([0-9]{2}):([0-9]{2})(?:[.,][0-9]+)?")
_ZONE = re.compile(r"Z|[-+]([0-9]{2}):([0-9]{2})")
_LABEL = r"[a-zA-Z0-9](?:[a-zA-Z0-9-]{0,61}[a-zA-Z0-9])?"
_HOSTNAME = re.compile(rf"{_LABEL}(?:\.{_LABEL})*")
_UUID = re.compile(r"[a-f0-9]{8}-[a-f0-9]{4}-[a-f0-9]{4}-[a-f0-9]{4}-[a-f0-9]{12}")
_POINTER = re.compile(r"(?:/(?:[^~/]|~0|~1)*)*")
_RELATIVE_POINTER = re.compile(r"(?:0|[1-9][0-9]*)(?:#|(?:/(?:[^~/]|~0|~1)*)*)")


def _is_date(text: str) -> bool:
    """Check as Go's time.Parse does with "2006-01-02"."""
    date = _DATE.fullmatch(text)
    if date is None:
        return False
    year, month, day = (int(part) for part in date.groups())
    # Year 0 is a leap year like 2000; Python's calendar begins with 1.
    return 1 <= month <= 12 and 1 <= day <= monthrange(year or 2000, month)[1]


def _is_time(text: str) -> bool:
    """Check as Go's time.Parse does with "15:04:05" and an optional "Z07:00"."""
    zone = _after_time(text)
    return zone is not None and (zone == "" or _is_zone(zone))


def _after_time(text: str) -> str | None:
    """Return the text after hours, minutes, seconds and fraction; None if they are wrong."""
    time = _TIME.match(text)
    if time is None or int(time[1]) > 23 or int(time[2]) > 59 or int(time[3]) > 59:
        return None
    return text[time.end() :]


def _is_zone(text: str) -> bool:
    """Check for `Z` or an offset; Go allows 24 hours and 60 minutes in it."""
    zone = _ZONE.fullmatch(text)
    if zone is None:
        return False
    return zone[1] is None or (int(zone[1]) <= 24 and int(zone[2]) <= 60)


def _is_date_time(text: str) -> bool:
    """Check for RFC 3339, which needs a zone; upstream also accepts only a date or only a time."""
    if _is_date(text) or _is_time(text):
        return True
    date, _, time = text.partition("T")
    return _is_date(date) and _is_zone(_after_time(time) or "")


def _is_hostname(text: str) -> bool:
    return len(text) < 256 and _HOSTNAME.fullmatch(text) is not None


def _parse(text: str) -> URL | None:
    if "\\" in text:
        return None
    try:
        return parse_url(text)
    except URLError:
        return None


def _is_uri(text: str) -> bool:
    url = _parse(text)
    return url is not None and url.scheme != ""


def _is_uri_reference(text: str) -> bool:
    return _parse(text) is not None


def _is_uri_template(text: str) -> bool:
    """Check for a URI reference whose path leaves no brace open."""
    url = _parse(text)
    if url is None:
        return False
    opening = url.path.find("{")
    while opening >= 0:
        closing = url.path.find("}", opening)
        if closing < 0:
            return False
        opening = url.path.find("{", closing)
    return True


# Mail addresses as Go's net/mail recognises them, after RFC 5322:
#
#     address  =  addr-spec [comment]  |  [phrase] "<" addr-spec ">"  |  a group of one address
#     addr-spec  =  (dot-atom | quoted-string) "@" (dot-atom | domain-literal)
#
# Like Go, they may have dots anywhere in a display name, and letters of any script.

_SPACE = re.compile(r"[ \t]*")
_ATOM = re.compile('[^\x00-\x20\x7f()<>\\[\\]:;@\\\\,"]+')
_QUOTED = re.compile(r'"((?:[^\0-\x08\n-\x1f"\\\x7f]|\\[^\0-\x08\n-\x1f\x7f])*)"')
_LITERAL = re.compile("\\[([^\x00-\x20\x7f\\[\\]\\\\]*)\\]")
_ENCODED_WORD = re.compile(r"=\?([^?]+)\?([bBqQ])\?([^?]*)\?=")
_Q_TEXT = re.compile(r"(?:[\t\r\n\x20-\x3c\x3e-\x7e]|=[0-9A-Fa-f]{2})*")
_CHARSETS = frozenset({"utf-8", "iso-8859-1", "us-ascii"})


class _SyntaxError(Exception):
    """The text is not a mail address."""


def is_mail_address(text: str) -> bool:
    """Return whether `mail.ParseAddress` accepts the text."""
    try:
        return _AddressParser(text).is_single_address()
    except _SyntaxError:
        return False


class _AddressParser:
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
            raise _SyntaxError
        self.at = match.end()
        return match

    def _peek(self) -> str:
        return self.text[self.at : self.at + 1]

    def _accept(self, character: str) -> bool:
        if self._peek() != character:
            return False
        self.at += 1
        return True

    def _expect(self, character: str) -> None:
        if not self._accept(character):
            raise _SyntaxError

    def _skip_space(self) -> None:
        self._take(_SPACE)

    def _address(self, *, in_group: bool) -> int:
        """Read one address or, outside of a group, a group; return the number of addresses."""
        self._skip_space()
        if self._try_addr_spec():
            self._skip_space()
            if self._accept("("):
                for word in re.split("[ \t]+", self._comment()):
                    _is_encoded(word)
            return 1
        if self._peek() != "<":
            self._phrase()
        self._skip_space()
        if not in_group and self._accept(":"):
            return self._group()
        self._expect("<")
        self._addr_spec()
        self._expect(">")
        return 1

    def _group(self) -> int:
        self._skip_space()
        if self._accept(";"):
            self._skip_comments()
            return 0
        count = 0
        while True:
            count += self._address(in_group=True)
            self._skip_comments()
            if self._accept(";"):
                self._skip_comments()
                return count
            self._expect(",")

    def _try_addr_spec(self) -> bool:
        start = self.at
        try:
            self._addr_spec()
        except _SyntaxError:
            self.at = start
            return False
        return True

    def _addr_spec(self) -> None:
        self._skip_space()
        if self._peek() == '"':
            if not self._take(_QUOTED)[1]:
                raise _SyntaxError
        else:
            self._dot_atom()
        self._expect("@")
        self._skip_space()
        if self._peek() != "[":
            self._dot_atom()
        elif not is_ip_address(self._take(_LITERAL)[1]):
            raise _SyntaxError

    def _dot_atom(self) -> None:
        atom = self._take(_ATOM)[0]
        if atom.startswith(".") or atom.endswith(".") or ".." in atom:
            raise _SyntaxError

    def _phrase(self) -> None:
        """Read words up to the first invalid one; skip comments after plain words."""
        any_word = plain_word = False
        while True:
            if plain_word:
                self._skip_comments()
            self._skip_space()
            if self.at == len(self.text):
                return
            try:
                plain_word = not self._word() or plain_word
            except _SyntaxError:
                if not any_word:
                    raise
                return
            any_word = True

    def _word(self) -> bool:
        """Read a word of a phrase; return whether it is encoded."""
        if self._peek() == '"':
            self._take(_QUOTED)
            return False
        return _is_encoded(self._take(_ATOM)[0])

    def _skip_comments(self) -> None:
        self._skip_space()
        while self._accept("("):
            self._comment()
            self._skip_space()

    def _comment(self) -> str:
        """Read the rest of a comment, after its opening bracket; return its content."""
        depth = 1
        content = []
        while depth:
            if self.at == len(self.text):
                raise _SyntaxError
            if self._peek() == "\\" and self.at + 1 < len(self.text):
                self.at += 1
            elif self._peek() == "(":
                depth += 1
            elif self._peek() == ")":
                depth -= 1
            if depth:
                content.append(self._peek())
            self.at += 1
        return "".join(content)


def _is_encoded(word: str) -> bool:
    """Return whether RFC 2047 encodes the word; raise `_SyntaxError` for unknown character sets."""
    encoded = _ENCODED_WORD.fullmatch(word)
    if encoded is None or not _decodes(encoded[2].lower(), encoded[3]):
        return False
    if encoded[1].lower() not in _CHARSETS:
        raise _SyntaxError
    return True


def _decodes(encoding: str, text: str) -> bool:
    if encoding == "q":
        return _Q_TEXT.fullmatch(text) is not None
    try:
        base64.b64decode(text.replace("\r", "").replace("\n", ""), validate=True)
    except (binascii.Error, ValueError):
        return False
    return True


CHECKS: dict[str, Callable[[str], bool]] = {
    "date": _is_date,
    "time": _is_time,
    "date-time": _is_date_time,
    "hostname": _is_hostname,
    "email": is_mail_address,
    "idn-email": is_mail_address,
    "ipv4": lambda text: "." in text and is_ip_address(text),
    "ipv6": lambda text: ":" in text and is_ip_address(text),
    "uri": _is_uri,
    "uri-reference": _is_uri_reference,
    "iri": _is_uri,
    "iri-reference": _is_uri_reference,
    "uri-template": _is_uri_template,
    "uuid": lambda text: _UUID.fullmatch(text) is not None,
    "regex": is_regex,
    "json-pointer": lambda text: _POINTER.fullmatch(text) is not None,
    "relative-json-pointer": lambda text: _RELATIVE_POINTER.fullmatch(text) is not None,
}
