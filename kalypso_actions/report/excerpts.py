"""A line of a template, with a mark under the place of a problem."""

from __future__ import annotations

import re

from rich.cells import cell_len

from kalypso_actions.report.terminal_escaping import escape_line

WIDTH = 120
"""The most characters of a line; the excerpt of a longer line is a part around the place."""

_LINE_END = re.compile(r"\r\n|\r|\n")


def excerpt(text: str, line: int, column: int, number: int) -> str:
    """Return a line of `text`, numbered `number`, with `^` under `column`.

    Line and column count from 1. Without a column, `^` marks the whole line. Returns "" for a line
    that does not exist.
    """
    lines = _LINE_END.split(text)
    if not 0 < line <= len(lines):
        return ""
    content = lines[line - 1].replace("\t", " ").rstrip()
    start = min(column - 1, len(content)) if column else len(content) - len(content.lstrip())
    end = start + 1 if column else max(len(content), start + 1)
    cut = max(0, start - WIDTH // 2) if len(content) > WIDTH else 0
    visible = content[cut : cut + WIDTH]
    before = cell_len(escape_line(content[cut:start]))
    marked = cell_len(escape_line(content[start : min(end, cut + WIDTH)]))
    gutter = f"{number} | "
    pointer = f"{'| ':>{len(gutter)}}{' ' * before}{'^' * max(1, marked)}"
    return f"{gutter}{escape_line(visible)}\n{pointer}"
