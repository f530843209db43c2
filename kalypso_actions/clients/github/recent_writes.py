"""Recent writes that not all of GitHub knows of yet.

GitHub is eventually consistent: for seconds, an endpoint may refuse what another has just accepted
or listed. A request is repeated only for an object that this run has just written (or has read
elsewhere: another run may have written it), and only after the refusals of such an object. They are
reported in googleapis/release-please#2782, peter-evans/create-pull-request#4321,
tanium/octobot#418, home-assistant/service-hub#394 and freed-project/freed#2023.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Final, TypeVar

from kalypso_actions.clients.github.errors import message_of
from kalypso_actions.clients.github.messages import ErrorResponseError, Json

T = TypeVar("T")

WINDOW: Final = timedelta(minutes=1)
"""How long a write counts as recent."""

DELAYS: Final = (1.0, 2.0, 4.0, 8.0)
"""Seconds before each new attempt."""

REFUSALS: Final = (
    (r"\w+ /(?:issues|pulls)/(?P<number>\d+)(?:/.*)?", 404, "Not Found"),
    (
        r"(?:POST|PATCH) /(?:issues|pulls)/(?P<number>\d+)(?:/.*)?",
        422,
        "Issue not found|Could not resolve to a node",
    ),
    (r"POST /pulls", 422, "head invalid"),
    (r"PUT /pulls/\d+/merge", 409, "Head branch was modified"),
    (r"POST /statuses/(?P<commit>\w+)", 422, "No commit found for SHA"),
)
"""Pattern of method and path, status, pattern of GitHub's message."""


class RecentWrites:
    """Branches, commits, issues and pull requests that exist for certain. Thread-safe."""

    def __init__(self, now: Callable[[], datetime], sleep: Callable[[float], None]) -> None:
        self._now = now
        self._sleep = sleep
        self._lock = threading.Lock()
        self._times: dict[tuple[str, str], datetime] = {}

    def add_push(self, repository: str, branch: str, commit: str) -> None:
        """Record that a branch is at a commit."""
        self._add(repository, f"branch {branch}", f"commit {commit}")

    def add_issue(self, repository: str, number: int) -> None:
        """Record that an issue or a pull request exists."""
        self._add(repository, f"number {number}")

    def has_commit(self, repository: str, commit: str) -> bool:
        """Whether a branch has got a commit recently."""
        return self._has(repository, f"commit {commit}")

    def await_visibility(
        self, repository: str, method: str, path: str, body: Json, send: Callable[[], T]
    ) -> T:
        """Return the result of `send`; repeat it while GitHub may not know of a recent write.

        `path` begins after `/repos/{owner}/{repo}`. Raises what `send` raises.
        """
        delays = iter(DELAYS)
        while True:
            try:
                return send()
            except ErrorResponseError as error:
                name = _refused_object(method, path, body, error)
                delay = next(delays, None) if name and self._has(repository, name) else None
                if delay is None:
                    raise
                self._sleep(delay)

    def _add(self, repository: str, *names: str) -> None:
        keys = [(repository.lower(), name) for name in names]
        with self._lock:
            self._times |= dict.fromkeys(keys, self._now())

    def _has(self, repository: str, name: str) -> bool:
        with self._lock:
            written_at = self._times.get((repository.lower(), name))
        return written_at is not None and self._now() - written_at < WINDOW


def _refused_object(method: str, path: str, body: Json, error: ErrorResponseError) -> str:
    """Return the object that GitHub may not know of yet; "" for every other refusal."""
    response = error.response
    for pattern, status, message in REFUSALS:
        request = re.fullmatch(pattern, f"{method} {path}")
        if (
            request is None
            or response.status != status
            or not re.search(message, message_of(response.body), re.IGNORECASE)
        ):
            continue
        names = request.groupdict()
        if "number" in names or "commit" in names:
            return " ".join(*names.items())
        return f"branch {body['head']}" if method == "POST" else f"commit {body['sha']}"
    return ""
