"""What has been asked and answered, so that tests can tell what was done, by whom, how often."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

MAX_EXCHANGES: Final = 20_000
MAX_SIZE: Final = 64 << 20
"""Bytes of bodies. Older exchanges are forgotten: a sandbox may serve for days."""


@dataclass(frozen=True, slots=True)
class Exchange:
    """One request and its answer.

    method, path         as sent; `path` with what is behind its question mark
    template             the endpoint's path in GitHub's description, `git`, `azure`, or ""
    query                what is behind the question mark
    request_headers      names in lower case, credentials left out
    request_body         the JSON of the request; None where it is none
    status               of the answer; 0 where the connection ended without one
    response_headers     names in lower case
    response_body        the JSON of the answer; None where it is none
    identity             `login (kind)` of the token; "" without a valid one
    permissions          any one of these would have been enough
    fault                the kinds of the faults that were switched on for this request
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
        """Note an exchange; `size` is that of its bodies, where they are kept."""
        size = size if (exchange.request_body, exchange.response_body) != (None, None) else 0
        with self._lock:
            self._exchanges.append((exchange, size))
            self._size += size
            while len(self._exchanges) > MAX_EXCHANGES or self._size > MAX_SIZE:
                self._size -= self._exchanges.popleft()[1]

    def clear(self) -> None:
        """Forget all."""
        with self._lock:
            self._exchanges.clear()
            self._size = 0

    def __iter__(self) -> Iterator[Exchange]:
        with self._lock:
            return iter([exchange for exchange, _ in self._exchanges])

    def __len__(self) -> int:
        return len(self._exchanges)

    def of(self, method: str, template: str) -> list[Exchange]:
        """Those of one endpoint."""
        return [one for one in self if (one.method, one.template) == (method, template)]
