"""Faults of networks and servers, which tests and users can switch on.

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
"""

from __future__ import annotations

import fnmatch
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import ClassVar, Final, Literal

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


@dataclass(frozen=True)
class Fault:
    """A fault of the requests to `path`, which is a glob or an endpoint's path.

    In a glob, `*` matches slashes too; paths of endpoints are those of GitHub's description.
    The matched path lacks `/api/v3` and the query string; it is `git` for git, and `azure` for
    Azure. A fault with the `count` 0 lasts until it is switched off.
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
