"""GitHub's rate limits: when an answer means "not now", and until when.

https://docs.github.com/rest/using-the-rest-api/rate-limits-for-the-rest-api: wait for
`retry-after`; otherwise, where nothing remains, until `x-ratelimit-reset`; otherwise a minute at
least, and longer each time.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime
from typing import Final

from kalypso_actions.clients.github.messages import Response

SECONDARY_WAIT: Final = 60.0
"""Seconds, where GitHub does not say how many."""

GRAPHQL_TYPES: Final = frozenset({"RATE_LIMITED", "RATE_LIMIT"})

SECONDS: Final = re.compile(r"[0-9]{1,10}")
"""A number of seconds, or the second since 1970, that is still a date."""

WORDS: Final = re.compile(r"rate limit|abuse detection|too many requests", re.IGNORECASE)


def is_limited(answer: Response) -> bool:
    """Whether GitHub did nothing but count: it will take the same request later.

    GitHub answers 403 or 429; its GraphQL also 200 with an error of its own type.
    """
    status, headers, body = answer.status, answer.headers, answer.body
    if status == 429:
        return True
    message = str(body.get("message") or "") if isinstance(body, dict) else ""
    if status == 403:
        nothing_left = not message and headers.get("x-ratelimit-remaining") == "0"
        return "retry-after" in headers or nothing_left or WORDS.search(message) is not None
    if status != 200 or not isinstance(body, dict) or not isinstance(body.get("errors"), list):
        return False
    errors = [error for error in body["errors"] if isinstance(error, dict)]
    return any(error.get("type") in GRAPHQL_TYPES for error in errors)


def limited_until(headers: Mapping[str, str], now: datetime) -> datetime | None:
    """When GitHub says that it takes requests again, if it does say."""
    after = retry_after(headers, now)
    if after is not None:
        return after
    reset = headers.get("x-ratelimit-reset", "")
    if headers.get("x-ratelimit-remaining") == "0" and SECONDS.fullmatch(reset):
        # The second itself still belongs to the old hour.
        return datetime.fromtimestamp(int(reset) + 1, UTC)
    return None


def retry_after(headers: Mapping[str, str], now: datetime) -> datetime | None:
    """The header `Retry-After`, which holds seconds or a date."""
    text = headers.get("retry-after", "").strip()
    if SECONDS.fullmatch(text):
        return now + timedelta(seconds=int(text))
    try:
        date = parsedate_to_datetime(text)
    except ValueError:
        return None
    return date if date.tzinfo else date.replace(tzinfo=UTC)
