"""The pipeline as a Mermaid diagram, for step summaries."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Literal

from kalypso_actions.report import markdown
from kalypso_actions.report.escaping import escape_line

MOST_NODES: Final = 30
"""A larger diagram is no help, and Mermaid refuses very large ones."""

MAIN: Final = ""
"""The node of main: no environment has this name."""

Mark = Literal["", "done", "failed", "active"]

STYLES: Final[dict[Mark, str]] = {
    "done": "stroke:#2da44e,stroke-width:3px",
    "failed": "stroke:#cf222e,stroke-width:3px",
    "active": "stroke:#bf8700,stroke-width:3px",
}
"""The colours of borders only: GitHub chooses the other colours by the reader's theme."""

SAFE: Final = re.compile(r"[^\w ./-]", re.ASCII)


@dataclass(frozen=True, slots=True)
class PipelineNode:
    """Main (`MAIN`) or an environment by its name, with a line of text and a mark."""

    name: str
    text: str = ""
    mark: Mark = ""


def pipeline_diagram(nodes: Sequence[PipelineNode], arrows: Sequence[tuple[str, str]]) -> str:
    """Return the nodes with the arrows between them, as Markdown; "" for too many, or no arrow."""
    ids = {node.name: f"n{number}" for number, node in enumerate(nodes)}
    edges = [
        f"  {ids[start]} --> {ids[end]}" for start, end in arrows if {start, end} <= ids.keys()
    ]
    if not edges or len(nodes) > MOST_NODES:
        return ""
    lines = ["flowchart LR", "  accTitle: From main through the environments"]
    for node in nodes:
        parts = (node.name or "main", node.text)
        words = "<br/>".join(_label(part) for part in parts if part)
        lines.append(f'  {ids[node.name]}["{words}"]')
    lines += edges
    for mark, style in STYLES.items():
        marked = [ids[node.name] for node in nodes if node.mark == mark]
        if marked:
            lines += [f"  classDef {mark} {style}", f"  class {','.join(marked)} {mark}"]
    return markdown.block("\n".join(lines), "mermaid")


def _label(words: str) -> str:
    """Write all but plain characters as Mermaid's codes, so that no text becomes syntax."""
    line = " ".join(escape_line(words.replace("\n", " ")).split())
    return SAFE.sub(lambda match: f"#{ord(match[0])};", line)
