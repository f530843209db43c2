"""The result of `kalypso validate`, for people."""

from __future__ import annotations

from rich.console import Console

from kalypso_actions.report.documents import ValidateDocument
from kalypso_actions.report.findings import print_findings


def print_validate(console: Console, document: ValidateDocument) -> None:
    """Warnings, problems, and what was checked."""
    print_findings(console, document.warnings, document.problems)
    checked = _counted(document.documents, "document")
    branches = _counted(len(document.sources), "branch", "branches")
    problems = _counted(len(document.problems), "problem")
    warnings = _counted(len(document.warnings), "warning")
    console.print(f"{checked} of {branches}: {problems}, {warnings}")


def _counted(count: int, one: str, many: str = "") -> str:
    return f"{count} {one if count == 1 else many or f'{one}s'}"
