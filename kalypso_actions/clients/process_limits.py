"""Limit the memory and the processor time of a running process, on Linux."""

from __future__ import annotations

import math
import os
import sys
from contextlib import suppress

if sys.platform == "linux":
    import resource


def limit_resources(
    process_id: int, max_memory: int, timeout: float, cpu_seconds: int | None
) -> None:
    """Limit data and processor time of a running process; only Linux can do that from outside.

    The limit is RLIMIT_DATA, because Go programs reserve address space that they never use, and
    RLIMIT_AS counts it. The limit of time also ends a program if this process was killed; it counts
    the time of each processor.
    """
    if sys.platform == "linux":
        seconds = cpu_seconds or math.ceil(timeout * (os.cpu_count() or 1)) + 1
        with suppress(ProcessLookupError):  # it has ended
            for kind, limit in ((resource.RLIMIT_DATA, max_memory), (resource.RLIMIT_CPU, seconds)):
                # A limit must not exceed that of this process.
                _, hard = resource.prlimit(process_id, kind)
                least = limit if hard == resource.RLIM_INFINITY else min(limit, hard)
                resource.prlimit(process_id, kind, (least, least))
