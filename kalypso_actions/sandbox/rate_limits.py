"""GitHub's rate limits: requests an hour by token, and new contents a minute.

https://docs.github.com/rest/using-the-rest-api/rate-limits-for-the-rest-api
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta

from kalypso_actions.sandbox.store import Identity

HOUR = timedelta(hours=1)
MINUTE = timedelta(minutes=1)

Key = tuple[str, ...]


@dataclass
class RateLimitWindow:
    """The requests of one hour."""

    begins: datetime
    used: int = 0


@dataclass(frozen=True, slots=True)
class Usage:
    """What a token has used of a resource (`core`, `graphql`); `reset` is when it starts anew."""

    resource: str
    limit: int
    used: int
    reset: int
    exceeded: bool = False

    @property
    def headers(self) -> dict[str, str]:
        """As every answer tells it."""
        return {
            "x-ratelimit-limit": str(self.limit),
            "x-ratelimit-remaining": str(self.limit - self.used),
            "x-ratelimit-used": str(self.used),
            "x-ratelimit-reset": str(self.reset),
            "x-ratelimit-resource": self.resource,
        }


@dataclass
class RateLimits:
    """Counts requests; all of it may be set.

    `per_hour` is by the kind of the identity, "" for who comes without a token. A GITHUB_TOKEN's
    hour is shared by the jobs of its repository, an installation's by all its tokens.
    `contents_per_minute` is GitHub's 80 where the secondary limit is wanted.
    """

    per_hour: dict[str, int] = field(
        default_factory=lambda: {
            "actions": 1000,
            "installation": 5000,
            "app": 5000,
            "user": 5000,
            "": 60,
        }
    )
    contents_per_minute: int | None = None
    _windows: dict[Key, RateLimitWindow] = field(default_factory=dict)
    _contents: dict[Key, deque[datetime]] = field(default_factory=dict)

    def count(self, identity: Identity, resource: str, now: datetime) -> Usage:
        """One more request; none is counted beyond the limit."""
        limit, window = self._window(identity, resource, now)
        if window.used >= limit:
            return replace(self.usage(identity, resource, now), exceeded=True)
        window.used += 1
        return self.usage(identity, resource, now)

    def usage(self, identity: Identity, resource: str, now: datetime) -> Usage:
        """What was used, which asking for it adds nothing to."""
        limit, window = self._window(identity, resource, now)
        reset = int((window.begins + HOUR).timestamp())
        return Usage(resource, limit, min(window.used, limit), reset)

    def _window(
        self, identity: Identity, resource: str, now: datetime
    ) -> tuple[int, RateLimitWindow]:
        limit = self.per_hour[identity.kind if identity.login else ""]
        window = self._windows.get((resource, *_key(identity)))
        if window is None or now >= window.begins + HOUR:
            window = self._windows[resource, *_key(identity)] = RateLimitWindow(now)
        return limit, window

    def exceeds_content_limit(self, identity: Identity, now: datetime) -> bool:
        """One more request that makes something others see; whether those are too many."""
        if self.contents_per_minute is None:
            return False
        times = self._contents.setdefault(_key(identity), deque())
        while times and times[0] <= now - MINUTE:
            times.popleft()
        if len(times) >= self.contents_per_minute:
            return True
        times.append(now)
        return False


def _key(identity: Identity) -> Key:
    """Whose requests are counted together."""
    match identity.kind:
        case "actions":
            return ("actions", *map(str.lower, identity.repositories or ()))
        case "installation":
            return ("installation", str(identity.app_id), identity.owner.lower())
        case "app":
            return ("app", str(identity.app_id))
        case "user":
            return ("user", identity.login.lower())
