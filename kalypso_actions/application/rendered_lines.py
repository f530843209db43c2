"""Find the line of a template that made a line of its output."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from typing import Final

ACTION: Final = re.compile(r"\{\{[^{}]*\}\}")
MIN_TEXT: Final = 3
"""Characters besides actions without which a line of a template says nothing."""


@lru_cache(maxsize=4096)
def line_of_template(row: str, template: str) -> int:
    """Return the first line of a template whose text, apart from actions, is that of the row.

    0 if none is, as for a row that an included template or a value has made.
    """
    wanted = row.strip()
    if not wanted:
        return 0
    best, weight = 0, 0
    for number, line in enumerate(template.splitlines(), start=1):
        parts = [part.strip() for part in ACTION.split(line.strip())]
        length = sum(map(len, parts))
        if length < min(MIN_TEXT, len(wanted)) or length <= weight:
            continue
        if _made_of(parts, wanted) or wanted == line.strip():
            best, weight = number, length
    return best


def _made_of(parts: Sequence[str], text: str) -> bool:
    """Whether a text has the parts in this order, the first and the last at its ends."""
    if len(parts) == 1:
        return text == parts[0]
    if not text.startswith(parts[0]):
        return False
    position = len(parts[0])
    for part in parts[1:-1]:
        position = text.find(part, position)
        if position < 0:
            return False
        position += len(part)
    return len(text) - position >= len(parts[-1]) and text.endswith(parts[-1])
