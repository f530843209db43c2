"""Progress of a long step: a bar on a terminal, plain lines elsewhere."""

from __future__ import annotations

import time
from collections.abc import Callable
from types import TracebackType
from typing import TYPE_CHECKING, Self

if TYPE_CHECKING:
    from rich.console import Console
    from rich.progress import Progress

QUICK = 1.0
"""In seconds; a shorter step shows no progress."""

INTERVAL = 0.1
"""Seconds between two updates of the console; a step may report a hundred thousand times."""

LINE_INTERVAL = 5.0
"""Seconds between plain lines."""


class ProgressDisplay:
    """Shows the progress of a step on a console, which only a long step opens."""

    def __init__(self, open_console: Callable[[], Console], step: str) -> None:
        self._open_console = open_console
        self._step = step
        self._started = time.monotonic()
        self._last_line = self._started
        self._next = self._started
        self._bar: Progress | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.stop()

    def stop(self) -> None:
        """Remove the bar, so that other output can follow."""
        if self._bar is not None:
            self._bar.stop()
            self._bar = None

    def update(self, done: int, total: int) -> None:
        """Show that `done` of `total` are done."""
        now = time.monotonic()
        if done == 0:
            self._begin(now)
        if now - self._started < QUICK or (0 < done < total and now < self._next):
            return
        self._next = now + INTERVAL
        console = self._open_console()
        if console.is_terminal:
            self._show_bar(console, done, total)
        elif done < total and now - self._last_line >= LINE_INTERVAL:
            self._last_line = now
            console.print(f"{self._step}: {done} of {total}")

    def of(self, step: str) -> Callable[[int, int], None]:
        """Return a function that reports the progress of the step with this name."""

        def update(done: int, total: int) -> None:
            self._step = step
            self.update(done, total)
            if done == total:
                self.stop()

        return update

    def _begin(self, now: float) -> None:
        """Begin a step; the time of an earlier step does not count."""
        self._started = self._last_line = now

    def _show_bar(self, console: Console, done: int, total: int) -> None:
        if self._bar is None:
            # Only a long step on a terminal needs this import.
            from rich.progress import (  # noqa: PLC0415
                BarColumn,
                MofNCompleteColumn,
                Progress,
                TextColumn,
                TimeElapsedColumn,
            )

            self._bar = Progress(
                TextColumn("{task.description}"),
                BarColumn(),
                MofNCompleteColumn(),
                TimeElapsedColumn(),
                console=console,
                transient=True,
            )
            self._bar.add_task(self._step, total=total)
            self._bar.start()
        self._bar.update(self._bar.task_ids[0], completed=done, total=total)
