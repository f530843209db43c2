"""Names of revisions: branches, tags, full refs, and ids of commits."""

from __future__ import annotations

import re
from typing import Final

INVALID_REVISION: Final = re.compile(r"[\x00-\x20\x7f~^:?*\[\\]|\.\.|@\{")
"""Characters that no ref's name contains and that git would interpret."""
ABBREVIATED_ID: Final = re.compile(r"[0-9a-f]{4,40}\Z")


def candidates(revision: str) -> list[str]:
    """Return the possible full names of a revision, in the order of precedence."""
    if not revision or INVALID_REVISION.search(revision):
        return []
    names = [f"refs/heads/{revision}", f"refs/tags/{revision}"]
    if revision.startswith("refs/"):
        names = [revision]
    elif revision.startswith(("heads/", "tags/")):
        names.append(f"refs/{revision}")
    if ABBREVIATED_ID.match(revision):
        # A branch's name may look like an id; only a full id takes precedence over it.
        names.insert(0 if len(revision) == 40 else len(names), revision)
    elif revision == "HEAD":
        names.append(revision)
    return names
