"""How long to wait before a retry, and when to give up."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from typing import Final

from kalypso_actions.clients.github import rate_limits
from kalypso_actions.clients.github.messages import NoResponseError, Response

DELAYS: Final = (1.0, 2.0, 4.0, 8.0)
"""Seconds to wait after each failure of the server or the network."""


class RetryPolicy:
    """The retries of one request; they end before they take longer than `max_wait` seconds."""

    def __init__(self, max_wait: float, now: Callable[[], datetime], *, repeatable: bool) -> None:
        self._left = max_wait
        self._now = now
        self._repeatable = repeatable
        self._delays = iter(DELAYS)
        self._limited = 0

    def delay_after(self, response: Response) -> float | None:
        """Return the seconds to wait after an error response; None to give up."""
        if rate_limits.is_limited(response):
            return self._spend(self._rate_limit_delay(response))
        if response.status < 500 or not self._repeatable:
            return None
        delay = next(self._delays, None)
        if delay is None:
            return None
        now = self._now()
        until = rate_limits.retry_after(response.headers, now)
        return self._spend(max(delay, (until - now).total_seconds() if until else 0))

    def delay_after_no_response(self, error: NoResponseError) -> float | None:
        """Return the seconds to wait if no response came; None to give up."""
        if error.permanent or (error.sent and not self._repeatable):
            return None
        delay = next(self._delays, None)
        return None if delay is None else self._spend(delay)

    def _rate_limit_delay(self, response: Response) -> float:
        """Double the delay each time, since GitHub blocks clients that keep sending requests."""
        factor = 2.0**self._limited
        self._limited += 1
        now = self._now()
        until = rate_limits.limited_until(response.headers, now)
        if until is None:
            return rate_limits.SECONDARY_WAIT * factor
        return max((until - now).total_seconds(), factor)

    def _spend(self, seconds: float) -> float | None:
        if seconds > self._left:
            return None
        self._left -= seconds
        return seconds
