"""A preview on a terminal."""

from __future__ import annotations

from collections.abc import Iterator

from rich.console import Console
from rich.text import Text

from kalypso_actions.model.counts import counted
from kalypso_actions.report.comparison_entries import ComparisonEntry, comparison_lines
from kalypso_actions.report.diff_document import capped, diff_lines
from kalypso_actions.report.documents import FileDiffEntry
from kalypso_actions.report.escaping import escape_log_line
from kalypso_actions.report.preview_document import (
    PreviewDocument,
    PreviewEnvironmentEntry,
    arriving_commits,
    known_findings,
    preview_headline,
)
from kalypso_actions.report.terminal import NO_FILES, Files, print_findings, styled


def preview_lines(console: Console, document: PreviewDocument, *, diffs: bool) -> Iterator[str]:
    """Yield the changes of each environment in the colours of the console; `diffs` adds diffs."""
    for item in document.environments:
        yield styled(console, f"{item.environment}{_when(item)}", "bold")
        yield from _environment(console, item)
        yield ""
        if diffs:
            yield from _section(_diffs(console, item.change))
            arriving = item.arrival.comparison if item.arrival else None
            if item.arrival and arriving:
                amount = f"arrives in {item.environment}: {arriving_commits(item.arrival)}"
                yield styled(console, amount, "bold")
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
    listed = (finding for finding in document.all_findings if not finding.reason)
    print_findings(console, listed, files, with_lines=False)
    known = known_findings(document)
    rest = f"; of the base: {', '.join(known)}" if known else ""
    console.print(Text(f"{preview_headline(document)}{rest}"), soft_wrap=True)


def _environment(console: Console, item: PreviewEnvironmentEntry) -> Iterator[str]:
    if item.compared:
        yield from _lines(console, item.change)
    else:
        yield "  not compared"
    if item.blocked:
        yield styled(
            console, "  blocked: nothing arrives before its problems are fixed", "bold red"
        )
    if item.waiting_for:
        yield styled(console, f"  waits: {escape_log_line(item.waiting_for)}", "yellow")
    for line in item.idle:
        yield styled(console, f"  {line}", "yellow")
    arriving = item.arrival.comparison if item.arrival else None
    if item.arrival and arriving:
        files = counted(arriving.files_changed, "changed file")
        yield f"  arrives: {arriving_commits(item.arrival)}, {files}"


def _lines(console: Console, comparison: ComparisonEntry) -> Iterator[str]:
    lines = list(comparison_lines(comparison))
    if not lines:
        yield styled(console, "  nothing changes", "dim")
    yield from capped(console, lines)


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
