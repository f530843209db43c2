"""URLs as Go's net/url reads, resolves and writes them.

`$ref` and `$id` are compared in this normal form, and the formats `uri`, `uri-reference` and
`uri-template` hold where this reads a text. Inside, a text is bytes written as Latin-1
characters, because Go escapes and unescapes bytes.
"""

from __future__ import annotations

import ipaddress
import re
import string
from dataclasses import dataclass, replace

from kalypso_actions.gotemplate.quoting import quote
from kalypso_actions.gotemplate.text import from_bytes, to_bytes

_UNRESERVED = string.ascii_letters + string.digits + "-_.~"
_IN_PATH = frozenset(_UNRESERVED + "$&+,/:;=@")
_IN_HOST = frozenset(_UNRESERVED + "!\"$&'()*+,:;<=>[]")
_IN_USER = frozenset(_UNRESERVED + "$&+,;=")
_IN_FRAGMENT = frozenset(_UNRESERVED + "!$&()*+,/:;=?@")
_IN_ENCODED = frozenset("!$&'()*+,;=:@[]%")
_IN_USERINFO = frozenset(_UNRESERVED + "!$&'()*+,;=:%@")

_SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*):")
_CONTROL = re.compile("[\x00-\x1f\x7f]")
_ESCAPE = re.compile("%([0-9A-Fa-f]{2})?")
_PORT = re.compile(r"(?::[0-9]*)?")


class URLError(ValueError):
    """A text is no URL; the message is Go's."""


@dataclass(frozen=True, slots=True)
class URL:
    """A URL's parts, path and fragment unescaped."""

    scheme: str = ""
    opaque: str = ""
    user: str | None = None
    """User and password, escaped."""
    host: str = ""
    path: str = ""
    raw_path: str = ""
    query: str = ""
    force_query: bool = False
    fragment: str = ""
    raw_fragment: str = ""
    omit_host: bool = False

    @property
    def escaped_path(self) -> str:
        """The path as it was written where that is well-formed, else escaped."""
        if self.raw_path and _well_formed(self.raw_path, _IN_PATH):
            return self.raw_path
        return self.path if self.path == "*" else _escaped(self.path, _IN_PATH)

    @property
    def escaped_fragment(self) -> str:
        """The fragment as it was written where that is well-formed, else escaped."""
        if self.raw_fragment and _well_formed(self.raw_fragment, _IN_FRAGMENT):
            return self.raw_fragment
        return _escaped(self.fragment, _IN_FRAGMENT)

    @property
    def pointer(self) -> str:
        """The fragment as a text."""
        return _to_text(self.fragment)

    def __str__(self) -> str:
        text = f"{self.scheme}:" if self.scheme else ""
        if self.opaque:
            text += self.opaque
        else:
            text += self._authority()
            path = self.escaped_path
            if path and path[0] != "/" and self.host:
                text += "/"
            if not text and ":" in path.partition("/")[0]:
                text = "./"
            text += path
        if self.force_query or self.query:
            text += "?" + self.query
        if self.fragment:
            text += "#" + self.escaped_fragment
        return _to_text(text)

    def _authority(self) -> str:
        if not (self.scheme or self.host or self.user is not None):
            return ""
        if self.omit_host and not self.host and self.user is None:
            return ""
        text = "//" if self.host or self.path or self.user is not None else ""
        if self.user is not None:
            text += self.user + "@"
        return text + _escaped(self.host, _IN_HOST)

    def resolve(self, reference: URL) -> URL:
        """The reference, made absolute by this URL (RFC 3986, section 5.2)."""
        found = replace(reference, scheme=reference.scheme or self.scheme)
        if reference.scheme or reference.host or reference.user is not None:
            return _with_path(found, _resolved_path(reference.escaped_path, ""))
        if reference.opaque:
            return replace(found, user=None, host="", path="", raw_path="")
        if not reference.path and not reference.force_query and not reference.query:
            found = replace(found, query=self.query)
            if not reference.fragment:
                found = replace(found, fragment=self.fragment, raw_fragment=self.raw_fragment)
        if not reference.path and self.opaque:
            return replace(found, opaque=self.opaque, user=None, host="", path="", raw_path="")
        found = replace(found, host=self.host, user=self.user)
        return _with_path(found, _resolved_path(self.escaped_path, reference.escaped_path))


def parse_url(text: str) -> URL:
    """The URL that a text spells, absolute or relative; raises `URLError`."""
    whole = to_bytes(text).decode("latin-1")
    rest, _, fragment = whole.partition("#")
    shown = rest
    try:
        url = _parse_without_fragment(rest)
        shown = whole
        if fragment:
            plain = _unescaped(fragment)
            raw = "" if _escaped(plain, _IN_FRAGMENT) == fragment else fragment
            url = replace(url, fragment=plain, raw_fragment=raw)
    except URLError as error:
        raise URLError(f"parse {quote(_to_text(shown))}: {error}") from None
    return url


def _parse_without_fragment(text: str) -> URL:
    if _CONTROL.search(text):
        raise URLError("net/url: invalid control character in URL")
    if text == "*":
        return URL(path="*")
    if text.startswith(":"):
        raise URLError("missing protocol scheme")
    scheme = _SCHEME.match(text)
    rest = text[scheme.end() :] if scheme else text
    force_query = rest.endswith("?") and rest.count("?") == 1
    rest, _, query = rest.partition("?")
    url = URL(scheme=scheme[1].lower() if scheme else "", query=query, force_query=force_query)
    if not rest.startswith("/"):
        if url.scheme:
            return replace(url, opaque=rest)
        if ":" in rest.partition("/")[0]:
            raise URLError("first path segment in URL cannot contain colon")
    if rest.startswith("//") and (url.scheme or not rest.startswith("///")):
        authority, slash, path = rest[2:].partition("/")
        rest = slash + path
        user, host = _parse_authority(authority)
        url = replace(url, user=user, host=host)
    elif url.scheme and rest.startswith("/"):
        url = replace(url, omit_host=True)
    return _with_path(url, rest)


def _with_path(url: URL, escaped: str) -> URL:
    path = _unescaped(escaped)
    raw = "" if _escaped(path, _IN_PATH) == escaped else escaped
    return replace(url, path=path, raw_path=raw)


def _parse_authority(authority: str) -> tuple[str | None, str]:
    user, at, host = authority.rpartition("@")
    host = _parse_host(host)
    if not at:
        return None, host
    if not _IN_USERINFO.issuperset(user):
        raise URLError("net/url: invalid userinfo")
    name, colon, password = (_unescaped(part) for part in user.partition(":"))
    return _escaped(name, _IN_USER) + colon + _escaped(password, _IN_USER), host


def _parse_host(host: str) -> str:
    if host.rfind("[") > 0:
        raise URLError("invalid IP-literal")
    if host.startswith("["):
        return _parse_literal_host(host)
    if ":" in host:
        _check_port(host[host.rfind(":") :])
    return _unescaped_host(host)


def _check_port(port: str) -> None:
    if not _PORT.fullmatch(port):
        raise URLError(f"invalid port {quote(_to_text(port))} after host")


def _parse_literal_host(host: str) -> str:
    end = host.rfind("]")
    if end < 0:
        raise URLError("missing ']' in host")
    _check_port(host[end + 1 :])
    address, zone_mark, zone = host[1:end].partition("%25")
    address = _unescaped_host(address)
    if zone_mark:
        zone = "%" + _unescaped_host(zone, in_zone=True)
    if is_ip_address(address + zone) and ":" not in address:
        raise URLError("invalid IP-literal")
    if not is_ip_address(address) or zone == "%":
        raise URLError(f"invalid host: {quote(_to_text(address + zone))} is no IPv6 address")
    return f"[{address}{zone}]{host[end + 1 :]}"


def is_ip_address(text: str) -> bool:
    """Whether Go's net.ParseIP reads an address, which has no zone."""
    if "%" in text:
        return False
    try:
        ipaddress.ip_address(text)
    except ValueError:
        return False
    return True


def _unescaped_host(text: str, *, in_zone: bool = False) -> str:
    """A host unescaped: only bytes that are not ASCII may be escaped, in a zone any of a host's."""
    at = 0
    while at < len(text):
        character = text[at]
        if character == "%":
            code = text[at : at + 3]
            byte = _unescaped(code)
            allowed = byte == " " or byte in _IN_HOST if in_zone else byte >= "\x80"
            if byte != "%" and not allowed:
                raise URLError(f"invalid URL escape {quote(code)}")
            at += 3
            continue
        if character < "\x80" and character not in _IN_HOST:
            raise URLError(f"invalid character {quote(character)} in host name")
        at += 1
    return _unescaped(text)


def _unescaped(text: str) -> str:
    for escape in _ESCAPE.finditer(text):
        if escape[1] is None:
            raise URLError(f"invalid URL escape {quote(_to_text(text[escape.start() :][:3]))}")
    return _ESCAPE.sub(lambda escape: chr(int(escape[1], 16)), text)


def _escaped(text: str, allowed: frozenset[str]) -> str:
    if allowed.issuperset(text):
        return text
    return "".join(byte if byte in allowed else f"%{ord(byte):02X}" for byte in text)


def _well_formed(text: str, allowed: frozenset[str]) -> bool:
    return all(byte in allowed or byte in _IN_ENCODED for byte in text)


def _to_text(data: str) -> str:
    return from_bytes(data.encode("latin-1"))


def _resolved_path(base: str, reference: str) -> str:
    """The path without `.` and `..`, always beginning with a slash."""
    if not reference:
        full = base
    elif reference.startswith("/"):
        full = reference
    else:
        full = base[: base.rfind("/") + 1] + reference
    if not full:
        return ""
    kept: list[str] = []
    element = ""
    for element in full.split("/"):
        if element == "..":
            del kept[-1:]
            if kept == [""]:
                kept = []
        elif element == ".":
            kept = kept or [""]
        else:
            kept.append(element)
    if element in {".", ".."}:
        kept = [*(kept or [""]), ""]
    path = "/".join(kept)
    return path if path.startswith("/") else "/" + path
