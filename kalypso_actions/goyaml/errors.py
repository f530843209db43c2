"""What goes wrong in reading or writing YAML.

YAMLError                  a text that is no YAML to yaml.v2, or a value that has no YAML
└── YAMLBoundError         a bound of ours is reached where the Go libraries go further: the text
                           is YAML to them, so it must not be taken for a plain string
"""

from __future__ import annotations


class YAMLError(Exception):
    """A text that is no YAML to yaml.v2, or a value that has no YAML.

    `line` counts from 1; 0 where none is known.
    """

    def __init__(self, message: str, line: int = 0) -> None:
        super().__init__(message)
        self.message = message
        self.line = line

    def __str__(self) -> str:
        """As the Go libraries write it: `yaml: line 3: …`."""
        return f"yaml: line {self.line}: {self.message}" if self.line else f"yaml: {self.message}"


class YAMLBoundError(YAMLError):
    """Too deep or too large; the message names the bound."""
