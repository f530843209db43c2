"""The ids that git gives to contents and commits."""

from __future__ import annotations

import hashlib
import re

_COMMIT_ID = re.compile(r"(?:[0-9a-f]{40}|[0-9a-f]{64})\Z")


def blob_id(content: bytes, object_format: str = "sha1") -> str:
    """The id of a file of this content: two files are equal where their ids are.

    `object_format` is `sha1` or `sha256`.
    https://git-scm.com/book/en/v2/Git-Internals-Git-Objects
    """
    header = b"blob %d\0" % len(content)
    return hashlib.new(object_format, header + content, usedforsecurity=False).hexdigest()


def is_commit_id(text: str) -> bool:
    """Whether `text` is a commit's full id, with which nothing but that commit can be meant."""
    return _COMMIT_ID.match(text) is not None
