"""Faults of networks and servers, and interruptions, which tests and users can switch on.

A fault applies to the requests that it names: to `count` of them, after the first `skip`.

    status       an error of the server, 502 unless `status` is set
    too-many     429, with a header Retry-After if `retry_after` is set
    secondary    403 of a secondary rate limit, with the same header
    too-quickly  422 of the limit for new content
    lag          the endpoint does not know yet of the object that the request names
    slow         the response comes `seconds` later
    dropped      the connection ends, and the request has no effect
    lost         the request takes effect, and the connection ends without a response
    doubled      the request takes effect twice, and the client gets the second response
    truncated    the request takes effect, and the client gets half of the response, or nothing
                 if it has no body

For git pushes only:

    refused      a hook refuses every ref
    raced        a commit of another user lands on each branch just before the push
    cut          the connection ends in the middle of the push

Git sends an empty push before a large one; no fault applies to it. With `acts`, a request takes
effect even if `status`, `too-many` or `secondary` refuses it.

An interruption is an event right before or after a request, usually a write, while the client waits
for the response. With it, a test can merge a pull request in the middle of a run. The HTTP controls
do not offer interruptions.
"""

from __future__ import annotations

import fnmatch
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, ClassVar, Final, Literal

from pydantic import ConfigDict, TypeAdapter

FaultKind = Literal[
    "status",
    "too-many",
    "secondary",
    "too-quickly",
    "lag",
    "slow",
    "dropped",
    "lost",
    "doubled",
    "truncated",
    "refused",
    "raced",
    "cut",
]
PUSH_KINDS: Final = frozenset({"refused", "raced", "cut"})

WRITING: Final = frozenset({"POST", "PUT", "PATCH", "DELETE"})
NO_WRITES: Final = ("/graphql", "/git-upload-pack", "/access_tokens")
"""The ends of paths whose POST requests change nothing."""


@dataclass(frozen=True)
class Fault:
    """A fault of the requests to `path`, which is a glob or an endpoint's path.

    In a glob, `*` matches slashes too; paths of endpoints are those of GitHub's description.
    The matched path lacks `/api/v3` and the query string; it is `git` for git, `azure` for
    Azure, and `argocd` for Argo CD. A fault with the `count` 0 lasts until it is switched off.
    """

    __pydantic_config__: ClassVar[ConfigDict] = ConfigDict(extra="forbid")

    method: str
    path: str
    kind: FaultKind
    count: int = 1
    skip: int = 0
    seconds: float = 0.0
    status: int = 502
    retry_after: int | None = None
    acts: bool = False

    def applies_to(self, method: str, path: str, template: str) -> bool:
        """Return whether the fault applies to this request."""
        if self.kind in PUSH_KINDS and not (
            template == "git" and method == "POST" and path.endswith("/git-receive-pack")
        ):
            return False
        if self.method not in {"*", method}:
            return False
        return self.path == template or fnmatch.fnmatchcase(path, self.path)


FAULT: Final = TypeAdapter(Fault)
"""Parses a fault from JSON."""


class Faults:
    """The faults that are switched on. Safe to use from several threads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._met: dict[int, int] = {}
        self._faults: dict[int, Fault] = {}
        self._next = 0

    def add(self, fault: Fault) -> None:
        """Switch a fault on."""
        with self._lock:
            self._next += 1
            self._faults[self._next] = fault
            self._met[self._next] = 0

    def clear(self) -> None:
        """Switch all faults off."""
        with self._lock:
            self._faults.clear()
            self._met.clear()

    @contextmanager
    def on(self, *faults: Fault) -> Iterator[None]:
        """Switch these faults on for the block; then switch all faults off."""
        for fault in faults:
            self.add(fault)
        try:
            yield
        finally:
            self.clear()

    def __iter__(self) -> Iterator[Fault]:
        with self._lock:
            return iter(list(self._faults.values()))

    def take(self, method: str, path: str, template: str) -> tuple[Fault, ...]:
        """Return the faults of this request: each `slow`, and the first of the others."""
        taken: list[Fault] = []
        with self._lock:
            for key, fault in list(self._faults.items()):
                slow = fault.kind == "slow"
                if not fault.applies_to(method, path, template):
                    continue
                if not slow and any(earlier.kind != "slow" for earlier in taken):
                    continue
                self._met[key] += 1
                if self._met[key] > fault.skip:
                    taken.append(fault)
                if fault.count and self._met[key] == fault.skip + fault.count:
                    del self._faults[key], self._met[key]
        return tuple(taken)


@dataclass
class Interruption:
    """An event and its moment: `skip` requests to the glob `path` come first.

    Without a `method`, only writes count.
    """

    event: Callable[[], object]
    path: str
    skip: int
    after: bool
    method: str = ""
    happened: Future[Any] = field(default_factory=Future)

    def happen(self) -> None:
        """Call the event, and pass its result or exception to `happened`."""
        try:
            self.happened.set_result(self.event())
        except BaseException as error:  # noqa: BLE001 - the future raises it
            self.happened.set_exception(error)

    def fits(self, method: str, path: str, *, writes: bool) -> bool:
        """Return whether a request counts."""
        return (self.method == method if self.method else writes) and fnmatch.fnmatchcase(
            path, self.path
        )


class Interruptions:
    """The interruptions still to come. Safe to use from several threads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._waiting: list[Interruption] = []

    def add(
        self,
        event: Callable[[], object],
        *,
        path: str = "*",
        skip: int = 0,
        after: bool = False,
        method: str = "",
    ) -> Future[Any]:
        """Call `event` once, before (or `after`) a request to a path with a method ("": any write).

        `path` is a glob without the prefix of GitHub Enterprise Server. The event does not happen
        at the first `skip` such requests. A git push is one write; GraphQL and Azure queries are
        not writes. The event runs without the sandbox's lock, and may send requests itself. Returns
        a future of the event's result or exception.
        """
        interruption = Interruption(event, path, skip, after, method)
        with self._lock:
            self._waiting.append(interruption)
        return interruption.happened

    @property
    def pending(self) -> bool:
        """Return whether an event is still to come."""
        with self._lock:
            return bool(self._waiting)

    def clear(self) -> None:
        """Remove the interruptions that have not happened."""
        with self._lock:
            self._waiting.clear()

    def take(self, method: str, path: str, template: str) -> Sequence[Interruption]:
        """Count a request, and return its interruptions."""
        queries = path.endswith(NO_WRITES) or template in {"azure", "argocd"}
        writes = method in WRITING and not queries
        taken = []
        with self._lock:
            for interruption in [
                waiting for waiting in self._waiting if waiting.fits(method, path, writes=writes)
            ]:
                if interruption.skip:
                    interruption.skip -= 1
                else:
                    self._waiting.remove(interruption)
                    taken.append(interruption)
        return taken
