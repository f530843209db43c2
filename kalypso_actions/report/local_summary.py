"""The step summaries and outputs of `validate` and `render` in a job."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from kalypso_actions.model.counts import counted
from kalypso_actions.report import markdown
from kalypso_actions.report.change_counts import change_counts
from kalypso_actions.report.documents import RenderDocument, ValidateDocument
from kalypso_actions.report.finding_counts import finding_counts
from kalypso_actions.report.positions import position_text
from kalypso_actions.report.terminal import not_compared

OUTPUTS: Final[Mapping[str, str]] = {
    "problems": "The number of problems.",
    "warnings": "The number of warnings.",
}
"""The outputs of the action validate-workload."""


def validate_outputs(document: ValidateDocument) -> dict[str, str]:
    """Return the values of the outputs."""
    return {name: str(len(getattr(document, name))) for name in OUTPUTS}


def validate_summary(document: ValidateDocument) -> str:
    """Return the summary of validate."""
    headline = finding_counts(document.problems, document.warnings)
    checked = (
        f"{counted(document.documents, 'document')} of "
        f"{counted(len(document.sources), 'branch', 'branches')}."
    )
    parts = [
        f"## kalypso validate: {headline}",
        " ".join([checked, *(f"{markdown.text(position_text(main))}." for main in document.main)]),
        markdown.findings(document.warnings, document.problems),
        markdown.notes(document.notes),
    ]
    return "\n\n".join(part for part in parts if part)


def render_summary(document: RenderDocument) -> str:
    """Return the summary of render."""
    name = markdown.text(document.environment)
    if document.problems:
        headline = f"{name} has {counted(len(document.problems), 'problem')}"
    else:
        headline = f"{name} has {counted(len(document.assignments), 'assignment')}"
    counts = change_counts(document.changes, with_unchanged=True)
    manifests = counts if document.compared else markdown.text(not_compared(document.problems))
    facts = [f"Manifests: {manifests}."]
    if document.main:
        facts.insert(0, f"{markdown.text(position_text(document.main))}.")
    parts = [
        f"## kalypso render: {headline}",
        " ".join(facts),
        markdown.findings(document.warnings, document.problems),
        markdown.notes(document.notes),
    ]
    return "\n\n".join(part for part in parts if part)
