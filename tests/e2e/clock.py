"""The time of the sandbox: the real time, or a moment in the past."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta

from kalypso_sandbox.workflow_runner.clock import Clock


class PresentClock(Clock):
    """The real time, because jobs are programs that use it; nobody else waits."""

    def __init__(self) -> None:
        super().__init__(datetime.now(UTC))
        self._past = timedelta()

    def __call__(self) -> datetime:
        return datetime.now(UTC) - self._past

    def sleep(self, seconds: float) -> None:
        """Do not wait: people and runners act at once."""

    @contextmanager
    def ago(self, past: timedelta) -> Iterator[None]:
        """Move the time back by so much within the context."""
        self._past = past
        try:
            yield
        finally:
            self._past = timedelta()
