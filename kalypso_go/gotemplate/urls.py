"""URLs like Go's net/url, and IP addresses like its `netip.ParseAddr`, with Go's error messages."""

from __future__ import annotations

import re
import string
from dataclasses import dataclass, replace
from urllib.parse import quote_from_bytes, unquote_to_bytes

from kalypso_go.gotemplate.text import from_bytes, normal, quote, to_bytes

# The characters that need no escape in each part.
_UNRESERVED = string.ascii_letters + string.digits + "-_.~"
_IN_PATH = _UNRESERVED + "$&+,/:;=@"
_IN_HOST = _UNRESERVED + "!\"$&'()*+,:;<=>[]"
_IN_USER = _UNRESERVED + "$&+,;="
_IN_FRAGMENT = _UNRESERVED + "!$&()*+,/:;=?@"

_ALSO_AS_WRITTEN = "!$&'()*+,;=:@[]%"
"""Characters that a parsed path or fragment keeps unescaped."""

_SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*):")
_CONTROL = re.compile("[\x00-\x1f\x7f]")
_BAD_ESCAPE = re.compile("%(?![0-9A-Fa-f]{2})")
_PORT = re.compile(r"(?::[0-9]*)?")
_USERINFO = re.compile(rf"[{re.escape(_UNRESERVED)}!$&'()*+,;=:%@]*")


def _not_in_host(escapes: str) -> re.Pattern[str]:
    """Return a pattern for characters and escapes that a host cannot have, except `escapes`."""
    return re.compile(f"%(?!(?i:{escapes}))|(?![%{re.escape(_IN_HOST)}])[\0-\x7f]")


_NOT_IN_HOST = _not_in_host("25|[89a-f][0-9a-f]")
_NOT_IN_ZONE = _not_in_host("|".join(f"{ord(byte):02x}" for byte in _IN_HOST + " %"))


class URLError(ValueError):
    """The text is not a URL; the message is Go's."""


@dataclass(frozen=True, slots=True)
class URL:
    """The parts of a URL: path, host and fragment unescaped, the others as written."""

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
    def hostname(self) -> str:
        """The host without port and brackets."""
        host, colon, port = self.host.rpartition(":")
        if not colon or not _PORT.fullmatch(colon + port):
            host = self.host
        return host[1:-1] if host.startswith("[") and host.endswith("]") else host

    @property
    def escaped_path(self) -> str:
        """The path as written if that is well-formed, otherwise escaped."""
        if self.raw_path and _well_formed(self.raw_path, _IN_PATH):
            return self.raw_path
        return self.path if self.path == "*" else _escaped(self.path, _IN_PATH)

    @property
    def escaped_fragment(self) -> str:
        """The fragment as written if that is well-formed, otherwise escaped."""
        if self.raw_fragment and _well_formed(self.raw_fragment, _IN_FRAGMENT):
            return self.raw_fragment
        return _escaped(self.fragment, _IN_FRAGMENT)

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
                # Without `./`, a parser would take the first segment for a scheme.
                text = "./"
            text += path
        if self.force_query or self.query:
            text += "?" + self.query
        if self.fragment:
            text += "#" + self.escaped_fragment
        return text

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
        """Resolve a reference relative to this URL (RFC 3986, section 5.2)."""
        resolved = replace(reference, scheme=reference.scheme or self.scheme)
        if reference.scheme or reference.host or reference.user is not None:
            return _with_path(resolved, _resolved_path(reference.escaped_path, ""))
        if reference.opaque:
            return replace(resolved, user=None, host="", path="", raw_path="")
        if not reference.path and not reference.force_query and not reference.query:
            resolved = replace(resolved, query=self.query)
            if not reference.fragment:
                resolved = replace(resolved, fragment=self.fragment, raw_fragment=self.raw_fragment)
        if not reference.path and self.opaque:
            return replace(resolved, opaque=self.opaque, user=None, host="", path="", raw_path="")
        resolved = replace(resolved, host=self.host, user=self.user)
        return _with_path(resolved, _resolved_path(self.escaped_path, reference.escaped_path))


def parse_url(text: str) -> URL:
    """Parse an absolute or relative URL; raise `URLError` if the text is not one."""
    whole = normal(text)
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
        raise URLError(f"parse {quote(shown)}: {error}") from None
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
    if not _USERINFO.fullmatch(user):
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
    return _unescaped_host(host, _NOT_IN_HOST)


def _check_port(port: str) -> None:
    if not _PORT.fullmatch(port):
        raise URLError(f"invalid port {quote(port)} after host")


def _parse_literal_host(host: str) -> str:
    """Parse an IPv6 address in brackets, with an optional zone and an optional port."""
    end = host.rfind("]")
    if end < 0:
        raise URLError("missing ']' in host")
    port = host[end + 1 :]
    _check_port(port)
    name, zone_mark, zone = host[1:end].partition("%25")
    address = _unescaped_host(name, _NOT_IN_HOST)
    address += _unescaped_host(zone_mark + zone, _NOT_IN_ZONE)
    try:
        check_address(address)
    except AddressError as error:
        raise URLError(f"invalid host: {error}") from None
    if ":" not in address:
        raise URLError("invalid IP-literal")
    return f"[{address}]{port}"


def _unescaped_host(text: str, refused: re.Pattern[str]) -> str:
    invalid = refused.search(text)
    if invalid is None:
        return _unescaped(text)
    if invalid[0] == "%":
        raise _bad_escape(text, invalid.start())
    raise URLError(f"invalid character {quote(invalid[0])} in host name")


def _unescaped(text: str) -> str:
    if "%" not in text:
        return text
    bad = _BAD_ESCAPE.search(text)
    if bad is not None:
        raise _bad_escape(text, bad.start())
    return from_bytes(unquote_to_bytes(to_bytes(text)))


def _bad_escape(text: str, at: int) -> URLError:
    """Return the error for an escape; Go shows three bytes, which may split a character."""
    return URLError(f"invalid URL escape {quote(from_bytes(to_bytes(text[at:])[:3]))}")


def _escaped(text: str, allowed: str) -> str:
    return quote_from_bytes(to_bytes(text), safe=allowed)


def _well_formed(text: str, allowed: str) -> bool:
    return set(text) <= set(allowed + _ALSO_AS_WRITTEN)


def _resolved_path(base: str, reference: str) -> str:
    """Return the path without `.` and `..`, always with a leading slash."""
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


_HEX_DIGITS = re.compile("[0-9a-fA-F]*")
_ADDRESS_SIZE = 16
"""The bytes of an IPv6 address."""


class AddressError(ValueError):
    """The text is not an IP address; the message is Go's."""


def is_ip_address(text: str) -> bool:
    """Return whether Go's `net.ParseIP` accepts the text; it accepts no zones."""
    try:
        check_address(text)
    except AddressError:
        return False
    return "%" not in text


def check_address(text: str) -> None:
    """Raise `AddressError` unless the text is an IPv4 address or an IPv6 address (zone allowed)."""
    mark = re.search("[.:%]", text)
    if mark is None:
        raise _address_error(text, "unable to parse IP")
    if mark[0] == "%":
        raise _address_error(text, "missing IPv6 address")
    if mark[0] == ".":
        _check_ipv4(text, text)
        return
    address, percent, zone = text.partition("%")
    if percent and not zone:
        raise _address_error(text, "zone must be a non-empty string")
    _check_groups(text, address)


def _address_error(text: str, problem: str, at: str = "") -> AddressError:
    place = f" (at {quote(at)})" if at else ""
    return AddressError(f"ParseAddr({quote(text)}): {problem}{place}")


def _check_groups(text: str, rest: str) -> None:
    """Check the groups between colons; `rest` is the address without its zone."""
    shortened = rest.startswith("::")
    rest = rest[2:] if shortened else rest
    size = 0
    while rest and size < _ADDRESS_SIZE:
        digits = _hex_group(text, rest)
        after = rest[len(digits) :]
        if after.startswith("."):
            _check_embedded(text, rest, size, shortened)
            size += 4
            after = ""
        else:
            size += 2
        rest = _after_colon(text, after) if after else ""
        if rest.startswith(":"):
            if shortened:
                raise _address_error(text, "multiple :: in address", rest)
            shortened = True
            rest = rest[1:]
    _check_size(text, rest, size, shortened)


def _after_colon(text: str, rest: str) -> str:
    if rest[0] != ":":
        raise _address_error(text, "unexpected character, want colon", rest)
    if len(rest) == 1:
        raise _address_error(text, "colon must be followed by more characters", rest)
    return rest[1:]


def _check_size(text: str, rest: str, size: int, shortened: bool) -> None:
    if rest:
        raise _address_error(text, "trailing garbage after address", rest)
    if size < _ADDRESS_SIZE and not shortened:
        raise _address_error(text, "address string too short")
    if size >= _ADDRESS_SIZE and shortened:
        raise _address_error(text, "the :: must expand to at least one field of zeros")


def _hex_group(text: str, rest: str) -> str:
    """Return the hexadecimal digits at the start of `rest`."""
    digits = _HEX_DIGITS.match(rest)
    group = digits[0] if digits else ""
    if len(group) > 4:
        raise _address_error(text, "each group must have 4 or less digits", rest)
    if not group:
        raise _address_error(text, "each colon-separated field must have at least one digit", rest)
    return group


def _check_embedded(text: str, rest: str, size: int, shortened: bool) -> None:
    if not shortened and size != 12:
        raise _address_error(
            text, "embedded IPv4 address must replace the final 2 fields of the address", rest
        )
    if size + 4 > _ADDRESS_SIZE:
        raise _address_error(
            text, "too many hex fields to fit an embedded IPv4 at the end of the address", rest
        )
    _check_ipv4(text, rest)


def _check_ipv4(text: str, fields: str) -> None:
    """Check four decimal numbers separated by dots."""
    value, field, digits = 0, 0, ""
    for position, char in enumerate(fields):
        if char == ".":
            if not digits or position == len(fields) - 1:
                raise _address_error(
                    text, "IPv4 field must have at least one digit", fields[position:]
                )
            if field == 3:
                raise _address_error(text, "IPv4 address too long")
            field += 1
            value, digits = 0, ""
        elif char in "0123456789":
            if digits == "0":
                raise _address_error(text, "IPv4 field has octet with leading zero")
            digits += char
            value = int(digits)
            if value > 255:
                raise _address_error(text, "IPv4 field has value >255")
        else:
            raise _address_error(text, "unexpected character", fields[position:])
    if field < 3:
        raise _address_error(text, "IPv4 address too short")
