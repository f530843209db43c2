"""Errors of reading and writing YAML, and its limits.

YAMLError                  yaml.v2 rejects the text, or YAML cannot represent the value
└── YAMLBoundError         the text exceeds a limit of this package; the Go libraries still read it
                           as YAML, so callers must not treat it as a plain string

yaml.v2 and yaml.v3 allow much more (10,000 levels), but people do not write such documents.
"""

from __future__ import annotations

from typing import Final


class YAMLError(Exception):
    """yaml.v2 rejects the text, or YAML cannot represent the value.

    `line` counts from 1; 0 means unknown.
    """

    def __init__(self, message: str, line: int = 0) -> None:
        super().__init__(message)
        self.message = message
        self.line = line

    def __str__(self) -> str:
        """Return the message in the form of the Go libraries, `yaml: line 3: …`."""
        return f"yaml: line {self.line}: {self.message}" if self.line else f"yaml: {self.message}"


class YAMLBoundError(YAMLError):
    """Too deep or too large; the message names the bound."""


MAX_DEPTH: Final = 100
"""Levels of nested lists and mappings, both read and written."""

MAX_BYTES: Final = 16 * 1024 * 1024
"""The default limit on the size of a written text."""
