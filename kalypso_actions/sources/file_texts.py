"""The text of a file: its encoding, and the limit of its size."""

from __future__ import annotations

import codecs
from typing import Final

from kalypso_actions.errors import Location, Problem

MAX_BYTES: Final = 64 * 1024 * 1024
"""The output of kustomize is one file: 5,000 cluster types with 4 KB of ConfigMap have 20 MB."""


def read_text(content: bytes, where: Location) -> str | Problem:
    """Return the text of a file, or the reason why it cannot be read."""
    if len(content) > MAX_BYTES:
        return too_large(where, len(content))
    try:
        return _decode(content)
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        message = f"the file is not UTF-8 (byte {error.start})"
        place = Location(where.repository, where.path, line)
        return Problem(message, place, "save the file as UTF-8", "file-not-utf-8")


def too_large(where: Location, size: int) -> Problem:
    """Return the problem of a file that is too large."""
    limit = MAX_BYTES // (1024 * 1024)
    return Problem(
        f"the file has {size / (1024 * 1024):.1f} MiB, but the limit is {limit} MiB",
        where,
        "split it, or exclude it by .sourceignore",
        "file-too-large",
    )


def _decode(content: bytes) -> str:
    """Decode UTF-8, or UTF-16 with a byte order mark."""
    if content.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return content.decode("utf-16")
    return content.decode("utf-8-sig")
