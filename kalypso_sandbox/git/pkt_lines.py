"""Lines of git's protocol: four hexadecimal digits of length, then the content.

https://git-scm.com/docs/protocol-common
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

FLUSH: Final = b"0000"
MAX_DATA: Final = 65515
"""The maximum number of bytes in a line, without its length and band number."""


class ProtocolError(Exception):
    """The client sent invalid lines."""


def line(content: bytes) -> bytes:
    """Encode one line."""
    return b"%04x%s" % (len(content) + 4, content)


def band(number: int, content: bytes) -> bytes:
    """Encode content of a band: 1 is for the program, 2 is for people, 3 is a fatal error."""
    parts = range(0, len(content), MAX_DATA)
    return b"".join(line(bytes([number]) + content[at : at + MAX_DATA]) for at in parts)


def section(content: bytes, start: int) -> tuple[list[bytes], int]:
    """Return the lines before the next flush, and the offset after it. Raises ProtocolError."""
    lines: list[bytes] = []
    for content_line, end in _lines(content, start):
        if content_line is None:
            return lines, end
        lines.append(content_line)
    raise ProtocolError("the lines end without a flush")


def _lines(content: bytes, start: int) -> Iterator[tuple[bytes | None, int]]:
    """Yield each line (None for a flush) and the offset after it."""
    while start < len(content):
        head = content[start : start + 4]
        try:
            length = int(head, 16)
        except ValueError:
            raise ProtocolError(f"{head!r} is not the length of a line") from None
        end = start + max(length, 4)
        if end > len(content) or (0 < length < 4) or not head.isalnum():
            raise ProtocolError(f"a line of {length} bytes is cut off")
        yield (None if length == 0 else content[start + 4 : end]), end
        start = end
