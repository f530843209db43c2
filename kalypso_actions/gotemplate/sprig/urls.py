"""URLs taken apart and put together, as Go's `net/url` does it."""

from __future__ import annotations

import re
import string
from dataclasses import dataclass, replace

from kalypso_actions.gotemplate.quoting import quote
from kalypso_actions.gotemplate.sprig import runes
from kalypso_actions.gotemplate.sprig.addresses import check_ipv6
from kalypso_actions.gotemplate.text import from_bytes

_UNRESERVED = string.ascii_letters + string.digits + "-._~"

PATH = _UNRESERVED + "$&+,/:;=@"
USER = _UNRESERVED + "$&+,;="
HOST = _UNRESERVED + "!\"$&'()*+,:;<=>[]"
FRAGMENT = _UNRESERVED + "!$&()*+,/:;=?@"
"""What each part of a URL holds without an escape."""

_SCHEME = re.compile("([a-zA-Z][a-zA-Z0-9+.-]*):")
_PERCENT = re.compile("%[0-9a-fA-F]{2}")
_PORT = re.compile("(?::[0-9]*)?")
_USER_INFO = re.compile(r"[A-Za-z0-9\-._:~!$&'()*+,;=%@]*")


class URLError(ValueError):
    """A text that is no URL, with Go's text."""


@dataclass(frozen=True, slots=True)
class URL:
    """The parts of a URL, with escapes only in `opaque` and `query`. Each character is a byte."""

    scheme: str = ""
    user: str | None = None
    password: str | None = None
    host: str = ""
    path: str = ""
    opaque: str = ""
    query: str = ""
    fragment: str = ""

    def user_info(self) -> str:
        """User and password with escapes, `""` where there is no user."""
        info = escape(self.user or "", USER)
        return info if self.password is None else f"{info}:{escape(self.password, USER)}"

    def hostname(self) -> str:
        """The host without port and brackets."""
        host, colon, port = self.host.rpartition(":")
        if not colon or not _PORT.fullmatch(colon + port):
            host = self.host
        return host[1:-1] if host.startswith("[") and host.endswith("]") else host

    def __str__(self) -> str:
        text = f"{self.scheme}:" if self.scheme else ""
        if self.opaque:
            text += self.opaque
        else:
            text += self._authority()
            path = "*" if self.path == "*" else escape(self.path, PATH)
            if path and not path.startswith("/") and self.host:
                text += "/"
            if not text and ":" in path.partition("/")[0]:
                # Otherwise it would read as a scheme.
                text = "./"
            text += path
        if self.query:
            text += f"?{self.query}"
        return f"{text}#{escape(self.fragment, FRAGMENT)}" if self.fragment else text

    def _authority(self) -> str:
        has_user = self.user is not None
        if not (self.host or has_user or (self.scheme and self.path)):
            return ""
        return f"//{self.user_info()}{'@' if has_user else ''}{escape(self.host, HOST)}"


def escape(text: str, allowed: str) -> str:
    """Escape what is not `allowed`."""
    return "".join([char if char in allowed else f"%{ord(char):02X}" for char in text])


def parse_url(text: str) -> URL:
    """Take a URL apart; raises `URLError`."""
    main, _, fragment = runes.bytes_as_runes(text).partition("#")
    try:
        url = _parse(main)
    except ValueError as error:
        raise URLError(f"parse {_quoted(main)}: {error}") from None
    try:
        return replace(url, fragment=_unescape(fragment))
    except ValueError as error:
        raise URLError(f"parse {quote(text)}: {error}") from None


def _quoted(text: str) -> str:
    return quote(from_bytes(text.encode("latin-1")))


def _parse(text: str) -> URL:
    if re.search("[\0-\x1f\x7f]", text):
        raise URLError("net/url: invalid control character in URL")
    if text == "*":
        return URL(path="*")
    if text.startswith(":"):
        raise URLError("missing protocol scheme")
    match = _SCHEME.match(text)
    scheme = match[1].lower() if match else ""
    rest, _, query = text[match.end() if match else 0 :].partition("?")
    if not rest.startswith("/"):
        if scheme:
            return URL(scheme, opaque=rest, query=query)
        if ":" in rest.partition("/")[0]:
            raise URLError("first path segment in URL cannot contain colon")
    url = URL(scheme, query=query)
    if rest.startswith("//") and (scheme or not rest.startswith("///")):
        authority, slash, path = rest[2:].partition("/")
        url = _with_authority(url, authority)
        rest = slash + path
    return replace(url, path=_unescape(rest))


def _with_authority(url: URL, authority: str) -> URL:
    info, at, host = authority.rpartition("@")
    url = replace(url, host=_parse_host(host))
    if not at:
        return url
    if not _USER_INFO.fullmatch(info):
        raise URLError("net/url: invalid userinfo")
    user, colon, password = info.partition(":")
    return replace(url, user=_unescape(user), password=_unescape(password) if colon else None)


def _parse_host(host: str) -> str:
    bracket = host.rfind("[")
    if bracket > 0:
        raise URLError("invalid IP-literal")
    if bracket == 0:
        return _parse_ip_literal(host)
    if ":" in host:
        _check_port(host[host.rfind(":") :])
    return _unescape_host(host)


def _parse_ip_literal(host: str) -> str:
    """An IPv6 address in brackets, perhaps with a zone, and perhaps a port behind."""
    end = host.rfind("]")
    if end < 0:
        raise URLError("missing ']' in host")
    port = host[end + 1 :]
    _check_port(port)
    name = host[1:end]
    zone = name.find("%25")
    if zone < 0:
        name = _unescape_host(name)
    else:
        name = _unescape_host(name[:zone]) + _unescape_host(name[zone:], zone=True)
    check_ipv6(from_bytes(name.encode("latin-1")))
    return f"[{name}]{port}"


def _check_port(port: str) -> None:
    if not _PORT.fullmatch(port):
        raise URLError(f"invalid port {_quoted(port)} after host")


def _unescape_host(text: str, *, zone: bool = False) -> str:
    """Unescape a host, where only bytes beyond ASCII may be escaped, or a zone."""
    for match in re.finditer("%.?.?|.", text):
        part = match[0]
        if part[0] == "%":
            byte = _unescaped(part)
            if part != "%25" and (byte not in HOST + " " if zone else byte < "\x80"):
                raise URLError(f"invalid URL escape {_quoted(part)}")
        elif part < "\x80" and part not in HOST:
            raise URLError(f"invalid character {_quoted(part)} in host name")
    return _unescape(text)


def _unescape(text: str) -> str:
    return re.sub("%.?.?", lambda match: _unescaped(match[0]), text)


def _unescaped(part: str) -> str:
    """The byte that an escape such as `%2F` stands for."""
    if not _PERCENT.fullmatch(part):
        raise URLError(f"invalid URL escape {_quoted(part)}")
    return chr(int(part[1:], 16))
