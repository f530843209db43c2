"""Git's ids of blobs and commits."""

from __future__ import annotations

import hashlib
import re
from typing import NewType

BlobId = NewType("BlobId", str)

FileContent = bytes | BlobId
"""The content of a file, or the id of a blob that the target repository already has."""

_COMMIT_ID = re.compile(r"(?:[0-9a-f]{40}|[0-9a-f]{64})\Z")


def blob_id(content: FileContent) -> BlobId:
    """Return the blob id of a content; files with equal ids are equal.

    https://git-scm.com/book/en/v2/Git-Internals-Git-Objects
    """
    if isinstance(content, str):
        return content
    header = b"blob %d\0" % len(content)
    return BlobId(hashlib.sha1(header + content, usedforsecurity=False).hexdigest())


def is_commit_id(text: str) -> bool:
    """Whether `text` is the full id of a commit."""
    return _COMMIT_ID.match(text) is not None
