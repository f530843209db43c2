"""The command diff."""

from __future__ import annotations

from kalypso_actions.cli.local import LocalCommand, files_at_hand
from kalypso_actions.cli.streams import show_paged, stderr, stdout
from kalypso_actions.commands.diff import diff as run_diff
from kalypso_actions.commands.shared.local_context import LocalContext
from kalypso_actions.inputs.local import DiffInputs
from kalypso_actions.report.diff_document import DiffDocument, diff_report
from kalypso_actions.report.documents import finding_counts
from kalypso_actions.report.terminal import print_findings


class Diff(LocalCommand[DiffInputs, DiffDocument]):
    """Compare two environments, or two commits of one environment."""

    model, document = DiffInputs, DiffDocument

    def compute_in(self, inputs: DiffInputs, context: LocalContext) -> DiffDocument:
        """Compare."""
        return run_diff(inputs, context)

    def exit_code(self, inputs: DiffInputs, document: DiffDocument) -> int:
        """Return 1 for new problems, and with --exit-code for differences."""
        new = document.problems or document.comparison.problems
        return 1 if new or (inputs.exit_code and document.differs) else 0

    def show(self, inputs: DiffInputs, document: DiffDocument) -> None:
        """Print the differences, and to standard error the newer side's problems, no secrets."""
        show_paged(stdout(), diff_report(stdout(), document, stat=inputs.stat))
        findings = document.comparison.findings
        print_findings(stderr(), findings, files_at_hand(), with_lines=False)
        if findings:
            stderr().print(f"new: {finding_counts(findings)}")
