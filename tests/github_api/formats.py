"""Checks of the formats in GitHub's description; validators leave most of them unchecked."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import datetime
from typing import Final
from urllib.parse import urlsplit

DATE_TIME: Final = re.compile(
    r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:\d\d)", re.ASCII
)
MAIL: Final = re.compile(r"[^@\s]+@[^@\s]+")
NAME_WITH_OWNER: Final = re.compile(r"[^/\s]+/[^/\s]+")


def is_date_time(value: str) -> bool:
    """Tell whether a text is a time of RFC 3339, to the second, on a real day."""
    try:
        return bool(DATE_TIME.fullmatch(value)) and bool(datetime.fromisoformat(value))
    except ValueError:
        return False


def is_uri(value: str) -> bool:
    """Tell whether a text has a scheme and a host, and neither blanks nor placeholders."""
    try:
        parts = urlsplit(value)
    except ValueError:
        return False
    return bool(parts.scheme and parts.netloc) and not re.search(r"[\s{}]", value)


FORMATS: Final[dict[str, Callable[[str], bool]]] = {
    "date-time": is_date_time,
    "timestamp": is_date_time,
    "uri": is_uri,
    "email": lambda value: bool(MAIL.fullmatch(value)),
    "repo.nwo": lambda value: bool(NAME_WITH_OWNER.fullmatch(value)),
}
