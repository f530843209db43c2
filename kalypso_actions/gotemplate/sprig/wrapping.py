"""Texts cut to a width: wrapped into lines, or abbreviated. Widths count bytes."""

from __future__ import annotations

from kalypso_actions.gotemplate.budget import Budget
from kalypso_actions.gotemplate.sprig.signature import function
from kalypso_actions.gotemplate.sprig.strings import cut
from kalypso_actions.gotemplate.text import byte_length, from_bytes, to_bytes
from kalypso_actions.gotemplate.values import INT, STRING


@function("wrap", INT, STRING, returns=STRING, bounded=True)
def wrap(budget: Budget, width: int, text: str) -> str:
    """`text` in lines of at most `width` bytes, words that are longer left whole."""
    return _wrapped(budget, text, width, "\n", break_words=False)


@function("wrapWith", INT, STRING, STRING, returns=STRING, bounded=True)
def wrap_with(budget: Budget, width: int, separator: str, text: str) -> str:
    """`wrap` with another separator, words that are longer broken."""
    return _wrapped(budget, text, width, separator or "\n", break_words=True)


def _wrapped(budget: Budget, text: str, width: int, separator: str, *, break_words: bool) -> str:
    """As goutils' `WrapCustom`: spaces at the beginning of a line go, those at the end stay."""
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
    """`text` cut to `width` bytes, the last three of them dots; a width below 4 does nothing."""
    return text if width < 4 else _abbreviated(text, 0, width)


@function("abbrevboth", INT, INT, STRING, returns=STRING)
def abbrevboth(left: int, right: int, text: str) -> str:
    """`text` cut to `right` bytes, from about `left` on, with dots for what is missing."""
    if right < 4 or (left > 0 and right < 7):
        return text
    return _abbreviated(text, left, right)


def _abbreviated(text: str, offset: int, width: int) -> str:
    """As goutils' `AbbreviateFull` does."""
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
