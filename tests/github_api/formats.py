"""Checks of the formats in GitHub's description; validators leave most of them unchecked."""

from __future__ import annotations

import re
from datetime import datetime
from urllib.parse import urlsplit

from jsonschema import FormatChecker

DATE_TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:\d\d)", re.ASCII)
MAIL = re.compile(r"[^@\s]+@[^@\s]+")
NAME_WITH_OWNER = re.compile(r"[^/\s]+/[^/\s]+")

FORMATS = FormatChecker(formats=())


@FORMATS.checks("date-time", raises=ValueError)
@FORMATS.checks("timestamp", raises=ValueError)
def is_date_time(value: object) -> bool:
    """Whether a text is a time of RFC 3339, to the second, on a real day."""
    if not isinstance(value, str):
        return True
    return bool(DATE_TIME.fullmatch(value)) and bool(datetime.fromisoformat(value))


@FORMATS.checks("uri", raises=ValueError)
def is_uri(value: object) -> bool:
    """Whether a text has a scheme and a host, and neither blanks nor placeholders."""
    if not isinstance(value, str):
        return True
    parts = urlsplit(value)
    return bool(parts.scheme and parts.netloc) and not re.search(r"[\s{}]", value)


@FORMATS.checks("email")
def is_mail(value: object) -> bool:
    """Whether a text has something before and after an `@`."""
    return not isinstance(value, str) or bool(MAIL.fullmatch(value))


@FORMATS.checks("repo.nwo")
def is_name_with_owner(value: object) -> bool:
    """Whether a text is `owner/name`."""
    return not isinstance(value, str) or bool(NAME_WITH_OWNER.fullmatch(value))


@FORMATS.checks("int64")
def is_int64(value: object) -> bool:
    """Whether a number fits into 64 bits."""
    return not isinstance(value, int) or -(2**63) <= value < 2**63
