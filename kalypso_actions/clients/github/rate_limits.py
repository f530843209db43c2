"""GitHub's rate limits: whether a response is due to one, and until when to wait.

https://docs.github.com/rest/using-the-rest-api/rate-limits-for-the-rest-api: wait for
`retry-after`; otherwise, if nothing remains, until `x-ratelimit-reset`; otherwise at least a
minute, and longer each time.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime
from typing import Final

from kalypso_actions.clients.github.messages import Json, Response

SECONDARY_WAIT: Final = 60.0
"""Seconds to wait if GitHub does not name a time."""

GRAPHQL_TYPES: Final = frozenset({"RATE_LIMITED", "RATE_LIMIT"})

TOO_QUICKLY: Final = "submitted too quickly"

SECONDS: Final = re.compile(r"[0-9]{1,10}")
"""Seconds from now or since 1970, few enough for a `datetime`."""

LIMIT_MESSAGE: Final = re.compile(r"rate limit|abuse detection|too many requests", re.IGNORECASE)


def is_limited(response: Response) -> bool:
    """Whether GitHub refused a request because of a rate limit.

    GitHub answers 403 or 429; for new content also 422 (cloudflare/pint#699, cli/cli#4801); GraphQL
    also answers 200 with an error of its own type.
    """
    status, headers, body = response.status, response.headers, response.body
    if status == 429:
        return True
    message = str(body.get("message") or "") if isinstance(body, dict) else ""
    if status == 403:
        nothing_left = not message and headers.get("x-ratelimit-remaining") == "0"
        return "retry-after" in headers or nothing_left or LIMIT_MESSAGE.search(message) is not None
    if status not in {200, 422} or not isinstance(body, dict):
        return False
    errors = body.get("errors")
    return isinstance(errors, list) and any(map(_is_limit, errors))


def _is_limit(error: Json) -> bool:
    if not isinstance(error, dict):
        return False
    is_limit = error.get("type") in GRAPHQL_TYPES or error.get("code") == "abuse"
    return is_limit or TOO_QUICKLY in str(error.get("message") or "")


def limited_until(headers: Mapping[str, str], now: datetime) -> datetime | None:
    """Return the time when GitHub accepts requests again; None if GitHub does not name it."""
    until = retry_after(headers, now)
    if until is not None:
        return until
    reset = headers.get("x-ratelimit-reset", "")
    if headers.get("x-ratelimit-remaining") == "0" and SECONDS.fullmatch(reset):
        # The limit still holds during the second of the reset.
        return datetime.fromtimestamp(int(reset) + 1, UTC)
    return None


def retry_after(headers: Mapping[str, str], now: datetime) -> datetime | None:
    """Return the time in the header `Retry-After`, which holds seconds or a date."""
    text = headers.get("retry-after", "").strip()
    if SECONDS.fullmatch(text):
        return now + timedelta(seconds=int(text))
    try:
        date = parsedate_to_datetime(text)
    except ValueError:
        return None
    return date if date.tzinfo else date.replace(tzinfo=UTC)
