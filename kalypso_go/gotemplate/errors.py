"""The error that this package raises."""

from __future__ import annotations


class TemplateError(Exception):
    """The template cannot be parsed or executed; the message is Go's.

    `message` is Go's whole text, as in
    `template: top:7:20: executing "three" at <index "hi" $>: error calling index: …`;
    `detail` is the part after the position. `name` is the template's name. `line` counts from 1,
    `column` counts characters from 1 (Go's text counts bytes from 0, and parse errors have no
    column); 0 means unknown.
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

    def __str__(self) -> str:
        return self.message
