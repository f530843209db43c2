"""GitHub's rate limits: requests per hour and token, and new content per minute and per hour.

https://docs.github.com/rest/using-the-rest-api/rate-limits-for-the-rest-api
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta

from kalypso_sandbox.store import Identity

HOUR = timedelta(hours=1)
MINUTE = timedelta(minutes=1)

Key = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Usage:
    """A token's used requests of a resource (`core`, `graphql`); the window ends at `reset`."""

    resource: str
    limit: int
    used: int
    reset: int
    exceeded: bool = False

    @property
    def headers(self) -> dict[str, str]:
        """Return the headers of every response."""
        return {
            "x-ratelimit-limit": str(self.limit),
            "x-ratelimit-remaining": str(self.limit - self.used),
            "x-ratelimit-used": str(self.used),
            "x-ratelimit-reset": str(self.reset),
            "x-ratelimit-resource": self.resource,
        }


@dataclass
class RateLimits:
    """Counts requests. Tests may set every limit.

    `per_hour` is the limit of each kind of identity; "" stands for requests without a token. All
    GITHUB_TOKENs of a repository share one count, and so do all tokens of an installation. Set
    `contents_per_minute` to 80 and `contents_per_hour` to 500 for GitHub's secondary limits.
    """

    per_hour: dict[str, int] = field(
        default_factory=lambda: {
            **dict.fromkeys(("installation", "app", "user"), 5000),
            "actions": 1000,
            "": 60,
        }
    )
    contents_per_minute: int | None = None
    contents_per_hour: int | None = None
    _windows: dict[Key, tuple[datetime, int]] = field(default_factory=dict)
    """The begin of the hour, and its requests, by resource and key of the identity."""
    _contents: dict[Key, deque[datetime]] = field(default_factory=dict)

    def count(self, identity: Identity, resource: str, now: datetime) -> Usage:
        """Count a request, unless the limit is reached."""
        usage = self.usage(identity, resource, now)
        if usage.used >= usage.limit:
            return replace(usage, exceeded=True)
        begins_at, used = self._windows[resource, *_key(identity)]
        self._windows[resource, *_key(identity)] = begins_at, used + 1
        return replace(usage, used=used + 1)

    def usage(self, identity: Identity, resource: str, now: datetime) -> Usage:
        """Return the usage, without counting a request."""
        limit = self.per_hour[identity.kind if identity.login else ""]
        begins_at, used = self._windows.get((resource, *_key(identity)), (now, 0))
        if now >= begins_at + HOUR:
            begins_at, used = now, 0
        self._windows[resource, *_key(identity)] = begins_at, used
        reset = int((begins_at + HOUR).timestamp())
        return Usage(resource, limit, min(used, limit), reset)

    def exceeds_content_limit(self, identity: Identity, now: datetime) -> bool:
        """Count a request that creates content; return whether it exceeds a limit."""
        limits = {MINUTE: self.contents_per_minute, HOUR: self.contents_per_hour}
        if set(limits.values()) == {None}:
            return False
        times = self._contents.setdefault(_key(identity), deque())
        while times and times[0] <= now - HOUR:
            times.popleft()
        for window, limit in limits.items():
            if limit is not None and sum(time > now - window for time in times) >= limit:
                return True
        times.append(now)
        return False


def _key(identity: Identity) -> Key:
    """Return the key that counts an identity's requests."""
    match identity.kind:
        case "actions":
            return ("actions", *map(str.lower, identity.repositories or ()))
        case "installation":
            return ("installation", str(identity.app_id), identity.owner.lower())
        case "app":
            return ("app", str(identity.app_id))
        case "user":
            return ("user", identity.login.lower())
