"""GitHub's rate limits: whether a response is due to one, until when to wait, and what was used.

https://docs.github.com/rest/using-the-rest-api/rate-limits-for-the-rest-api: wait for
`retry-after`; otherwise, if nothing remains, until `x-ratelimit-reset`; otherwise at least a
minute, and longer each time.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime
from typing import Any, Final

from kalypso_actions.model.counts import counted

SECONDARY_WAIT: Final = 60.0
"""Seconds to wait if GitHub does not name a time."""

GRAPHQL_TYPES: Final = frozenset({"RATE_LIMITED", "RATE_LIMIT"})

TOO_QUICKLY: Final = "submitted too quickly"

SECONDS: Final = re.compile(r"[0-9]{1,10}")
"""Seconds from now or since 1970, few enough for a `datetime`."""

LIMIT_MESSAGE: Final = re.compile(r"rate limit|abuse detection|too many requests", re.IGNORECASE)


def is_limited(status: int, headers: Mapping[str, str], body: Any) -> bool:
    """Whether GitHub refused a request because of a rate limit; headers have lower-case names.

    GitHub answers 403 or 429; for new content also 422 (cloudflare/pint#699, cli/cli#4801); GraphQL
    also answers 200 with an error of its own type.
    """
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


def _is_limit(error: Any) -> bool:
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


@dataclass(slots=True)
class _Use:
    requests: int = 0
    limit: int | None = None
    remaining: int | None = None
    reset: int | None = None


class Quota:
    """Counts requests by account and resource (`core`, `graphql`). Thread-safe."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._uses: dict[tuple[str, str], _Use] = {}

    def count(self, account: str, path: str, headers: Mapping[str, str]) -> None:
        """Count a request by the headers of its response, which a server without limits omits."""
        default = "graphql" if path.endswith("/graphql") else "core"
        key = (account, headers.get("x-ratelimit-resource", default))
        with self._lock:
            use = self._uses.setdefault(key, _Use())
            use.requests += 1
            use.limit = _number(headers, "x-ratelimit-limit", use.limit)
            use.remaining = _number(headers, "x-ratelimit-remaining", use.remaining)
            use.reset = _number(headers, "x-ratelimit-reset", use.reset)

    @property
    def requests(self) -> int:
        """The number of all requests."""
        with self._lock:
            return sum(use.requests for use in self._uses.values())

    def lines(self) -> tuple[str, ...]:
        """Return the summary for the log, one line for each account and resource."""
        with self._lock:
            return tuple(_line(*key, use) for key, use in sorted(self._uses.items()))


def _line(account: str, resource: str, use: _Use) -> str:
    of = f" of {account}" if account else ""
    line = f"GitHub API ({resource}{of}): {counted(use.requests, 'request')}"
    if use.remaining is None or use.limit is None:
        return line
    line += f", {use.remaining} of {use.limit} left"
    return f"{line} until {datetime.fromtimestamp(use.reset, UTC):%H:%M} UTC" if use.reset else line


def _number(headers: Mapping[str, str], name: str, before: int | None) -> int | None:
    text = headers.get(name, "")
    return int(text) if SECONDS.fullmatch(text) else before
