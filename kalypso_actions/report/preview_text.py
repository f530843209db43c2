"""A preview on a terminal."""

from __future__ import annotations

from collections.abc import Iterator

from rich.console import Console
from rich.text import Text

from kalypso_actions.model.counts import abbreviated, counted
from kalypso_actions.report.comparison_entries import (
    AssignmentNameEntry,
    ComparisonEntry,
    SetValueEntry,
)
from kalypso_actions.report.escaping import escape_log_line
from kalypso_actions.report.preview_documents import PreviewDocument, PreviewEnvironmentEntry
from kalypso_actions.report.preview_markdown import preview_headline
from kalypso_actions.report.terminal import (
    NO_FILES,
    Files,
    finding_counts,
    print_findings,
    print_notes,
)

MOST_LINES = 200
"""Lines of each list; the JSON output has all."""

STYLES = {"added": "green", "modified": "yellow", "deleted": "red"}
SIGNS = {"added": "+", "modified": "~", "deleted": "-"}


def print_preview(
    console: Console, document: PreviewDocument, files: Files = NO_FILES, *, verbose: bool = False
) -> None:
    """Print what changes in each environment, and the new findings; with `verbose`, the diffs."""
    for item in document.environments:
        _print_environment(console, item, verbose=verbose)
    print_notes(console, document.notes, files)
    print_findings(console, document.warnings, document.problems, files)
    known = [
        counted(number, name)
        for number, name in (
            (document.problems_known, "problem"),
            (document.warnings_known, "warning"),
        )
        if number
    ]
    rest = f"; of the base: {', '.join(known)}" if known else ""
    console.print(f"{preview_headline(document)}")
    console.print(f"new: {finding_counts(document.problems, document.warnings)}{rest}")


def _print_environment(console: Console, item: PreviewEnvironmentEntry, *, verbose: bool) -> None:
    console.print(Text(escape_log_line(f"{item.environment}{_when(item)}"), style="bold"))
    if not item.compared:
        console.print("  not compared")
    _print_comparison(console, item.change, verbose=verbose)
    arriving = item.arrival.comparison if item.arrival else None
    if item.arrival and arriving:
        commits = item.arrival.commits
        amount = counted(commits, "commit of main", "commits of main") if commits else "more"
        numbers = f"{counted(arriving.files_changed, 'file')} differ"
        console.print(f"  arrives there: {amount}; {numbers}")


def _when(item: PreviewEnvironmentEntry) -> str:
    if item.arrival is None:
        return ""
    if item.arrival.is_first:
        return " (first)"
    return f" (after {', '.join(item.arrival.after)})" if item.arrival.after else ""


def _print_comparison(console: Console, comparison: ComparisonEntry, *, verbose: bool) -> None:
    lines = list(comparison_lines(comparison))
    for style, line in lines[:MOST_LINES]:
        console.print(Text(f"  {escape_log_line(line)}", style=style), soft_wrap=True)
    if len(lines) > MOST_LINES:
        console.print(f"  … and {len(lines) - MOST_LINES} more lines", style="dim")
    if not lines:
        console.print("  nothing changes", style="dim")
    for file in comparison.files if verbose else ():
        for line in (file.diff or "").splitlines():
            console.print(Text(escape_log_line(line), style=_diff_style(line)), soft_wrap=True)


def comparison_lines(comparison: ComparisonEntry) -> Iterator[tuple[str, str]]:
    """Yield lines about assignments, values and files, each with its style."""
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


def _diff_style(line: str) -> str:
    return {"+": "green", "-": "red", "@": "cyan"}.get(line[:1], "")
