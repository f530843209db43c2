"""Events that happen right before or after a write request, while the client waits for its answer.

A story merges a pull request in the middle of a run by one. There is no control over HTTP for them.
"""

from __future__ import annotations

import fnmatch
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field
from typing import Any, Final

WRITING: Final = frozenset({"POST", "PUT", "PATCH", "DELETE"})
NO_WRITES: Final = ("/graphql", "/git-upload-pack", "/access_tokens")
"""The ends of paths that are asked by POST and change nothing."""


@dataclass
class Interruption:
    """An event and its place: `path` is a glob, and `skip` writes come first."""

    event: Callable[[], object]
    path: str
    skip: int
    after: bool
    happened: Future[Any] = field(default_factory=Future)

    def happen(self) -> None:
        """Let it happen; its result or exception is that of `happened`."""
        try:
            self.happened.set_result(self.event())
        except BaseException as error:  # noqa: BLE001 - whoever asks for the result meets it
            self.happened.set_exception(error)


class Interruptions:
    """Those that have not happened yet. Safe to use from several threads."""

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
    ) -> Future[Any]:
        """Let `event` happen once, before (or `after`) a write request to a path.

        `path` is a glob for the path without the mount of GitHub Enterprise Server; `skip` such
        writes come first. A push by git is one write, and queries of GraphQL and of Azure are none.
        The event runs without the sandbox's lock, and may send requests itself. Returns what it
        came to: done as soon as it happened, with its result or its exception.
        """
        one = Interruption(event, path, skip, after)
        with self._lock:
            self._waiting.append(one)
        return one.happened

    def clear(self) -> None:
        """Forget those that have not happened."""
        with self._lock:
            self._waiting.clear()

    def take(self, method: str, path: str, template: str) -> Sequence[Interruption]:
        """Count a request, and return the interruptions that happen at it."""
        if method not in WRITING or path.endswith(NO_WRITES) or template == "azure":
            return ()
        taken = []
        with self._lock:
            for one in [each for each in self._waiting if fnmatch.fnmatchcase(path, each.path)]:
                if one.skip:
                    one.skip -= 1
                else:
                    self._waiting.remove(one)
                    taken.append(one)
        return taken
