"""Git's ids of blobs and commits."""

from __future__ import annotations

import hashlib
import re

_COMMIT_ID = re.compile(r"(?:[0-9a-f]{40}|[0-9a-f]{64})\Z")


def blob_id(content: bytes, object_format: str = "sha1") -> str:
    """Return the blob id of a content; files with equal ids are equal.

    `object_format` is `sha1` or `sha256`.
    https://git-scm.com/book/en/v2/Git-Internals-Git-Objects
    """
    header = b"blob %d\0" % len(content)
    return hashlib.new(object_format, header + content, usedforsecurity=False).hexdigest()


def is_commit_id(text: str) -> bool:
    """Whether `text` is the full id of a commit."""
    return _COMMIT_ID.match(text) is not None
