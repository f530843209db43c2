"""The assignments of an environment as a small table, for step summaries."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from kalypso_actions.model.counts import counted
from kalypso_actions.report import markdown

MOST_ROWS: Final = 30
MOST_COLUMNS: Final = 12


@dataclass(frozen=True, slots=True)
class AssignmentCell:
    """An assignment; `failed` means that it has no files."""

    target: str
    workspace: str
    cluster_type: str
    failed: bool = False


def assignment_matrix(cells: Sequence[AssignmentCell]) -> str:
    """Return a collapsed table: a row per target, or per workspace; a column per cluster type.

    Rows are workspaces if there are too many targets. Returns "" without assignments, and for a
    fleet that is too large for either table.
    """
    columns = sorted({cell.cluster_type for cell in cells})
    targets = {cell.target: cell.target for cell in cells}
    workspaces = {cell.target: cell.workspace for cell in cells}
    for noun, row_of in (("Target", targets), ("Workspace", workspaces)):
        rows = sorted(set(row_of.values()))
        if not rows or len(rows) > MOST_ROWS or len(columns) > MOST_COLUMNS:
            continue
        total = Counter((row_of[cell.target], cell.cluster_type) for cell in cells)
        failed = Counter((row_of[cell.target], cell.cluster_type) for cell in cells if cell.failed)
        by_target = row_of is targets
        lines = [
            [
                markdown.code(row),
                *(_cell(total[row, name], failed[row, name], by_target) for name in columns),
            ]
            for row in rows
        ]
        head = [noun, *map(markdown.code, columns)]
        title = f"{counted(len(cells), 'assignment')} on {counted(len(columns), 'cluster type')}"
        return markdown.details(title, markdown.table(head, lines))
    return ""


def _cell(total: int, failed: int, by_target: bool) -> str:
    if not total:
        return ""
    if by_target:
        return "✗" if failed else "✓"
    return f"{total} ({failed} ✗)" if failed else str(total)
