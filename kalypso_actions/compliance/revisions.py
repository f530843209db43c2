"""What a cluster says it has synced."""

from __future__ import annotations


def synced_commit(revision: str) -> str:
    """The commit of a Flux revision, in lower case; "" where it names none.

    Flux before 0.35 writes `branch/sha`, since then `branch@algorithm:sha`; a commit alone is
    `algorithm:sha` (Flux RFC-0005). A branch may hold `/` and `@` itself: the last one counts.
    """
    checksum = revision.strip().rpartition("@")[2]
    return checksum.rpartition(":" if ":" in checksum else "/")[2].lower()
