"""Unified diffs of files, as git writes them."""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Sequence
from typing import Final, Literal

from kalypso_actions.model.differences import FileDiff

MOST_PAIRS: Final = 4_000_000
"""The most pairs of lines to compare. Beyond that, all lines between the first and the last
difference count as different, because the time of difflib grows with the number of pairs."""

CONTEXT: Final = 3

_Operation = tuple[str, int, int, int, int]
"""An operation of difflib: its name, the range of lines before, and the range after."""

_Tag = Literal["replace", "delete", "insert", "equal"]

ABSENT: Final = "/dev/null"
NO_NEWLINE: Final = "\n\\ No newline at end of file\n"


def unified_diff(file: FileDiff, prefix: str = "") -> str:
    """Return the diff of a file; `prefix` precedes its path."""
    name = f"{prefix}{file.path}"
    before = ABSENT if file.change == "added" else f"a/{name}"
    after = ABSENT if file.change == "deleted" else f"b/{name}"
    return f"--- {before}\n+++ {after}\n{file.hunks}"


def hunks(before: bytes | None, after: bytes | None) -> str:
    """Return the diff of two contents, without the names. Binary content has no lines.

    https://www.gnu.org/software/diffutils/manual/html_node/Detailed-Unified.html
    """
    try:
        return "".join(_hunks(_lines(before), _lines(after)))
    except UnicodeDecodeError:
        return "Binary files differ\n"


def _lines(content: bytes | None) -> list[str]:
    """Split only at line feeds, as git does, and keep them."""
    lines = (content or b"").decode().split("\n")
    last = lines.pop()
    return [*(f"{line}\n" for line in lines), *([last] if last else [])]


def _hunks(before: Sequence[str], after: Sequence[str]) -> Iterator[str]:
    for group in _groups(before, after):
        first, last = group[0], group[-1]
        sides = _span(first[1], last[2]), _span(first[3], last[4])
        yield f"@@ -{sides[0]} +{sides[1]} @@\n"
        for tag, old_start, old_end, new_start, new_end in group:
            if tag == "equal":
                yield from (_line(" ", line) for line in before[old_start:old_end])
                continue
            yield from (_line("-", line) for line in before[old_start:old_end])
            yield from (_line("+", line) for line in after[new_start:new_end])


def _groups(before: Sequence[str], after: Sequence[str]) -> Iterator[list[_Operation]]:
    """Group the operations that turn `before` into `after`, with the lines around them."""
    start = _common(before, after)
    end = _common(before[start:][::-1], after[start:][::-1])
    old, new = before[start : len(before) - end], after[start : len(after) - end]
    if len(old) * len(new) <= MOST_PAIRS:
        yield from _Matcher(old, new, start, end).get_grouped_opcodes(CONTEXT)
        return
    old_end, new_end = start + len(old), start + len(new)
    lead, tail = min(CONTEXT, start), min(CONTEXT, end)
    yield [
        ("equal", start - lead, start, start - lead, start),
        ("replace", start, old_end, start, new_end),
        ("equal", old_end, old_end + tail, new_end, new_end + tail),
    ]


class _Matcher(difflib.SequenceMatcher[str]):
    """Compares the lines between the first and the last difference, as git does.

    Most texts differ in few lines, and difflib would index all of them.
    """

    def __init__(self, before: Sequence[str], after: Sequence[str], start: int, end: int) -> None:
        """`start` lines before these and `end` lines after them are equal."""
        super().__init__(None, before, after, autojunk=False)
        self._start, self._end = start, end
        self._lengths = len(before), len(after)

    def get_opcodes(self) -> list[tuple[_Tag, int, int, int, int]]:
        """Return the operations, with places in the whole texts."""
        start, (old, new) = self._start, self._lengths
        codes = [
            (tag, start + old_start, start + old_end, start + new_start, start + new_end)
            for tag, old_start, old_end, new_start, new_end in super().get_opcodes()
        ]
        lead: tuple[_Tag, int, int, int, int] = ("equal", 0, start, 0, start)
        old_end, new_end, end = start + old, start + new, self._end
        codes += [("equal", old_end, old_end + end, new_end, new_end + end)] if end else []
        return [lead, *codes] if start else codes


def _common(first: Sequence[str], second: Sequence[str]) -> int:
    """Return the number of equal lines at the beginning."""
    pairs = enumerate(zip(first, second, strict=False))
    shorter = min(len(first), len(second))
    return next((index for index, (old_line, new_line) in pairs if old_line != new_line), shorter)


def _span(start: int, end: int) -> str:
    """Format a range of lines; an empty one names the line before it."""
    length = end - start
    return f"{start + 1 if length else start},{length}" if length != 1 else f"{start + 1}"


def _line(sign: str, line: str) -> str:
    return f"{sign}{line}" if line.endswith("\n") else f"{sign}{line}{NO_NEWLINE}"
