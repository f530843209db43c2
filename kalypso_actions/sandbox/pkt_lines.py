"""The lines of git's protocol: four hexadecimal digits of length, then so many bytes.

https://git-scm.com/docs/protocol-common
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

FLUSH: Final = b"0000"
MAX_DATA: Final = 65515
"""What fits into one line beside its length and the number of its band."""


class ProtocolError(Exception):
    """What was sent are no lines."""


def line(content: bytes) -> bytes:
    """One line."""
    return b"%04x%s" % (len(content) + 4, content)


def band(number: int, content: bytes) -> bytes:
    """Content of a band: 1 is for the program, 2 for people, 3 ends it all."""
    parts = range(0, len(content), MAX_DATA)
    return b"".join(line(bytes([number]) + content[at : at + MAX_DATA]) for at in parts)


def section(content: bytes, start: int) -> tuple[list[bytes], int]:
    """The lines up to the next flush, and where what follows begins. Raises ProtocolError."""
    lines: list[bytes] = []
    for found, end in _lines(content, start):
        if found is None:
            return lines, end
        lines.append(found)
    raise ProtocolError("the lines end without a flush")


def _lines(content: bytes, start: int) -> Iterator[tuple[bytes | None, int]]:
    """Each line, None for a flush, and where it ends."""
    while start < len(content):
        head = content[start : start + 4]
        try:
            length = int(head, 16)
        except ValueError:
            raise ProtocolError(f"{head!r} is no length of a line") from None
        end = start + max(length, 4)
        if end > len(content) or (0 < length < 4) or not head.isalnum():
            raise ProtocolError(f"a line of {length} bytes is cut off")
        yield (None if length == 0 else content[start + 4 : end]), end
        start = end
