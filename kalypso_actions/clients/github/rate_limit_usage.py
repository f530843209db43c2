"""The used and the remaining part of GitHub's rate limit."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime

from kalypso_actions.clients.github.rate_limits import SECONDS
from kalypso_actions.model.counts import counted


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
