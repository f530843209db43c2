"""A comparison in Markdown, whose long parts are cut."""

from __future__ import annotations

from kalypso_actions.report.comparison_entries import ComparisonEntry, FileChangeEntry
from kalypso_actions.report.comparison_markdown import MOST_LINES, add_comparison
from kalypso_actions.report.markdown import MarkdownRoom


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
