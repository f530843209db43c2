"""The id that git gives to a content: two files are equal where their ids are."""

from __future__ import annotations

import hashlib


def blob_id(content: bytes) -> str:
    """The SHA-1 object id of a blob, https://git-scm.com/book/en/v2/Git-Internals-Git-Objects."""
    header = b"blob %d\0" % len(content)
    return hashlib.sha1(header + content, usedforsecurity=False).hexdigest()
