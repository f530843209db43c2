"""A comparison in a comment or a step summary: targets, values, diffs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Final

from kalypso_actions.model.counts import abbreviated, counted
from kalypso_actions.report import markdown
from kalypso_actions.report.comparison_entries import (
    ComparisonEntry,
    SetValueEntry,
    ValueChangeEntry,
)
from kalypso_actions.report.documents import CHANGES, Where
from kalypso_actions.report.escaping import shortened
from kalypso_actions.report.markdown import MarkdownRoom

MOST_ROWS: Final = 25
MOST_CHARACTERS: Final = 80
MOST_LINES: Final = 200
"""The most lines of a diff, which leaves room for other diffs. The artifact has all."""


def add_comparison(room: MarkdownRoom, comparison: ComparisonEntry, share: int) -> None:
    """Add the documents, the table of targets, and collapsed values and diffs."""
    end = room.size - share
    documents = [
        [
            f"{markdown.text(item.kind)} {_code(item.name)}",
            item.change,
            _place(item.where) if item.where else "",
        ]
        for item in comparison.documents
    ]
    room.add(_table(("Document", "Change", "Place"), documents))
    rows = list(_target_rows(comparison))
    is_scheduled = comparison.assignments_added or comparison.assignments_removed
    head = ("Cluster type", "Target", "Files", *(["Assignment"] if is_scheduled else []))
    room.add(_table(head, [row[: len(head)] for row in rows]))
    if comparison.values:
        values = [
            value_table(comparison.values[start : start + MOST_ROWS])
            for start in range(0, len(comparison.values), MOST_ROWS)
        ]
        title = counted(len(comparison.values), "configuration value")
        room.add_details(title, values, (room.size - end) // 2)
    diffs = (_diff(file.path, file.change, file.diff) for file in comparison.files)
    title = f"Diffs of {counted(len(comparison.files), 'file')}"
    room.add_details(title, diffs, room.size - end)


def _table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Format the first rows as a table, with the number of omitted rows; "" for no rows."""
    if not rows:
        return ""
    more = f"\n\n… and {len(rows) - MOST_ROWS} more" if len(rows) > MOST_ROWS else ""
    return markdown.table(head, rows[:MOST_ROWS]) + more


def _target_rows(comparison: ComparisonEntry) -> Iterator[list[str]]:
    assignments = {
        (name.cluster_type, name.target): state
        for state, names in (
            ("added", comparison.assignments_added),
            ("removed", comparison.assignments_removed),
        )
        for name in names
    }
    counts: dict[tuple[str, str], Counter[str]] = {key: Counter() for key in assignments}
    for file in comparison.files:
        cluster_type, _, rest = file.path.partition("/")
        target = rest.rpartition("/")[0]
        counts.setdefault((cluster_type, target), Counter())[file.change] += 1
    for (cluster_type, target), changes in sorted(counts.items()):
        files = ", ".join(f"{changes[change]} {change}" for change in CHANGES if changes[change])
        state = assignments.get((cluster_type, target), "")
        name = markdown.code(target) if target else "–"
        yield [markdown.code(cluster_type), name, files or "–", f"**{state}**" if state else "–"]


def value_table(changes: Sequence[ValueChangeEntry]) -> str:
    """Format the values that differ, with the layers that set them."""
    head = ("Value", "Before", "After", "Set in", "Assignments")
    return markdown.table(head, map(_value_row, changes))


def _value_row(change: ValueChangeEntry) -> list[str]:
    places = [side.where for side in (change.after, change.before) if side and side.where]
    return [
        _code(change.key),
        _value(change.before),
        _value(change.after),
        _place(places[0]) if places else "",
        _names(change),
    ]


def _place(where: Where) -> str:
    file = _code(f"{where.path}:{where.line}")
    url = markdown.permalink(where)
    branch = f" on {_code(where.branch)}" if where.branch else ""
    return f"{f'[{file}]({url})' if url else file}{branch}"


def _value(side: SetValueEntry | None) -> str:
    return "–" if side is None else _code(side.value)


def _names(change: ValueChangeEntry) -> str:
    names = [name.text for name in change.assignments]
    return _code(abbreviated(names, 2, change.more_assignments))


def _code(text: str) -> str:
    return markdown.code(shortened(text, MOST_CHARACTERS))


def _diff(path: str, change: str, diff: str | None) -> str:
    if not diff:  # outside of <summary>, GitHub reads Markdown even next to HTML
        return f"{markdown.code(path)}: {change}"
    title = f"<code>{markdown.html_text(path)}</code>: {change}"
    lines = diff.rstrip("\n").split("\n")
    text = markdown.block("\n".join(lines[:MOST_LINES]), "diff")
    if len(lines) > MOST_LINES:
        more = counted(len(lines) - MOST_LINES, "more line")
        text += f"\n\n… and {more}: the artifact of the run has all"
    return markdown.details(title, text)


def withheld_numbers(comparison: ComparisonEntry) -> Iterator[str]:
    """Yield a sentence for each repository whose content is not shown."""
    for withheld in comparison.withheld:
        numbers = [
            counted(number, word)
            for number, word in (
                (withheld.assignments, "assignment"),
                (withheld.files, "file"),
                (withheld.values, "value"),
                (withheld.problems, "problem"),
                (withheld.warnings, "warning"),
            )
            if number
        ]
        repository = markdown.code(markdown.HOST.sub("", withheld.repository))
        yield f"Not shown: {', '.join(numbers)} of {repository}, which fewer people may read."
