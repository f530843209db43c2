"""Events right before or after a request, usually a write, while the client waits for the response.

With them, a test can merge a pull request in the middle of a run. The HTTP controls do not offer
them.
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
"""The ends of paths whose POST requests change nothing."""


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
        writes = method in WRITING and not path.endswith(NO_WRITES) and template != "azure"
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
