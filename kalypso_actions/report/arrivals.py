"""A pull request's sections about its content: commits, assignments, configuration values."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from kalypso_actions.model.counts import counted
from kalypso_actions.model.differences import (
    CommitRange,
    MaskedComparison,
)
from kalypso_actions.report import markdown
from kalypso_actions.report.comparison_entries import ComparisonEntry
from kalypso_actions.report.comparison_markdown import value_table

MOST_ROWS: Final = 50
LONGEST: Final = 120
"""The most characters of a subject."""


def arrival_sections(
    commits: Sequence[CommitRange], comparison: MaskedComparison | None
) -> Iterator[str]:
    """Yield the sections; none if nothing arrives."""
    for item in commits:
        if item.total is not None:
            yield _commits(item)
    others = [markdown.code(item.name) for item in commits if item.total is None]
    if others:
        yield f"**Other commits** of {', '.join(markdown.some(others, MOST_ROWS))}"
    if comparison:
        yield from _assignments(comparison)
        yield from _values(comparison)


def _commits(item: CommitRange) -> str:
    span = f"{markdown.code(item.base[:7])} → {markdown.code(item.head[:7])}"
    if item.url:
        span += f", {markdown.link('compare', item.url)}"
    lines = [f"**{_count(item)}** of {markdown.code(item.name)} ({span})"]
    if item.commits:
        lines.append("")
        for commit in item.commits:
            page = markdown.link(commit.commit[:7], commit.url)
            lines.append(f"- {page} {markdown.text(_cut(commit.subject))}")
        more = (item.total or 0) - len(item.commits)
        lines += [f"- … and {counted(more, 'older commit')}"] if more > 0 else []
    return "\n".join(lines)


def _count(item: CommitRange) -> str:
    total = item.total or 0
    if not item.behind:
        return counted(total, "commit")
    back = f"back by {counted(item.behind, 'commit')}"
    came = f"{counted(total, 'commit')} forward, " if total else ""
    return f"{came}{back}".capitalize()


def _assignments(comparison: MaskedComparison) -> Iterator[str]:
    for word, names in (
        ("added", comparison.assignments_added),
        ("removed", comparison.assignments_removed),
    ):
        if names:
            lines = [markdown.code(name.folder) for name in names]
            items = "\n".join(f"- {line}" for line in markdown.some(lines, MOST_ROWS))
            summary = f"{counted(len(names), 'assignment')} {word}"
            yield markdown.details(summary, items)


def _values(comparison: MaskedComparison) -> Iterator[str]:
    withheld = sum(item.values for item in comparison.withheld)
    if comparison.values:
        entries = ComparisonEntry.of(comparison, {}).values
        table = value_table(entries[:MOST_ROWS])
        more = len(entries) - MOST_ROWS
        table += f"\n\n… and {counted(more, 'more value')}" if more > 0 else ""
        count = counted(len(entries), "configuration value")
        yield markdown.details(f"{count} changed", table)
    if withheld:
        count = counted(withheld, "configuration value")
        yield f"{count} changed in repositories that are less visible than this one."


def _cut(text: str) -> str:
    return text if len(text) <= LONGEST else f"{text[:LONGEST]}…"
