"""Find the line of a template that made a line of its output."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

ACTION: Final = re.compile(r"\{\{[^{}]*\}\}")
MIN_TEXT: Final = 3
"""Characters besides actions without which a line of a template says nothing."""
MAX_LINES: Final = 2000
"""Lines with actions that are compared; charts have less."""


class TemplateLines:
    """The lines of a template, by what they print."""

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

        Of several, the one with the most text counts. 0 if none is, as for a row that an included
        template or a value has made.
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
    """Whether a text has the parts in this order, the first and the last at its ends."""
    if not text.startswith(parts[0]):
        return False
    position = len(parts[0])
    for part in parts[1:-1]:
        position = text.find(part, position)
        if position < 0:
            return False
        position += len(part)
    return len(text) - position >= len(parts[-1]) and text.endswith(parts[-1])
