"""Print without trailing spaces, which a table or a wrapped paragraph leaves."""

from __future__ import annotations

from collections.abc import Sequence

from rich.cells import cell_len
from rich.console import Console, RenderableType
from rich.segment import Segment, Segments
from rich.table import Table
from rich.text import Text

BETWEEN_COLUMNS = 2


def print_trimmed(console: Console, renderable: RenderableType) -> None:
    """Print at the width of the console, and end each line after its last word."""
    segments: list[Segment] = []
    for line in console.render_lines(renderable, pad=False):
        while line and not line[-1].text.strip():
            line.pop()
        if line:
            text, style, control = line[-1]
            line[-1] = Segment(text.rstrip(), style, control)
        segments += [*line, Segment.line()]
    console.print(Segments(segments), end="")


def print_table(console: Console, headings: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Print a table, folding its cells where the console is too narrow.

    Rich takes as much time for a few thousand cells as a whole run without changes, so this joins
    columns that fit itself.
    """
    columns = zip(headings, *rows, strict=True)
    widths = [max(map(cell_len, column)) + BETWEEN_COLUMNS for column in columns]
    if sum(widths) - BETWEEN_COLUMNS <= console.width:
        console.print(Text(_line(headings, widths), "table.header"), soft_wrap=True)
        console.out("\n".join(_line(row, widths) for row in rows), highlight=False)
        return
    table = Table(box=None, pad_edge=False)
    for heading in headings:
        table.add_column(heading, overflow="fold")
    for row in rows:
        table.add_row(*map(Text, row))
    print_trimmed(console, table)


def _line(cells: Sequence[str], widths: Sequence[int]) -> str:
    pairs = zip(cells, widths, strict=True)
    padded = (cell + " " * (width - cell_len(cell)) for cell, width in pairs)
    return "".join(padded).rstrip()
