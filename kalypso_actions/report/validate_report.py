"""The result of `kalypso validate`, for people."""

from __future__ import annotations

from rich.console import Console

from kalypso_actions.report.documents import ValidateDocument
from kalypso_actions.report.findings import print_findings


def print_validate(console: Console, document: ValidateDocument) -> None:
    """Warnings, problems, and what was checked."""
    print_findings(console, document.warnings, document.problems)
    console.print(
        f"{document.documents} documents of {len(document.sources)} branches: "
        f"{len(document.problems)} problems, {len(document.warnings)} warnings"
    )
