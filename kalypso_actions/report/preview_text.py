"""A preview on a terminal."""

from __future__ import annotations

from collections.abc import Iterator

from rich.console import Console
from rich.style import Style
from rich.text import Text

from kalypso_actions.model.counts import abbreviated, counted
from kalypso_actions.report.comparison_entries import (
    AssignmentNameEntry,
    ComparisonEntry,
    SetValueEntry,
)
from kalypso_actions.report.diff_view import diff_lines, styled
from kalypso_actions.report.documents import FileDiffEntry
from kalypso_actions.report.escaping import escape_log_line
from kalypso_actions.report.preview_documents import PreviewDocument, PreviewEnvironmentEntry
from kalypso_actions.report.preview_markdown import preview_headline
from kalypso_actions.report.terminal import (
    NO_FILES,
    Files,
    print_findings,
    print_notes,
)

MOST_LINES = 200
"""Lines of each list; the JSON output has all."""

_HEADING = Style.parse("bold")
_NOTE = Style.parse("dim")

STYLES = {"added": "green", "modified": "yellow", "deleted": "red"}
SIGNS = {"added": "+", "modified": "~", "deleted": "-"}


def preview_lines(console: Console, document: PreviewDocument, *, diffs: bool) -> Iterator[str]:
    """Yield what changes in each environment, as coloured as the console; `diffs`: and how."""
    for item in document.environments:
        yield styled(console, escape_log_line(f"{item.environment}{_when(item)}"), _HEADING)
        yield from _environment(console, item)
        if diffs:
            yield from _diffs(console, item.change)
            arriving = item.arrival.comparison if item.arrival else None
            if arriving:
                yield styled(console, escape_log_line(f"arrives in {item.environment}"), _HEADING)
                for each in item.arrival.newest if item.arrival else ():
                    yield f"  {each.commit[:7]} {escape_log_line(each.subject)}"
                yield from _lines(console, arriving)
                yield from _diffs(console, arriving)


def print_preview_findings(
    console: Console, document: PreviewDocument, files: Files = NO_FILES
) -> None:
    """Print what was not compared, the new findings, and the result in a line.

    The lines of files stay out: the files at hand have secrets.
    """
    print_notes(console, document.notes, files, with_lines=False)
    print_findings(console, document.warnings, document.problems, files, with_lines=False)
    known = [
        counted(number, name)
        for number, name in (
            (document.problems_known, "problem"),
            (document.warnings_known, "warning"),
        )
        if number
    ]
    rest = f"; of the base: {', '.join(known)}" if known else ""
    console.print(Text(f"{preview_headline(document)}{rest}"), soft_wrap=True)


def _environment(console: Console, item: PreviewEnvironmentEntry) -> Iterator[str]:
    if item.compared:
        yield from _lines(console, item.change)
    else:
        yield "  not compared"
    arriving = item.arrival.comparison if item.arrival else None
    if item.arrival and arriving:
        commits = item.arrival.commits
        amount = (
            counted(commits, "commit of main", "commits of main") if commits else "more of main"
        )
        yield f"  arrives with {amount}: {counted(arriving.files_changed, 'changed file')}"


def _lines(console: Console, comparison: ComparisonEntry) -> Iterator[str]:
    lines = list(comparison_lines(comparison))
    if not lines:
        yield styled(console, "  nothing changes", _NOTE)
    for style, line in lines[:MOST_LINES]:
        chosen = Style.parse(style) if style else None
        yield f"  {styled(console, escape_log_line(line), chosen)}"
    if len(lines) > MOST_LINES:
        yield f"  … and {len(lines) - MOST_LINES} more; --output json lists all"


def _diffs(console: Console, comparison: ComparisonEntry) -> Iterator[str]:
    return diff_lines(
        console,
        (
            FileDiffEntry(
                path=file.path, change=file.change, insertions=0, deletions=0, diff=file.diff
            )
            for file in comparison.files
            if file.diff
        ),
    )


def _when(item: PreviewEnvironmentEntry) -> str:
    if item.removed:
        return " (removed; nothing deletes the files of its GitOps branch)"
    if item.arrival is None:
        return ""
    if item.arrival.is_first:
        return " (first)"
    return f" (after {', '.join(item.arrival.after)})" if item.arrival.after else ""


def comparison_lines(comparison: ComparisonEntry) -> Iterator[tuple[str, str]]:
    """Yield lines about documents, assignments, values and files, each with its style."""
    for document in comparison.documents:
        yield STYLES[document.change], f"{SIGNS[document.change]} {document.kind} {document.name}"
    for entry in comparison.assignments_added:
        yield "green", f"+ assignment {_name(entry)}"
    for entry in comparison.assignments_removed:
        yield "red", f"- assignment {_name(entry)}"
    for change in comparison.values:
        sides = f"{_value(change.before)} → {_value(change.after)}"
        places = [side.where for side in (change.after, change.before) if side and side.where]
        where = f" ({places[0].path}:{places[0].line})" if places else ""
        names = abbreviated([_name(name) for name in change.assignments])
        yield "", f"{change.key}: {sides}{where}, for {names}"
    for file in comparison.files:
        yield STYLES[file.change], f"{SIGNS[file.change]} {file.path}"
    for item in comparison.withheld:
        yield "dim", f"not shown: {counted(item.files, 'file')} of {item.repository}"


def _name(entry: AssignmentNameEntry) -> str:
    return f"{entry.cluster_type}/{entry.target}"


def _value(side: SetValueEntry | None) -> str:
    return "–" if side is None else side.value
