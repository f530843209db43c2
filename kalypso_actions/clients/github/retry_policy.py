"""How long to wait before a request is sent again, if at all."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from typing import Final

from kalypso_actions.clients.github import rate_limits
from kalypso_actions.clients.github.messages import NoResponseError, Response

DELAYS: Final = (1.0, 2.0, 4.0, 8.0)
"""Seconds after each failure of the server or the network."""


class RetryPolicy:
    """What one request has been through; it ends when `longest` seconds would be exceeded."""

    def __init__(self, longest: float, now: Callable[[], datetime], *, repeatable: bool) -> None:
        self._left = longest
        self._now = now
        self._repeatable = repeatable
        self._delays = iter(DELAYS)
        self._limited = 0

    def after(self, answer: Response) -> float | None:
        """Seconds to wait after a refusal, None to give up."""
        if rate_limits.is_limited(answer):
            return self._wait(self._until_taken(answer))
        if answer.status < 500 or not self._repeatable:
            return None
        delay = next(self._delays, None)
        if delay is None:
            return None
        asked = rate_limits.retry_after(answer.headers, self._now())
        return self._wait(max(delay, (asked - self._now()).total_seconds() if asked else 0))

    def after_loss(self, error: NoResponseError) -> float | None:
        """Seconds to wait where no answer came, None to give up."""
        if error.permanent or (error.sent and not self._repeatable):
            return None
        delay = next(self._delays, None)
        return None if delay is None else self._wait(delay)

    def _until_taken(self, answer: Response) -> float:
        """Longer each time, whatever GitHub says: who asks too often is shut out."""
        factor = 2.0**self._limited
        self._limited += 1
        now = self._now()
        until = rate_limits.limited_until(answer.headers, now)
        if until is None:
            return rate_limits.SECONDARY_WAIT * factor
        return max((until - now).total_seconds(), factor)

    def _wait(self, seconds: float) -> float | None:
        if seconds > self._left:
            return None
        self._left -= seconds
        return seconds
