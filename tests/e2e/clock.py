"""The time of the sandbox: what is real, unless something lies in the past."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta

from kalypso_actions.sandbox.workflow_runner.clock import Clock


class PresentClock(Clock):
    """The real time, because jobs are programs that have it; nobody else waits."""

    def __init__(self) -> None:
        super().__init__(datetime.now(UTC))
        self._past = timedelta()

    def __call__(self) -> datetime:
        return datetime.now(UTC) - self._past

    def sleep(self, seconds: float) -> None:
        """People think, and runners start, in no time."""

    @contextmanager
    def ago(self, past: timedelta) -> Iterator[None]:
        """What happens in here has happened so long ago."""
        self._past = past
        try:
            yield
        finally:
            self._past = timedelta()
