"""The state that the parts of a running sandbox share, and the recorded traffic."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final

from kalypso_actions.clients.process import Programs
from kalypso_sandbox import json_http
from kalypso_sandbox.faults import Faults, Interruptions
from kalypso_sandbox.github.rate_limits import RateLimits
from kalypso_sandbox.store import Store

if TYPE_CHECKING:
    from kalypso_sandbox.clusters import Clusters
    from kalypso_sandbox.workflow_runner.background import BackgroundRunner

MAX_EXCHANGES: Final = 20_000
MAX_SIZE: Final = 64 << 20
"""The maximum size of recorded bodies. Drop older exchanges: a sandbox may run for days."""


@dataclass(frozen=True)
class Exchange:
    """One request and its response.

    method, path         as sent; `path` includes the query string
    template             the endpoint's path in GitHub's description, `git`, `azure`, or ""
    query                the parsed query string
    request_headers      names in lower case, without credentials
    request_content      the body if it begins as JSON does, else empty
    status               that of the response; 0 if the connection ended without one
    response_headers     names in lower case
    response_content     the same for the response, with its token hidden
    identity             `login (kind)` of the token; "" without a valid one
    permissions          those of the endpoint; any one of them suffices
    fault                the kinds of the faults that applied to this request
    """

    method: str
    path: str
    template: str
    query: Mapping[str, str]
    request_headers: Mapping[str, str]
    request_content: bytes
    status: int
    response_headers: Mapping[str, str]
    response_content: bytes
    identity: str
    permissions: tuple[str, ...]
    fault: str

    @cached_property
    def request_body(self) -> Any:
        """Return the request's JSON; None if its body is not JSON."""
        return _parsed(self.request_content)

    @cached_property
    def response_body(self) -> Any:
        """Return the response's JSON; None if its body is not JSON."""
        return _parsed(self.response_content)

    @property
    def size(self) -> int:
        """Return the bytes of both bodies."""
        return len(self.request_content) + len(self.response_content)


def _parsed(content: bytes) -> Any:
    try:
        return json_http.parse(content)
    except ValueError:
        return None


class Traffic:
    """The exchanges of a sandbox, oldest first. Safe to use from several threads.

    `max_size` is the size of the recorded bodies, in bytes.
    """

    def __init__(self) -> None:
        self.max_size: int = MAX_SIZE
        self._lock = threading.Lock()
        self._exchanges: deque[Exchange] = deque()
        self._size = 0

    def add(self, exchange: Exchange) -> None:
        """Record an exchange."""
        with self._lock:
            self._exchanges.append(exchange)
            self._size += exchange.size
            while len(self._exchanges) > MAX_EXCHANGES or self._size > self.max_size:
                self._size -= self._exchanges.popleft().size

    def clear(self) -> None:
        """Drop all exchanges."""
        with self._lock:
            self._exchanges.clear()
            self._size = 0

    def __iter__(self) -> Iterator[Exchange]:
        with self._lock:
            return iter(list(self._exchanges))

    def __len__(self) -> int:
        return len(self._exchanges)

    def of(self, method: str, template: str) -> list[Exchange]:
        """Return the exchanges of one endpoint."""
        return [
            exchange
            for exchange in self
            if (exchange.method, exchange.template) == (method, template)
        ]


MAX_FILE_SIZE: Final = 100 << 20
"""GitHub's limit for one file."""


@dataclass
class State:
    """The store and its lock, and everything that tests and users can change about requests.

    Hold the lock to read or change the store. `pause` waits some seconds, or until the sandbox
    stops. `before_endpoint` is called before each endpoint of GitHub's API, with the lock. `speed`
    is that of the clock, whose time is `store.now`. `runner` is None if nothing runs workflows.
    """

    store: Store
    programs: Programs
    pause: Callable[[float], object]
    lock: threading.RLock = field(default_factory=threading.RLock)
    faults: Faults = field(default_factory=Faults)
    interruptions: Interruptions = field(default_factory=Interruptions)
    traffic: Traffic = field(default_factory=Traffic)
    rate_limits: RateLimits = field(default_factory=RateLimits)
    max_file_size: int = MAX_FILE_SIZE
    before_endpoint: Callable[[], object] = lambda: None
    clusters: Clusters = field(init=False)
    speed: float = 1.0
    runner: BackgroundRunner | None = None
