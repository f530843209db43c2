"""Find the line of a template that printed a line of its output."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import islice, takewhile
from typing import Final

ACTION: Final = re.compile(r"\{\{[^{}]*\}\}")
MIN_TEXT: Final = 3
"""The least number of characters outside of actions that identify a line of a template."""
MAX_LINES: Final = 2000
"""The most lines with actions to compare; charts have fewer."""
NEIGHBOURS: Final = 5
"""The lines to compare on each side of a line that occurs several times."""


class TemplateLines:
    """The lines of a template, by the texts that they print."""

    def __init__(self, template: str) -> None:
        self.lines: Final = [line.strip() for line in template.split("\n")]
        self._literal: dict[str, list[int]] = {}
        self._with_actions: dict[int, list[str]] = {}
        for index, text in enumerate(self.lines):
            self._literal.setdefault(text, []).append(index)
            if "{{" in text and len(self._with_actions) < MAX_LINES:
                self._with_actions[index] = [part.strip() for part in ACTION.split(text)]

    def find(self, rows: Sequence[str], row: int) -> int:
        """Return the number of the line that printed one of the output's rows.

        Its text, apart from actions, is that of the row. Of several lines, return the one with the
        row's neighbours, then the one with the most text. Return 0 if there is none, for example
        because an included template or a value printed the row.
        """
        wanted = rows[row].strip() if 0 <= row < len(rows) else ""
        if not wanted:
            return 0
        lines = sorted({*self._literal.get(wanted, ()), *self._with_actions})
        weights = {line: self._weight(line, wanted) for line in lines}
        printing = [line for line in lines if weights[line]]
        if len(printing) > 1:
            printing.sort(key=lambda line: (-self._likeness(line, rows, row), -weights[line]))
        return printing[0] + 1 if printing else 0

    def _weight(self, line: int, wanted: str) -> int:
        """Return the length of a line's text that is in a row; 0 if it did not print the row."""
        if self.lines[line] == wanted:
            return len(wanted) + 1
        parts = self._with_actions.get(line, [])
        length = sum(map(len, parts))
        is_enough = length >= min(MIN_TEXT, len(wanted))
        return length if is_enough and _made_of(parts, wanted) else 0

    def _likeness(self, line: int, rows: Sequence[str], row: int) -> int:
        """Count the lines around a line that printed the rows around a row."""
        count = 0
        for step in (-1, 1):
            printing = self._around(line, step)
            texts = (text for text in map(str.strip, _around(rows, row, step)) if text)
            pairs = zip(printing, texts, strict=False)
            count += sum(1 for _ in takewhile(lambda pair: self._weight(*pair), pairs))
        return count

    def _around(self, line: int, step: int) -> Iterator[int]:
        """Yield the next lines in a direction that print text of their own."""
        stop = len(self.lines) if step > 0 else -1
        own = (item for item in range(line + step, stop, step) if ACTION.sub("", self.lines[item]))
        return islice(own, NEIGHBOURS)


def _around(rows: Sequence[str], row: int, step: int) -> Iterator[str]:
    stop = len(rows) if step > 0 else -1
    return (rows[item] for item in range(row + step, stop, step))


def _made_of(parts: Sequence[str], text: str) -> bool:
    """Whether a text has the parts in this order, with the first and the last at its ends."""
    if not parts or not text.startswith(parts[0]):
        return False
    position = len(parts[0])
    for part in parts[1:-1]:
        position = text.find(part, position)
        if position < 0:
            return False
        position += len(part)
    return len(text) - position >= len(parts[-1]) and text.endswith(parts[-1])
