"""A clock that does not wait, with events that happen while a job sleeps."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime, timedelta

from kalypso_sandbox.workflow_runner.clock import Clock


class StoryClock(Clock):
    """A clock that moves only when somebody sleeps; then due events happen in order."""

    def __init__(self, start: datetime) -> None:
        super().__init__(start)
        self._arranged: list[tuple[datetime, Callable[[], object]]] = []
        self.each_time: Callable[[], object] = lambda: None
        """Functions to call whenever the time has moved."""

    def arrange(self, seconds: float, event: Callable[[], object]) -> None:
        """Let `event` happen in so many seconds of sleep."""
        self._arranged.append((self() + timedelta(seconds=seconds), event))
        self._arranged.sort(key=lambda event: event[0])

    @property
    def is_empty(self) -> bool:
        """Whether all events have happened."""
        return not self._arranged

    def sleep(self, seconds: float) -> None:
        """Move the time, and let due events happen; these may move it further."""
        end = self() + timedelta(seconds=seconds)
        while self._arranged and self._arranged[0][0] <= end:
            moment, event = self._arranged.pop(0)
            self._move_to(moment)
            event()
        self._move_to(end)

    def _move_to(self, moment: datetime) -> None:
        super().sleep(max((moment - self()).total_seconds(), 0))
        self.each_time()
