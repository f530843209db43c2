"""The retries of one reading of Resource Graph, and the seconds that it may wait."""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Final

from kalypso_actions.clients.resource_graph.answers import UnansweredError
from kalypso_actions.clients.resource_graph.errors import CHECK_NETWORK
from kalypso_actions.errors import KalypsoError

log = logging.getLogger(__name__)

MAX_FAULTS: Final = 6
"""Consecutive attempts that may fail; after throttling, only the budget decides."""

QUOTA_WINDOW: Final = 5.0
"""Seconds in which Azure counts the queries of an identity (it allows about 15)."""

LONGEST: Final = 60.0
"""Maximum seconds between two attempts, unless Azure asks for more."""

FEWER_QUERIES: Final = (
    "query less often (poll-interval), or as several identities: Azure counts the queries of each"
)


class WaitBudget:
    """The seconds that a reading may still wait."""

    def __init__(self, seconds: float, sleep: Callable[[float], None]) -> None:
        self._seconds = seconds
        self._left = seconds
        self._sleep = sleep
        self._faults = 0

    def wait(self, seconds: float, why: str, advice: str = FEWER_QUERIES) -> None:
        """Wait. Raise KalypsoError if the budget is too small."""
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
        """Wait for the next attempt. Raise KalypsoError after too many faults."""
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
        """Reset the count of faults after an answer."""
        self._faults = 0
