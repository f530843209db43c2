"""The state that the parts of a running sandbox share."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final

from kalypso_actions.clients.process import Programs
from kalypso_sandbox.faults import Faults, Interruptions
from kalypso_sandbox.github.rate_limits import RateLimits
from kalypso_sandbox.store import Store
from kalypso_sandbox.traffic import Traffic

MAX_FILE_SIZE: Final = 100 << 20
"""GitHub's limit for one file."""


@dataclass
class State:
    """The store and its lock, and everything that tests and users can change about requests.

    Hold the lock to read or change the store. `pause` waits some seconds, or until the sandbox
    stops.
    """

    store: Store
    programs: Programs
    pause: Callable[[float], object]
    lock: threading.RLock = field(default_factory=threading.RLock)
    faults: Faults = field(default_factory=Faults)
    interruptions: Interruptions = field(default_factory=Interruptions)
    traffic: Traffic = field(default_factory=Traffic)
    rate_limits: RateLimits = field(default_factory=RateLimits)
    max_file_size: int = MAX_FILE_SIZE
