"""A position in a YAML text, and YAML's character classes."""

from __future__ import annotations

import re
from typing import Final

from kalypso_go.goyaml.errors import YAMLError

BREAKS: Final = "\r\n\x85\u2028\u2029"
END: Final = "\0"
"""Follows the last character; no YAML text contains it."""
BLANK_OR_END: Final = frozenset(" \t" + BREAKS + END)
BREAK_OR_END: Final = frozenset(BREAKS + END)

# Compiling the complement, the readable characters, would add 5 ms to each start.
UNREADABLE: Final = re.compile(
    "[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x84\x86-\x9f\ud800-\udfff\ufffe\uffff]"
)
LINE_BREAK: Final = re.compile(f"\r\n|[{BREAKS}]")
TO_LINE_END: Final = re.compile(f"[^{BREAKS}\0]*")
SPACES: Final = re.compile(" *")
BLANKS: Final = re.compile("[ \t]*")


class Cursor:
    """A position in `text`, with its line (from 1) and the position where that line begins."""

    __slots__ = ("line", "line_start", "position", "text")

    def __init__(self, text: str) -> None:
        """Start at the beginning; raise `YAMLError` for characters that YAML does not allow."""
        unreadable = UNREADABLE.search(text)
        if unreadable:
            line = len(LINE_BREAK.findall(text, 0, unreadable.start())) + 1
            raise YAMLError("control characters are not allowed", line)
        # A byte order mark gives the encoding and does not belong to the text.
        self.text = text.removeprefix("\ufeff") + END * 4
        self.position = 0
        self.line = 1
        self.line_start = 0

    @property
    def column(self) -> int:
        """The number of characters before the position in its line."""
        return self.position - self.line_start

    def peek(self, ahead: int = 0) -> str:
        """Return the character at the position, or `ahead` characters further."""
        return self.text[self.position + ahead]

    def skip(self, pattern: re.Pattern[str]) -> None:
        """Move past the match of `pattern` at the position."""
        match = pattern.match(self.text, self.position)
        if match:
            self.position = match.end()

    def take(self, pattern: re.Pattern[str]) -> str:
        """Move past the match of `pattern` at the position, and return it."""
        match = pattern.match(self.text, self.position)
        if match is None:
            return ""
        self.position = match.end()
        return match[0]

    def take_break(self) -> str:
        """Move past a line break, and return it as part of a scalar's value; "" if none."""
        taken = self.take(LINE_BREAK)
        if taken:
            self.line += 1
            self.line_start = self.position
        return taken if taken in "\u2028\u2029" else "\n"

    def end_line(self) -> None:
        """Begin a new line at the position, unless it is at the start of one."""
        if self.position > self.line_start:
            self.line += 1
            self.line_start = self.position

    def rest_of_line_is_comment(self) -> bool:
        """Move past blanks, a comment and the line break; return False if anything else follows."""
        self.skip(BLANKS)
        if self.peek() == "#":
            self.skip(TO_LINE_END)
        if self.peek() not in BREAK_OR_END:
            return False
        self.take_break()
        return True
