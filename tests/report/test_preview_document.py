"""A comparison in Markdown, whose long parts are cut."""

from __future__ import annotations

from kalypso_actions.model.differences import (
    AssignmentName,
    Comparison,
    MaskedComparison,
    SetValue,
    ValueChange,
)
from kalypso_actions.report.comparison_entries import ComparisonEntry, FileChangeEntry
from kalypso_actions.report.markdown import MarkdownRoom
from kalypso_actions.report.preview_document import MOST_LINES, add_comparison, value_table


def test_a_long_diff_leaves_room_for_others() -> None:
    long = "".join(f"+line {number}\n" for number in range(MOST_LINES + 7))
    files = [
        FileChangeEntry(path=f"large/a/{name}.yaml", change="added", diff=diff)
        for name, diff in (("long", long), ("short", "+short\n"))
    ]
    room = MarkdownRoom(20_000)
    add_comparison(room, ComparisonEntry(files=tuple(files)), room.size)
    page = "\n".join(room.blocks)
    assert f"+line {MOST_LINES - 1}\n```\n\n… and 7 more lines: the artifact" in page
    assert "+short" in page
    assert page.count("<details>") == page.count("</details>") == 3


def test_values_that_differ_for_a_whole_fleet() -> None:
    """Each of 40 values would name each of 100,000 assignments, in gigabytes."""
    names = tuple(AssignmentName("dev", f"store-{number:06}", "shop") for number in range(100_000))
    values = tuple(
        ValueChange((f"KEY_{number}",), names, None, SetValue("x", None)) for number in range(40)
    )
    comparison = ComparisonEntry.of(MaskedComparison(Comparison("dev", values=values)), {})
    assert len(comparison.to_json()) < 10_000_000
    first = comparison.values[0]
    assert len(first.assignments) + first.more_assignments == 100_000
    table = value_table(comparison.values[:1])
    assert "`store-000000/shop, store-000001/shop and 99998 more`" in table
