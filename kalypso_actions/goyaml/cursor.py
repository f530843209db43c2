"""A place in a YAML text, and the characters that YAML tells apart."""

from __future__ import annotations

import re
from typing import Final

from kalypso_actions.goyaml.errors import YAMLError

BREAKS: Final = "\r\n\x85\u2028\u2029"
END: Final = "\0"
"""Behind the last character; no YAML text contains it."""
BLANK_OR_END: Final = frozenset(" \t" + BREAKS + END)
BREAK_OR_END: Final = frozenset(BREAKS + END)

UNREADABLE: Final = re.compile(
    "[^\t\n\r\x20-\x7e\x85\xa0-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]"
)
LINE_BREAK: Final = re.compile(f"\r\n|[{BREAKS}]")
TO_LINE_END: Final = re.compile(f"[^{BREAKS}\0]*")
SPACES: Final = re.compile(" *")
BLANKS: Final = re.compile("[ \t]*")


class Cursor:
    """A position in `text`, with its line (from 1) and the position where that line begins."""

    __slots__ = ("line", "line_start", "position", "text")

    def __init__(self, text: str) -> None:
        """Start at the beginning; raises `YAMLError` for characters that YAML does not allow."""
        unreadable = UNREADABLE.search(text)
        if unreadable:
            line = len(LINE_BREAK.findall(text, 0, unreadable.start())) + 1
            raise YAMLError("control characters are not allowed", line)
        # A byte order mark says how the text is encoded and is no part of it.
        self.text = text.removeprefix("\ufeff") + END * 4
        self.position = 0
        self.line = 1
        self.line_start = 0

    @property
    def column(self) -> int:
        """Counted in characters from 0."""
        return self.position - self.line_start

    def peek(self, ahead: int = 0) -> str:
        """The character at the position, or `ahead` of it."""
        return self.text[self.position + ahead]

    def skip(self, pattern: re.Pattern[str]) -> None:
        """Move behind what `pattern` matches here."""
        match = pattern.match(self.text, self.position)
        if match:
            self.position = match.end()

    def take(self, pattern: re.Pattern[str]) -> str:
        """Move behind what `pattern` matches here, and return it."""
        match = pattern.match(self.text, self.position)
        if match is None:
            return ""
        self.position = match.end()
        return match[0]

    def take_break(self) -> str:
        """Move behind a line break, and return it as it counts in a scalar; "" if there is none."""
        taken = self.take(LINE_BREAK)
        if taken:
            self.line += 1
            self.line_start = self.position
        return taken if taken in "\u2028\u2029" else "\n"

    def end_line(self) -> None:
        """Begin a new line here, unless one begins here already."""
        if self.position > self.line_start:
            self.line += 1
            self.line_start = self.position

    def rest_of_line_is_comment(self) -> bool:
        """Move behind blanks, a comment and the line break; False where anything else is left."""
        self.skip(BLANKS)
        if self.peek() == "#":
            self.skip(TO_LINE_END)
        if self.peek() not in BREAK_OR_END:
            return False
        self.take_break()
        return True
