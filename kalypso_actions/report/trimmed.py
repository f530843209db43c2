"""Print without trailing spaces, which a table or a wrapped paragraph leaves."""

from __future__ import annotations

from rich.console import Console, RenderableType
from rich.segment import Segment, Segments


def print_trimmed(console: Console, renderable: RenderableType) -> None:
    """Print, as wide as the console, and end each line after its last word."""
    segments: list[Segment] = []
    for line in console.render_lines(renderable, pad=False):
        while line and not line[-1].text.strip():
            line.pop()
        if line:
            text, style, control = line[-1]
            line[-1] = Segment(text.rstrip(), style, control)
        segments += [*line, Segment.line()]
    console.print(Segments(segments), end="")
