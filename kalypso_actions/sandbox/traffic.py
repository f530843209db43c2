"""The recorded requests and responses, so that tests can check who did what, and how often."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

MAX_EXCHANGES: Final = 20_000
MAX_SIZE: Final = 64 << 20
"""Bytes of recorded bodies. Older exchanges are dropped: a sandbox may run for days."""


@dataclass(frozen=True, slots=True)
class Exchange:
    """One request and its response.

    method, path         as sent; `path` includes the query string
    template             the endpoint's path in GitHub's description, `git`, `azure`, or ""
    query                the parsed query string
    request_headers      names in lower case, without credentials
    request_body         parsed JSON; None if the body is not JSON
    status               of the response; 0 if the connection ended without one
    response_headers     names in lower case
    response_body        parsed JSON; None if the body is not JSON
    identity             `login (kind)` of the token; "" without a valid one
    permissions          any one of these suffices
    fault                the kinds of the faults that applied to this request
    """

    method: str
    path: str
    template: str
    query: Mapping[str, str]
    request_headers: Mapping[str, str]
    request_body: Any
    status: int
    response_headers: Mapping[str, str]
    response_body: Any
    identity: str
    permissions: tuple[str, ...]
    fault: str


class Traffic:
    """The exchanges of a sandbox, oldest first. Safe to use from several threads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._exchanges: deque[tuple[Exchange, int]] = deque()
        self._size = 0

    def add(self, exchange: Exchange, size: int = 0) -> None:
        """Record an exchange; `size` counts the bytes of its bodies."""
        size = size if (exchange.request_body, exchange.response_body) != (None, None) else 0
        with self._lock:
            self._exchanges.append((exchange, size))
            self._size += size
            while len(self._exchanges) > MAX_EXCHANGES or self._size > MAX_SIZE:
                self._size -= self._exchanges.popleft()[1]

    def clear(self) -> None:
        """Drop all exchanges."""
        with self._lock:
            self._exchanges.clear()
            self._size = 0

    def __iter__(self) -> Iterator[Exchange]:
        with self._lock:
            return iter([exchange for exchange, _ in self._exchanges])

    def __len__(self) -> int:
        return len(self._exchanges)

    def of(self, method: str, template: str) -> list[Exchange]:
        """Return the exchanges of one endpoint."""
        return [one for one in self if (one.method, one.template) == (method, template)]
