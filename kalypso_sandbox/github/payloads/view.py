"""The context of payloads, and GitHub's format of links, ids and times."""

from __future__ import annotations

import base64
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Self

from kalypso_sandbox.github.endpoints import Call
from kalypso_sandbox.store import Identity, PullRequest, Repository, Store


@dataclass(frozen=True, slots=True)
class View:
    """The store, the prefixes of links, and the identity that reads (None for events)."""

    store: Store
    api_url: str
    server_url: str
    identity: Identity | None = None

    @classmethod
    def of(cls, call: Call) -> Self:
        """Begin links with the URL that the client used."""
        return cls(call.store, call.api_url, call.server_url, call.identity)

    @classmethod
    def of_events(cls, store: Store) -> Self:
        """Begin links with the server's own URL, for events."""
        return cls(store, store.api_url, store.server_url)

    def api(self, repository: Repository) -> str:
        """Return a repository's URL in the API."""
        return f"{self.api_url}/repos/{repository.full_name}"

    def head(self, pull_request: PullRequest) -> str:
        """Return a pull request's head commit, which lags behind a push."""
        moved_at, identity = pull_request.head_moved_at, self.identity
        lags = identity is not None and self.store.lags(moved_at, identity)
        return pull_request.former_head if lags else pull_request.head_commit

    def html(self, repository: Repository) -> str:
        """Return the URL of a repository's page."""
        return f"{self.server_url}/{repository.full_name}"


def node_id(kind: str, number: int | str) -> str:
    """Return a GraphQL id in GitHub's older format."""
    return base64.b64encode(f"0{len(kind)}:{kind}{number}".encode()).decode()


def timestamp(time: datetime) -> str:
    """Format a time in UTC, to the second."""
    return time.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def optional_timestamp(time: datetime | None) -> str | None:
    """Format a time, or return None."""
    return timestamp(time) if time else None
