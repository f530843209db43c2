"""The text of a template, and the error about a place in it."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Source:
    """The text of a template, with the name that errors show."""

    name: str
    text: str

    def line(self, position: int) -> int:
        """Return the line of a position, from 1."""
        return self.text.count("\n", 0, position) + 1

    def column(self, position: int) -> int:
        """Return the number of characters before a position in its line."""
        return position - (self.text.rfind("\n", 0, position) + 1)


class TemplateError(Exception):
    """The template cannot be parsed or executed; the message is Go's.

    `message` is Go's whole text, as in
    `template: top:7:20: executing "three" at <index "hi" $>: error calling index: …`;
    `detail` is the part after the position. `name` is the template's name. `line` counts from 1,
    `column` counts characters from 1 (Go's text counts bytes from 0, and parse errors have no
    column); 0 means unknown. `opened` is the position of the block that the text does not end; -1
    for other errors.
    """

    def __init__(
        self, message: str, *, name: str, line: int = 0, column: int = 0, detail: str = ""
    ) -> None:
        super().__init__(message)
        self.message = message
        self.name = name
        self.line = line
        self.column = column
        self.detail = detail or message
        self.opened = -1

    def __str__(self) -> str:
        return self.message
