"""The values of `format` that upstream's validator checks; it ignores all others."""

from __future__ import annotations

import re
from calendar import monthrange
from collections.abc import Callable

from kalypso_actions.config_schemas.mail_addresses import is_mail_address
from kalypso_actions.config_schemas.patterns import is_regex
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
