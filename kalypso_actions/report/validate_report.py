"""The report of `kalypso validate`, for people."""

from __future__ import annotations

from typing import Final

from rich.console import Console
from rich.text import Text

from kalypso_actions.model.counts import counted
from kalypso_actions.report.documents import ValidateDocument
from kalypso_actions.report.finding_counts import finding_counts, hidden_counts
from kalypso_actions.report.terminal import (
    NO_FILES,
    Files,
    print_acknowledged,
    print_findings,
    print_notes,
    print_position,
)
from kalypso_actions.report.terminal_escaping import escape_log_line

UNCHECKED: Final = frozenset({"registration-unread", "templates-unchecked"})
"""Notes that always appear, because the result covers less than it seems."""


def print_validate(
    console: Console,
    document: ValidateDocument,
    files: Files = NO_FILES,
    *,
    with_notes: bool = False,
) -> None:
    """Print notes, warnings, problems, and the numbers of documents and branches."""
    if with_notes:
        print_notes(console, document.notes, files)
        print_acknowledged(console, document.acknowledged, files)
    print_findings(console, document.warnings, document.problems, files)
    for entry in document.main:
        print_position(console, entry)
    if behind := [entry.environment for entry in document.main if entry.ahead]:
        line = f"Later changes of main reach {' and '.join(behind)} by a promotion"
        console.print(Text(escape_log_line(line)), soft_wrap=True)
    checked = counted(document.documents, "document")
    branches = counted(len(document.sources), "branch", "branches")
    counts = finding_counts(document.problems, document.warnings)
    for note in document.notes:
        if note.code in UNCHECKED and not with_notes:
            line = escape_log_line(f"{note.message}; {note.advice}")
            console.print(Text(line), soft_wrap=True)
    rest = ", ".join((counts, *hidden_counts(document.notes, document.acknowledged)))
    more = ": --notes shows more" if rest != counts and not with_notes else ""
    console.print(f"{checked} of {branches}: {rest}{more}")
