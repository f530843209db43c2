"""Clocks of a sandbox: one moves only when a program sleeps, the other one runs fast."""

from __future__ import annotations

import threading
import time
from datetime import UTC, datetime, timedelta
from typing import Protocol


class RunnerClock(Protocol):
    """The clock of jobs."""

    def __call__(self) -> datetime:
        """Return the time."""

    def sleep(self, seconds: float) -> None:
        """Wait so many seconds of this clock."""


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


class FastClock:
    """A clock that runs `speed` times as fast as the machine's; threads may share it."""

    def __init__(self, start: datetime | None = None, speed: float = 1.0) -> None:
        """Begin at `start`, by default now."""
        self.speed = speed
        self._start = start or datetime.now(UTC)
        self._begun = time.monotonic()

    def __call__(self) -> datetime:
        """Return the time."""
        return self._start + timedelta(seconds=(time.monotonic() - self._begun) * self.speed)

    def not_before(self, moment: datetime) -> None:
        """Go on at a moment if the clock has not reached it, as after a new start."""
        self._start += max(moment - self(), timedelta())

    def seconds_of_machine(self, seconds: float) -> float:
        """Return how long the machine waits while so many seconds of this clock pass."""
        return seconds / self.speed

    def sleep(self, seconds: float) -> None:
        """Wait so many seconds of this clock."""
        time.sleep(self.seconds_of_machine(seconds))
