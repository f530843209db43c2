"""The command explain."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from kalypso_actions.cli.command import Given
from kalypso_actions.cli.local import LocalCommand, files_at_hand
from kalypso_actions.cli.streams import show_paged, stderr, stdout
from kalypso_actions.commands.explain import explain as run_explain
from kalypso_actions.commands.shared.local_context import LocalContext
from kalypso_actions.inputs.local import ExplainInputs
from kalypso_actions.report.documents import finding_counts
from kalypso_actions.report.explain_document import ExplainDocument, ExplainReport
from kalypso_actions.report.terminal import print_findings


class Explain(LocalCommand[ExplainInputs, ExplainDocument]):
    """Explain an environment: who selects a pair, who set a value, what made a file."""

    model, document = ExplainInputs, ExplainDocument
    doing = "reading"

    def compute_in(self, inputs: ExplainInputs, context: LocalContext) -> ExplainDocument:
        """Explain."""
        return run_explain(inputs, context)

    def echo(self, given: Given) -> Mapping[str, Any]:
        """Return the environment."""
        return {"environment": given.get("environment", "")}

    def show(self, inputs: ExplainInputs, document: ExplainDocument) -> None:
        """Print the explanation, and to standard error the findings."""
        files = files_at_hand(inputs.source)
        show_paged(stdout(), ExplainReport(stdout(), document, files).lines())
        findings, verbose = document.findings, inputs.verbose
        shown = (each for each in findings if verbose or each.level == "error")
        print_findings(stderr(), shown, files)
        if findings:
            hidden = ": --verbose shows them" if document.warnings and not verbose else ""
            stderr().print(f"{finding_counts(findings)}{hidden}")
