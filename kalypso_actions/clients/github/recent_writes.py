"""Recent writes that not every endpoint of GitHub knows yet.

GitHub is eventually consistent: for seconds, an endpoint may refuse an object that another has just
accepted or listed. Repeat a request only for an object that this run has just written (or has read
elsewhere, since another run may have written it), and only after refusals that such an object gets.
Reports of these: googleapis/release-please#2782, peter-evans/create-pull-request#4321,
tanium/octobot#418, home-assistant/service-hub#394, freed-project/freed#2023 and mmtk/mmtk-core#992.
"""

from __future__ import annotations

import re
import threading
from collections import defaultdict
from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Final, TypeVar

from kalypso_actions.clients.github.errors import GitHubError
from kalypso_actions.model.github import PullRequest

T = TypeVar("T")

WINDOW: Final = timedelta(minutes=1)
"""The time for which a write counts as recent."""

DELAYS: Final = (1.0, 2.0, 4.0, 8.0)
"""Seconds before each new attempt."""

REFUSALS: Final = (
    (r"\w+ /(?:issues|pulls)/(?P<number>\d+)(?:/.*)?", 404, "Not Found", "number {number}"),
    (
        r"(?:POST|PATCH) /(?:issues|pulls)/(?P<number>\d+)(?:/.*)?",
        422,
        "Issue not found|Could not resolve to a node",
        "number {number}",
    ),
    (r"POST /pulls", 422, "head invalid", "branch {head}"),
    (r"PUT /pulls/\d+/merge", 409, "Head branch was modified", "commit {sha}"),
    (r"POST /statuses/(?P<sha>\w+)", 422, "No commit found for SHA", "commit {sha}"),
    (r"POST /graphql", 422, "Could not resolve to a node", "node {pull}"),
    (r"POST /graphql", 422, "Head branch is out of date", "commit {head}"),
)
"""Pattern of method and path (after that of the repository), status, pattern of GitHub's message,
the object's name."""


class RecentWrites:
    """Branches, commits, issues and pull requests that certainly exist. Thread-safe."""

    def __init__(self, now: Callable[[], datetime], sleep: Callable[[float], None]) -> None:
        self._now = now
        self._sleep = sleep
        self._lock = threading.Lock()
        self._times: dict[tuple[str, str], datetime] = {}

    def add_push(self, repository: str, branch: str, commit: str) -> None:
        """Record that a branch is at a commit."""
        self._add(repository, f"branch {branch}", f"commit {commit}")

    def add_issue(self, repository: str, number: int) -> None:
        """Record that an issue exists."""
        self._add(repository, f"number {number}")

    def add_pull_request(self, repository: str, pull: PullRequest) -> None:
        """Record that a pull request exists."""
        self._add(repository, f"number {pull.number}", f"node {pull.node_id}")

    def add_label(self, repository: str, name: str) -> None:
        """Record that a repository has a label."""
        self._add(repository, f"label {name.lower()}")

    def has_label(self, repository: str, name: str) -> bool:
        """Whether a label was recently recorded for a repository."""
        return self._has(repository, f"label {name.lower()}")

    def has_commit(self, repository: str, commit: str) -> bool:
        """Whether a commit was recently recorded for a branch."""
        return self._has(repository, f"commit {commit}")

    def await_visibility(self, repository: str, send: Callable[[], T]) -> T:
        """Return the result of `send`; repeat it while GitHub may not know of a recent write.

        Raises what `send` raises.
        """
        delays = iter(DELAYS)
        while True:
            try:
                return send()
            except GitHubError as error:
                name = _refused_object(error)
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


def _refused_object(error: GitHubError) -> str:
    """Return the object that GitHub may not know of yet; "" for every other refusal."""
    method, path, content = error.request
    path = re.sub(r".*/repos/[^/]+/[^/]+", "", path, count=1)
    for pattern, status, message, name in REFUSALS:
        request = re.fullmatch(pattern, f"{method} {path}")
        is_meant = request and error.status == status
        if request and is_meant and re.search(message, error.reason, re.IGNORECASE):
            return name.format_map(
                defaultdict(
                    str, {**(content if isinstance(content, dict) else {}), **request.groupdict()}
                )
            )
    return ""
