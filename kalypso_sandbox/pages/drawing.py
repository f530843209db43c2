"""The drawing of the pipeline, which the caller of the sandbox makes."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import Final

from markupsafe import Markup

Draw = Callable[[], str]
"""Returns the pipeline as HTML without scripts and styles; it may send requests to the sandbox."""

PERIOD: Final = 1.0
"""Seconds between two drawings while somebody looks."""

ASKED_FOR: Final = 10.0
"""Seconds for which the pipeline is drawn after somebody has looked."""


class Drawing:
    """The last drawing of the pipeline.

    A thread draws while somebody looks, because drawing needs requests to the sandbox: a page that
    waited for them with the lock would wait for itself.
    """

    def __init__(self, draw: Draw, pause: Callable[[float], object]) -> None:
        self._draw = draw
        self._pause = pause
        self._html = ""
        self.is_old = False
        """Whether the last drawing is of a time before, and another one is being made."""
        self._asked_at = 0.0
        self._thread: threading.Thread | None = None

    def html(self) -> Markup:
        """Return the last drawing, "" before the first one, and ask for the next."""
        self._asked_at = time.monotonic()
        if self._thread is None or not self._thread.is_alive():
            self.is_old = bool(self._html)
            self._thread = threading.Thread(target=self._repeat, name="pipeline", daemon=True)
            self._thread.start()
        return Markup(self._html)  # noqa: S704 - the caller escapes

    def _repeat(self) -> None:
        stops = False
        while not stops and time.monotonic() - self._asked_at < ASKED_FOR:
            self._html = self._draw()
            self.is_old = False
            stops = bool(self._pause(PERIOD))
