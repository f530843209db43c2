"""The report of `kalypso validate`, for people."""

from __future__ import annotations

from rich.console import Console

from kalypso_actions.model.counts import counted
from kalypso_actions.report.documents import ValidateDocument
from kalypso_actions.report.positions import print_position
from kalypso_actions.report.terminal import (
    NO_FILES,
    Files,
    finding_counts,
    print_acknowledged,
    print_findings,
    print_notes,
    unshown,
)


def print_validate(
    console: Console, document: ValidateDocument, files: Files = NO_FILES, *, verbose: bool = False
) -> None:
    """Print notes, warnings, problems, and the numbers of documents and branches."""
    if verbose:
        print_notes(console, document.notes, files)
        print_acknowledged(console, document.acknowledged, files)
    print_findings(console, document.warnings, document.problems, files)
    for entry in document.main:
        print_position(console, entry)
    checked = counted(document.documents, "document")
    branches = counted(len(document.sources), "branch", "branches")
    counts = finding_counts(document.problems, document.warnings)
    rest = unshown(document.notes, document.acknowledged)
    console.print(f"{checked} of {branches}: {', '.join((counts, *rest))}")
