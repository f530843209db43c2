"""Wrapping and abbreviation of texts; widths count bytes."""

from __future__ import annotations

from kalypso_go.gotemplate.budget import Budget
from kalypso_go.gotemplate.sprig.signature import function
from kalypso_go.gotemplate.sprig.strings import cut
from kalypso_go.gotemplate.text import byte_length, from_bytes, to_bytes
from kalypso_go.gotemplate.values import INT, STRING


@function("wrap", INT, STRING, returns=STRING, takes_budget=True, cost=16)
def wrap(budget: Budget, width: int, text: str) -> str:
    """Wrap `text` into lines of at most `width` bytes, without breaking longer words."""
    return _wrapped(budget, text, width, "\n", break_words=False)


@function("wrapWith", INT, STRING, STRING, returns=STRING, takes_budget=True, cost=16)
def wrap_with(budget: Budget, width: int, separator: str, text: str) -> str:
    """Wrap `text` with another separator, breaking longer words."""
    return _wrapped(budget, text, width, separator or "\n", break_words=True)


def _wrapped(budget: Budget, text: str, width: int, separator: str, *, break_words: bool) -> str:
    """Goutils' `WrapCustom`: remove spaces at the start of a line, not at its end."""
    data = to_bytes(text)
    width = max(width, 1)
    lines: list[bytes] = []
    size = 0
    start = 0
    while len(data) - start > width:
        if data[start] == ord(" "):
            start += 1
            continue
        end = data.rfind(b" ", start, start + width + 1)
        following = end + 1
        if end < 0 and break_words:
            end = following = start + width
        elif end < 0:
            end = data.find(b" ", start + width)
            if end < 0:
                break
            following = end + 1
        lines.append(data[start:end])
        size += end - start + len(separator)
        budget.fit(size, "wrap")
        start = following
    lines.append(data[start:])
    return from_bytes(to_bytes(separator).join(lines))


@function("abbrev", INT, STRING, returns=STRING)
def abbrev(width: int, text: str) -> str:
    """Cut `text` to `width` bytes including three dots; a width below 4 changes nothing."""
    return text if width < 4 else _abbreviated(text, 0, width)


@function("abbrevboth", INT, INT, STRING, returns=STRING)
def abbrevboth(left: int, right: int, text: str) -> str:
    """Cut `text` to `right` bytes from about `left` on, with dots for omitted parts."""
    if right < 4 or (left > 0 and right < 7):
        return text
    return _abbreviated(text, left, right)


def _abbreviated(text: str, offset: int, width: int) -> str:
    """Goutils' `AbbreviateFull`."""
    length = byte_length(text)
    if length <= width:
        return text
    kept = width - 3
    offset = min(offset, length)
    if length - offset < kept:
        offset = length - kept
    if offset <= 4:
        return cut(text, 0, kept) + "..."
    if width < 7:
        return ""
    if offset + kept < length:
        return "..." + _abbreviated(cut(text, offset, length), 0, kept)
    return "..." + cut(text, length - kept, length)
