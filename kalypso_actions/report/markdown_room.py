"""A page of Markdown with a limited size, cut between its blocks."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Final

from kalypso_actions.report import markdown

LEFT_OUT: Final = 300
"""Bytes that stay free for the sentence about omitted blocks."""


@dataclass(slots=True)
class MarkdownRoom:
    """Blocks of Markdown, as far as there is room for them; `left_out` counts the others."""

    size: int
    blocks: list[str] = field(default_factory=list)
    left_out: int = 0

    def add(self, block: str) -> None:
        """Add a block with the empty line before it, if it fits."""
        size = len(block.encode("utf-8", "replace")) + 2
        if not block:
            return
        if size > self.size:
            self.left_out += 1
            return
        self.size -= size
        self.blocks.append(block)

    def add_details(self, summary: str, blocks: Iterable[str], share: int) -> None:
        """Add a collapsed section of blocks that together need `share` bytes at most."""
        frame = len(markdown.details(summary, "").encode()) + LEFT_OUT
        inner = MarkdownRoom(min(share, self.size) - frame)
        for block in blocks:
            inner.add(block)
        if inner.left_out:
            inner.blocks.append(f"… and {inner.left_out} more, which do not fit here.")
        if inner.blocks:
            self.add(markdown.details(summary, "\n\n".join(inner.blocks)))
        self.left_out += inner.left_out
