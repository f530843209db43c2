"""The differences, and their document."""

from __future__ import annotations

from dataclasses import dataclass

from kalypso_actions.comparison import unified_diff
from kalypso_actions.model.differences import CommitRange, MaskedComparison
from kalypso_actions.report.comparison_entries import ComparisonEntry
from kalypso_actions.report.diff_document import CommitRangeEntry, DiffDocument, DiffSideEntry


@dataclass(frozen=True, slots=True)
class Difference:
    """The differences between `base` and `head`, without secrets."""

    environment: str
    base: DiffSideEntry
    head: DiffSideEntry
    commits: tuple[CommitRange, ...]
    comparison: MaskedComparison
    deployed: bool = False

    def document(self) -> DiffDocument:
        """Return the document."""
        return DiffDocument(
            environment=self.environment,
            deployed=self.deployed,
            base=self.base,
            head=self.head,
            commits=CommitRangeEntry.all_of(self.commits),
            comparison=ComparisonEntry.of(
                self.comparison, {file.path: unified_diff(file) for file in self.comparison.files}
            ),
        )
