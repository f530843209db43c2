"""Check IP addresses like Go's `netip.ParseAddr`, with its error messages."""

from __future__ import annotations

import re

from kalypso_go.gotemplate.quoting import quote

_HEX_DIGITS = re.compile("[0-9a-fA-F]*")
_SIZE = 16
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
        raise _error(text, "unable to parse IP")
    if mark[0] == "%":
        raise _error(text, "missing IPv6 address")
    if mark[0] == ".":
        _check_ipv4(text, text)
        return
    address, percent, zone = text.partition("%")
    if percent and not zone:
        raise _error(text, "zone must be a non-empty string")
    _check_groups(text, address)


def _error(text: str, problem: str, at: str = "") -> AddressError:
    place = f" (at {quote(at)})" if at else ""
    return AddressError(f"ParseAddr({quote(text)}): {problem}{place}")


def _check_groups(text: str, rest: str) -> None:
    """Check the groups between colons; `rest` is the address without its zone."""
    shortened = rest.startswith("::")
    rest = rest[2:] if shortened else rest
    size = 0
    while rest and size < _SIZE:
        digits = _group(text, rest)
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
                raise _error(text, "multiple :: in address", rest)
            shortened = True
            rest = rest[1:]
    _check_size(text, rest, size, shortened)


def _after_colon(text: str, rest: str) -> str:
    if rest[0] != ":":
        raise _error(text, "unexpected character, want colon", rest)
    if len(rest) == 1:
        raise _error(text, "colon must be followed by more characters", rest)
    return rest[1:]


def _check_size(text: str, rest: str, size: int, shortened: bool) -> None:
    if rest:
        raise _error(text, "trailing garbage after address", rest)
    if size < _SIZE and not shortened:
        raise _error(text, "address string too short")
    if size >= _SIZE and shortened:
        raise _error(text, "the :: must expand to at least one field of zeros")


def _group(text: str, rest: str) -> str:
    """Return the hexadecimal digits at the start of `rest`."""
    digits = _HEX_DIGITS.match(rest)
    group = digits[0] if digits else ""
    if len(group) > 4:
        raise _error(text, "each group must have 4 or less digits", rest)
    if not group:
        raise _error(text, "each colon-separated field must have at least one digit", rest)
    return group


def _check_embedded(text: str, rest: str, size: int, shortened: bool) -> None:
    if not shortened and size != 12:
        raise _error(
            text,
            "embedded IPv4 address must replace the final 2 fields of the address",
            rest,
        )
    if size + 4 > _SIZE:
        raise _error(
            text,
            "too many hex fields to fit an embedded IPv4 at the end of the address",
            rest,
        )
    _check_ipv4(text, rest)


def _check_ipv4(text: str, fields: str) -> None:
    """Check four decimal numbers separated by dots."""
    value, field, digits = 0, 0, ""
    for position, char in enumerate(fields):
        if char == ".":
            if not digits or position == len(fields) - 1:
                raise _error(text, "IPv4 field must have at least one digit", fields[position:])
            if field == 3:
                raise _error(text, "IPv4 address too long")
            field += 1
            value, digits = 0, ""
        elif char in "0123456789":
            if digits == "0":
                raise _error(text, "IPv4 field has octet with leading zero")
            digits += char
            value = int(digits)
            if value > 255:
                raise _error(text, "IPv4 field has value >255")
        else:
            raise _error(text, "unexpected character", fields[position:])
    if field < 3:
        raise _error(text, "IPv4 address too short")
