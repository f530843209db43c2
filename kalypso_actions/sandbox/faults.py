"""Faults that can be switched on: what networks and servers do to those who write once.

A fault is met by the requests that it names, `count` of them after the first `skip`:

    status       an error of the server, 502 unless `status` says otherwise
    too-many     429, with a header Retry-After where `retry_after` is given
    secondary    403 of a secondary rate limit, likewise
    slow         the answer comes `seconds` later
    dropped      the connection ends before anything is done
    lost         it is done, and then the connection ends without an answer
    doubled      it is done twice; the second answer is sent
    truncated    it is done, and half of the answer is sent; nothing where it has no body

and by git pushes alone:

    refused      every ref is refused by a hook
    raced        somebody else's commit lands on each branch just before
    cut          the connection ends in the middle of what is pushed

Before a large push, git asks whether it may with an empty one, which meets none of them.

With `acts`, what is refused by `status`, `too-many` or `secondary` is done nevertheless.
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
    """`path` is a glob (`*` matches slashes as well), or an endpoint's path as GitHub describes it.

    It is held against the path without `/api/v3` and without what is behind a question mark; git
    is `git`, Azure `azure`. A `count` of 0 lasts until it is taken back.
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

    def meets(self, method: str, path: str, template: str) -> bool:
        """Whether it names this request."""
        if self.kind in PUSH_KINDS and not (
            template == "git" and method == "POST" and path.endswith("/git-receive-pack")
        ):
            return False
        if self.method not in {"*", method}:
            return False
        return self.path == template or fnmatch.fnmatchcase(path, self.path)


FAULT: Final = TypeAdapter(Fault)
"""Reads a fault from JSON."""


class Faults:
    """Those that are switched on. Safe to use from several threads."""

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
        """Switch all off."""
        with self._lock:
            self._faults.clear()
            self._met.clear()

    @contextmanager
    def on(self, *faults: Fault) -> Iterator[None]:
        """These faults, and afterwards none."""
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
        """What this request meets: every slowness, and the first of the other faults."""
        taken: list[Fault] = []
        with self._lock:
            for key, fault in list(self._faults.items()):
                slow = fault.kind == "slow"
                if not fault.meets(method, path, template):
                    continue
                if not slow and any(one.kind != "slow" for one in taken):
                    continue
                self._met[key] += 1
                if self._met[key] > fault.skip:
                    taken.append(fault)
                if fault.count and self._met[key] == fault.skip + fault.count:
                    del self._faults[key], self._met[key]
        return tuple(taken)
