"""The world as seen from one address, and how GitHub writes links, ids and times."""

from __future__ import annotations

import base64
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Self

from kalypso_actions.sandbox.endpoints import Call
from kalypso_actions.sandbox.store import Repository, Store


@dataclass(frozen=True, slots=True)
class View:
    """What payloads are built from."""

    store: Store
    api_url: str
    server_url: str

    @classmethod
    def of(cls, call: Call) -> Self:
        """Links begin as the one who asks knows the server."""
        return cls(call.store, call.api_url, call.server_url)

    @classmethod
    def of_events(cls, store: Store) -> Self:
        """Links of events begin with the server's own address."""
        return cls(store, store.api_url, store.server_url)

    def api(self, repository: Repository) -> str:
        """A repository's address in the API."""
        return f"{self.api_url}/repos/{repository.full_name}"

    def html(self, repository: Repository) -> str:
        """A repository's page."""
        return f"{self.server_url}/{repository.full_name}"


def node_id(kind: str, number: int | str) -> str:
    """An id of GraphQL, in the form that GitHub's older objects have."""
    return base64.b64encode(f"0{len(kind)}:{kind}{number}".encode()).decode()


def timestamp(time: datetime) -> str:
    """Times are in UTC, to the second."""
    return time.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def optional_timestamp(time: datetime | None) -> str | None:
    """The same for what may not have happened."""
    return timestamp(time) if time else None
