"""The output of `kalypso validate`: its document, its text, and its step summary."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from pydantic import Field
from rich.console import Console

from kalypso_actions.model.counts import counted
from kalypso_actions.report import markdown
from kalypso_actions.report.documents import (
    AcknowledgedEntry,
    OutputDocument,
    PositionEntry,
    ProblemEntry,
    SourceEntry,
    finding_counts,
    finding_verdict,
    hidden_counts,
)
from kalypso_actions.report.terminal import NO_FILES, Files, print_findings, print_line

UNCHECKED: Final = frozenset({"environment-unjudged", "registration-unread", "templates-unchecked"})
"""Notes that always appear, because the result covers less than it seems."""

OF_GITOPS_TREES: Final = (
    *("gitops-branch-unreadable", "gitops-file-foreign", "gitops-path-blocked"),
    *("gitops-path-misplaced", "mass-removal"),
)
"""The codes of findings that need the trees of GitOps repositories."""

OUTPUTS: Final[Mapping[str, str]] = {
    "problems": "The number of problems.",
    "warnings": "The number of warnings.",
}
"""The outputs of the action validate-workload."""


class ValidateDocument(OutputDocument):
    """The output of `kalypso validate --output json`; `warnings_fail` with `--strict`.

    `not_checked` are the codes of findings that need what the run has not read.
    """

    schema_name: str = Field("kalypso.validate/v1", alias="schema")
    sources: tuple[SourceEntry, ...] = ()
    main: tuple[PositionEntry, ...] = ()
    documents: int = 0
    warnings_fail: bool = False
    not_checked: tuple[str, ...] = ()
    notes: tuple[ProblemEntry, ...] = ()
    acknowledged: tuple[AcknowledgedEntry, ...] = ()
    warnings: tuple[ProblemEntry, ...] = ()
    problems: tuple[ProblemEntry, ...] = ()

    @property
    def checked(self) -> str:
        """The numbers of documents and branches."""
        branches = counted(len(self.sources), "branch", "branches")
        return f"{counted(self.documents, 'document')} of {branches}"


def validate_outputs(document: ValidateDocument) -> dict[str, str]:
    """Return the values of the outputs."""
    return {name: str(len(getattr(document, name))) for name in OUTPUTS}


def print_validate(
    console: Console,
    document: ValidateDocument,
    files: Files = NO_FILES,
    *,
    with_notes: bool = False,
) -> None:
    """Print notes, warnings, problems, and the numbers of documents and branches."""
    print_findings(console, document.all_findings if with_notes else document.findings, files)
    for entry in document.main:
        print_line(console, entry.text)
    if behind := [entry.environment for entry in document.main if entry.ahead]:
        print_line(console, f"Later changes of main reach {' and '.join(behind)} by a promotion")
    for note in document.notes:
        if note.code in UNCHECKED and not with_notes:
            print_line(console, f"{note.message}; {note.advice}")
    if document.not_checked and with_notes:
        codes = ", ".join(document.not_checked)
        print_line(console, f"not checked without the GitOps repositories, as render does: {codes}")
    hidden = hidden_counts(document.all_findings)
    more = f", {hidden}" if hidden else ""
    more += ": --notes shows more" if hidden and not with_notes else ""
    console.print(f"{document.checked}: {finding_verdict(document)}{more}")


def validate_summary(document: ValidateDocument) -> str:
    """Return the step summary."""
    sentences = [document.checked, *(markdown.text(entry.text) for entry in document.main)]
    parts = [
        f"## kalypso validate: {finding_counts(document.findings)}",
        " ".join(f"{sentence}." for sentence in sentences),
        markdown.findings(document.all_findings),
    ]
    return "\n\n".join(filter(None, parts))
