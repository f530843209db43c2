"""Git's ids of blobs and commits."""

from __future__ import annotations

import hashlib
import re

_COMMIT_ID = re.compile(r"(?:[0-9a-f]{40}|[0-9a-f]{64})\Z")


def blob_id(content: bytes) -> str:
    """Return the blob id of a content; files with equal ids are equal.

    https://git-scm.com/book/en/v2/Git-Internals-Git-Objects
    """
    header = b"blob %d\0" % len(content)
    return hashlib.sha1(header + content, usedforsecurity=False).hexdigest()


def is_commit_id(text: str) -> bool:
    """Whether `text` is the full id of a commit."""
    return _COMMIT_ID.match(text) is not None
