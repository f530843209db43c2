"""The command render."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import typer

from kalypso_actions.cli.command import Given
from kalypso_actions.cli.local_result import ReportedCommand
from kalypso_actions.cli.streams import show_paged, stderr, stdout
from kalypso_actions.commands.render import render as run_render
from kalypso_actions.commands.shared.local_context import LocalContext
from kalypso_actions.inputs.local import RenderInputs
from kalypso_actions.report.diff_document import shown_diffs
from kalypso_actions.report.render_document import (
    RenderDocument,
    print_render,
    print_render_findings,
    render_summary,
)
from kalypso_actions.report.terminal import Files


class Render(ReportedCommand[RenderInputs, RenderDocument]):
    """Compute the GitOps tree of one environment."""

    model, document = RenderInputs, RenderDocument
    title = "kalypso render"

    def compute_in(self, inputs: RenderInputs, context: LocalContext) -> RenderDocument:
        """Render."""
        return run_render(inputs, context)

    def echo(self, given: Given) -> Mapping[str, Any]:
        """Return the environment, and that nothing was compared."""
        return {"environment": given.get("environment", ""), "compared": False}

    def summary(self, document: RenderDocument) -> str:
        """Return the step summary."""
        return render_summary(document)

    def exit_code(self, inputs: RenderInputs, document: RenderDocument) -> int:
        """Return 1 for problems, and with --exit-code for differences."""
        return 1 if document.problems or (inputs.exit_code and document.diffs) else 0

    def show_findings(self, inputs: RenderInputs, document: RenderDocument, files: Files) -> None:
        """Print the tree, or its differences, and the findings."""
        with_notes = inputs.notes or inputs.verbose
        if inputs.diff or inputs.stat:
            console = stdout()
            if document.compared:
                diffs = shown_diffs(console, document.diffs, stat=inputs.stat, lines=inputs.diff)
                show_paged(console, diffs)
            print_render_findings(stderr(), document, files, with_notes=with_notes)
        else:
            print_render(stdout(), document, files, with_notes=with_notes)
        if document.problems:
            return
        if inputs.out:
            typer.echo(f"written to {inputs.out}")
        if inputs.commit_to:
            commit = document.commit
            typer.echo(f"committed as {commit}" if commit else "nothing to commit")
