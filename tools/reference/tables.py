"""Markdown tables, and pages with generated sections."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from kalypso_actions.report import markdown

MARKED: Final = re.compile(
    r"(<!-- ([a-z -]+): made by make docs -->\n).*?(<!-- end -->)", re.DOTALL
)


def filled(page: str, sections: Mapping[str, str]) -> str:
    """Replace the marked sections of a page. Raises KeyError for an unknown mark."""
    return MARKED.sub(lambda mark: f"{mark[1]}\n{sections[mark[2]]}\n{mark[3]}", page)


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a Markdown table."""
    return markdown.table(head, ([_cell(text) for text in row] for row in rows)) + "\n"


def _cell(text: str) -> str:
    return text.replace("<", "&lt;").replace("|", "\\|")
