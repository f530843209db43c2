"""The commit of a synced revision."""

from __future__ import annotations


def synced_commit(revision: str) -> str:
    """Return the commit of a Flux revision in lower case; "" if it names none.

    Flux before 0.35 writes `branch/sha`, later versions `branch@algorithm:sha`; a commit alone is
    `algorithm:sha` (Flux RFC-0005). A branch name may hold `/` and `@`: the last one counts.
    """
    checksum = revision.strip().rpartition("@")[2]
    return checksum.rpartition(":" if ":" in checksum else "/")[2].lower()
