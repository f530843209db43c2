"""The result of diff on a terminal."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from rich.console import Console
from rich.style import Style

from kalypso_actions.model.counts import counted
from kalypso_actions.report.diff_document import CommitRangeEntry, DiffDocument, DiffSideEntry
from kalypso_actions.report.diff_view import shown_diffs, styled
from kalypso_actions.report.documents import FileDiffEntry
from kalypso_actions.report.preview_text import SIGNS, STYLES, comparison_lines
from kalypso_actions.report.terminal_escaping import escape_log_line

_HEADING: Final = Style.parse("bold")
_COMMIT: Final = Style.parse("yellow")

MOST_LINES: Final = 200
"""Lines of each section; the JSON output has all."""


def diff_report(console: Console, document: DiffDocument, *, stat: bool) -> Iterator[str]:
    """Yield the lines: commits, documents, assignments, values, then diffs or their summary."""
    if document.base is None or document.head is None:
        return
    head = f"{_side(document.base)} → {_side(document.head)}"
    yield styled(console, escape_log_line(head), _HEADING)
    if not document.differs:
        yield _no_differences(document.base, document.head, deployed=document.deployed)
        return
    for item in document.commits:
        if item.base != item.head:
            yield from _commits(console, item)
    for heading, lines in _sections(document):
        if lines:
            yield from ("", styled(console, heading, _HEADING))
            for style, line in lines[:MOST_LINES]:
                chosen = Style.parse(style) if style else None
                yield f"  {styled(console, escape_log_line(line), chosen)}"
            if len(lines) > MOST_LINES:
                yield f"  … and {len(lines) - MOST_LINES} more; --output json lists all"
    diffs = [
        FileDiffEntry.of(file.path, file.change, file.diff or "")
        for file in document.comparison.files
    ]
    if diffs:
        yield ""
        yield from shown_diffs(console, diffs, stat=stat, lines=not stat)


def _no_differences(base: DiffSideEntry, head: DiffSideEntry, *, deployed: bool) -> str:
    """Return the message; the branches of two environments may differ in other ways."""
    if deployed or base.environment == head.environment:
        return "no differences"
    return (
        f"no differences: {base.environment} has everything of main that {head.environment} has. "
        "--deployed also shows what the branch of each sets itself"
    )


def _side(side: DiffSideEntry) -> str:
    commit = side.commit[:7] or "no commit of main"
    deployed = f" (GitOps branch at {side.gitops_commit[:7]})" if side.gitops_commit else ""
    return f"{side.environment} at {commit}{deployed}"


def _commits(console: Console, item: CommitRangeEntry) -> Iterator[str]:
    amount = "commits" if item.total is None else counted(item.total, "commit")
    back = counted(item.behind or 0, "commit goes back", "commits go back") if item.behind else ""
    amounts = [amount if item.total != 0 or not back else "", back]
    yield ""
    heading = f"{item.name}: {', '.join(filter(None, amounts))} ({item.base[:7]}..{item.head[:7]})"
    yield styled(console, escape_log_line(heading), _HEADING)
    for commit in item.commits[:MOST_LINES]:
        name = styled(console, commit.commit[:7], _COMMIT)
        yield f"  {name} {escape_log_line(commit.subject)}"
    more = (item.total or 0) - len(item.commits)
    if item.commits and more > 0:
        yield f"  … and {more} more"


def _sections(document: DiffDocument) -> Iterator[tuple[str, list[tuple[str, str]]]]:
    comparison = document.comparison
    yield (
        "documents",
        [
            (STYLES[item.change], f"{SIGNS[item.change]} {item.kind} {item.name}")
            for item in comparison.documents
        ],
    )
    others = comparison.model_copy(update={"files": (), "documents": ()})
    yield "assignments and values", list(comparison_lines(others))
