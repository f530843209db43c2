"""The one error that leaves this package."""

from __future__ import annotations


class TemplateError(Exception):
    """A template that cannot be parsed or executed, told as Go tells it.

    `message` is Go's whole text, as in
    `template: top:7:20: executing "three" at <index "hi" $>: error calling index: …`;
    `detail` is the part behind the place. `name` is the template's name, `line` counts from 1,
    `column` counts characters from 1 (Go's text counts bytes from 0, and names no column for what
    does not parse); 0 stands for unknown.
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
