"""The numbers of findings in words."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from kalypso_actions.model.counts import counted
from kalypso_actions.report.documents import ProblemEntry


def finding_counts(problems: Sequence[ProblemEntry], warnings: Sequence[ProblemEntry]) -> str:
    """Return `1 problem, 2 warnings`."""
    return f"{counted(len(problems), 'problem')}, {counted(len(warnings), 'warning')}"


def hidden_counts(
    notes: Sequence[ProblemEntry], acknowledged: Sequence[ProblemEntry]
) -> Iterator[str]:
    """Yield the numbers of findings that only `--notes` and `--verbose` show."""
    if notes:
        yield counted(len(notes), "note")
    if acknowledged:
        yield f"{counted(len(acknowledged), 'warning')} acknowledged"
