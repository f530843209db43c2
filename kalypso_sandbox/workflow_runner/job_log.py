"""The log of a step as GitHub keeps it: execute workflow commands, and hide secrets."""

from __future__ import annotations

import io
import re
from datetime import datetime
from pathlib import Path
from typing import Final

COMMAND: Final = re.compile(r"::(?P<name>[a-z-]+)(?: (?P<properties>[^:]*))?::(?P<text>.*)")
HIDDEN: Final = "***"


class JobLog(io.TextIOBase):
    """The output of a step; `add-mask` hides a text from then on."""

    def __init__(self, file: Path) -> None:
        self._file = file.open("w", encoding="utf-8")
        self._masks: set[str] = set()
        self._incomplete = ""

    def write(self, text: str) -> int:
        """Write text; the last line may be incomplete."""
        *lines, self._incomplete = (self._incomplete + text).split("\n")
        for line in lines:
            self._line(line)
        return len(text)

    def write_line(self, line: str, moment: datetime) -> None:
        """Write a line for people."""
        self.write(f"{moment:%H:%M:%S}  {line}\n")

    def close(self) -> None:
        """Close the log."""
        if not self._file.closed:
            self._file.close()
        super().close()

    def _line(self, line: str) -> None:
        command = COMMAND.fullmatch(line)
        if command is None:
            self._file.write(self._hidden(line) + "\n")
        elif command["name"] == "add-mask":
            self._masks.add(_unescaped(command["text"]))
        else:
            self._file.write(f"{command['name']}: {self._hidden(_unescaped(command['text']))}\n")

    def _hidden(self, line: str) -> str:
        for mask in sorted(self._masks, key=len, reverse=True):
            line = line.replace(mask, HIDDEN)
        return line


def _unescaped(text: str) -> str:
    return text.replace("%0D", "\r").replace("%0A", "\n").replace("%25", "%")
