"""How long one reading of Resource Graph waits, and for what."""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Final

from kalypso_actions.clients.resource_graph.answers import UnansweredError
from kalypso_actions.clients.resource_graph.refusals import CHECK_NETWORK
from kalypso_actions.errors import KalypsoError

log = logging.getLogger(__name__)

MAX_FAULTS: Final = 6
"""Attempts in a row that may fail without Azure asking for budget."""

QUOTA_WINDOW: Final = 5.0
"""Seconds in which Azure counts the questions of an identity (about 15 are allowed)."""

LONGEST: Final = 60.0
"""Seconds between two attempts at most, unless Azure names more."""

FEWER_QUESTIONS: Final = (
    "ask less often (poll-interval), or by several identities: Azure counts all questions of one"
)


class WaitBudget:
    """What is left of the seconds that a reading may wait."""

    def __init__(self, seconds: float, sleep: Callable[[float], None]) -> None:
        self._seconds = seconds
        self._left = seconds
        self._sleep = sleep
        self._faults = 0

    def wait(self, seconds: float, why: str, advice: str = FEWER_QUESTIONS) -> None:
        """Wait; raises KalypsoError where that would be longer than the reading may last."""
        if seconds <= 0:
            return
        if seconds > self._left:
            raise KalypsoError(
                f"Azure Resource Graph does not answer: {why}; it would take another "
                f"{seconds:.0f} s, after {self._seconds - self._left:.0f} s of waiting",
                advice=advice,
            )
        log.debug("Azure Resource Graph: %s; waiting %.1f s", why, seconds)
        self._left -= seconds
        self._sleep(seconds)

    def after(self, fault: UnansweredError) -> None:
        """Wait for the next attempt; raises KalypsoError where none is worth it."""
        self._faults += 1
        if fault.throttled:
            seconds = min(QUOTA_WINDOW * 2 ** (self._faults - 1), LONGEST)
            self.wait(fault.wait or seconds, str(fault))
            return
        if self._faults >= MAX_FAULTS:
            message = f"Azure Resource Graph does not answer: {fault} ({self._faults} attempts)"
            raise KalypsoError(message, advice=CHECK_NETWORK) from fault
        seconds = min(2.0 ** (self._faults - 1), LONGEST)
        self.wait(max(seconds, fault.wait or 0.0), str(fault), CHECK_NETWORK)

    def answered(self) -> None:
        """An attempt succeeded: faults are counted anew."""
        self._faults = 0
