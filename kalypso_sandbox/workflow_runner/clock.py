"""The demo's clock: programs that sleep move it forward, and do not really wait."""

from __future__ import annotations

import threading
from datetime import datetime, timedelta


class Clock:
    """A clock that moves only by `sleep`. Safe to use from several threads."""

    def __init__(self, start: datetime) -> None:
        self.start = start
        self._lock = threading.Lock()
        self._time = start

    def __call__(self) -> datetime:
        """Return the time."""
        with self._lock:
            return self._time

    def sleep(self, seconds: float) -> None:
        """Move the time forward at once."""
        with self._lock:
            self._time += timedelta(seconds=seconds)
