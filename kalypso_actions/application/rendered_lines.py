"""Find the line of a template that printed a line of its output."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

ACTION: Final = re.compile(r"\{\{[^{}]*\}\}")
MIN_TEXT: Final = 3
"""The least number of characters outside of actions that identify a line of a template."""
MAX_LINES: Final = 2000
"""The most lines with actions to compare; charts have fewer."""


class TemplateLines:
    """The lines of a template, by the texts that they print."""

    def __init__(self, template: str) -> None:
        self._literal: dict[str, int] = {}
        self._with_actions: list[tuple[int, list[str]]] = []
        for number, line in enumerate(template.splitlines(), start=1):
            text = line.strip()
            self._literal.setdefault(text, number)
            if "{{" in text and len(self._with_actions) < MAX_LINES:
                parts = [part.strip() for part in ACTION.split(text)]
                self._with_actions.append((number, parts))

    def find(self, row: str) -> int:
        """Return the first line whose text, apart from actions, is that of the row.

        Of several lines, return the one with the most text. Return 0 if there is none, for example
        because an included template or a value printed the row.
        """
        wanted = row.strip()
        if not wanted:
            return 0
        if wanted in self._literal:
            return self._literal[wanted]
        best, weight = 0, min(MIN_TEXT, len(wanted)) - 1
        for number, parts in self._with_actions:
            length = sum(map(len, parts))
            if length > weight and _made_of(parts, wanted):
                best, weight = number, length
        return best


def _made_of(parts: Sequence[str], text: str) -> bool:
    """Whether a text has the parts in this order, with the first and the last at its ends."""
    if not text.startswith(parts[0]):
        return False
    position = len(parts[0])
    for part in parts[1:-1]:
        position = text.find(part, position)
        if position < 0:
            return False
        position += len(part)
    return len(text) - position >= len(parts[-1]) and text.endswith(parts[-1])
