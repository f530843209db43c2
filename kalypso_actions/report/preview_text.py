"""A preview on a terminal."""

from __future__ import annotations

from collections.abc import Iterator

from rich.console import Console
from rich.style import Style
from rich.text import Text

from kalypso_actions.model.counts import abbreviated, counted
from kalypso_actions.model.differences import Change
from kalypso_actions.report.comparison_entries import (
    AssignmentNameEntry,
    ComparisonEntry,
    ValueChangeEntry,
)
from kalypso_actions.report.diff_view import diff_lines, styled
from kalypso_actions.report.documents import FileDiffEntry
from kalypso_actions.report.preview_documents import PreviewDocument, PreviewEnvironmentEntry
from kalypso_actions.report.preview_markdown import arriving_commits, preview_headline
from kalypso_actions.report.terminal import NO_FILES, Files, print_findings, print_notes
from kalypso_actions.report.terminal_escaping import escape_log_line

MOST_LINES = 200
"""The most lines of each list; the JSON output has all."""

LONGEST = 100
"""The most characters of a value."""

_HEADING = Style.parse("bold")
_NOTE = Style.parse("dim")
_BLOCKED = Style.parse("bold red")

STYLES = {"added": "green", "modified": "yellow", "deleted": "red"}
SIGNS = {"added": "+", "modified": "~", "deleted": "-"}


def preview_lines(console: Console, document: PreviewDocument, *, diffs: bool) -> Iterator[str]:
    """Yield the changes of each environment in the colours of the console; `diffs` adds diffs."""
    for item in document.environments:
        yield styled(console, escape_log_line(f"{item.environment}{_when(item)}"), _HEADING)
        yield from _environment(console, item)
        yield ""
        if diffs:
            yield from _section(_diffs(console, item.change))
            arriving = item.arrival.comparison if item.arrival else None
            if item.arrival and arriving:
                amount = f"arrives in {item.environment}: {arriving_commits(item.arrival)}"
                yield styled(console, escape_log_line(amount), _HEADING)
                for each in item.arrival.newest:
                    yield f"  {each.commit[:7]} {escape_log_line(each.subject)}"
                yield from _section(_lines(console, arriving))
                yield from _section(_diffs(console, arriving))


def _section(lines: Iterator[str]) -> Iterator[str]:
    """Yield the lines, and an empty line after them."""
    line = None
    for line in lines:
        yield line
    if line is not None:
        yield ""


def print_preview_findings(
    console: Console, document: PreviewDocument, files: Files = NO_FILES
) -> None:
    """Print the limits of the comparison, the new findings, and the result in a line.

    This shows no lines of files, because the files on this machine may have secrets.
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
    if item.blocked:
        yield styled(console, "  blocked: nothing arrives before its problems are fixed", _BLOCKED)
    arriving = item.arrival.comparison if item.arrival else None
    if item.arrival and arriving:
        files = counted(arriving.files_changed, "changed file")
        yield f"  arrives: {arriving_commits(item.arrival)}, {files}"


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
    if item.added:
        return " (added)"
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
        yield from _value_lines(change)
    for file in comparison.files:
        yield STYLES[file.change], f"{SIGNS[file.change]} {file.path}"


def _name(entry: AssignmentNameEntry) -> str:
    return f"{entry.cluster_type}/{entry.target}"


def _value_lines(change: ValueChangeEntry) -> Iterator[tuple[str, str]]:
    sides = [side for side in (change.before, change.after) if side]
    kind: Change = "modified" if len(sides) == 2 else "added" if change.after else "deleted"
    values = " → ".join(_short(side.value) for side in sides)
    yield STYLES[kind], f"{SIGNS[kind]} {_short(change.key)}: {values}"
    places = [side.where for side in reversed(sides) if side.where]
    where = f"{places[0].path}:{places[0].line}, " if places else ""
    names = abbreviated([_name(name) for name in change.assignments], 1)
    yield "dim", f"    {where}for {names}"


def _short(text: str) -> str:
    return text if len(text) <= LONGEST else f"{text[:LONGEST]}…"
