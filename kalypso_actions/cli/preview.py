"""The command preview: in a job as part of the chain, on a person's machine in a clone."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any, NoReturn

import typer

from kalypso_actions.cli.command import Given
from kalypso_actions.cli.job import run_in_job
from kalypso_actions.cli.local import LocalCommand, files_at_hand
from kalypso_actions.cli.streams import show_paged, stdout
from kalypso_actions.commands.preview import preview_clone
from kalypso_actions.commands.registry import COMMANDS
from kalypso_actions.commands.shared.local_context import LocalContext
from kalypso_actions.inputs.preview import PreviewInputs
from kalypso_actions.report.preview_document import PreviewDocument
from kalypso_actions.report.preview_text import preview_lines, print_preview_findings
from kalypso_actions.runner import read_job_context


class Preview(LocalCommand[PreviewInputs, PreviewDocument]):
    """Compare the environments before and after a change, and show the difference."""

    model, document = PreviewInputs, PreviewDocument

    def __call__(self, given: Given) -> NoReturn:
        """Run the command with its options, and exit."""
        if read_job_context(os.environ).in_actions:
            raise typer.Exit(run_in_job(COMMANDS["preview"], given))
        super().__call__(given)

    def compute_in(self, inputs: PreviewInputs, context: LocalContext) -> PreviewDocument:
        """Compare."""
        return preview_clone(inputs, context)

    def echo(self, given: Given) -> Mapping[str, Any]:
        """Return that nothing was compared."""
        del given
        return {"compared": False}

    def show(self, inputs: PreviewInputs, document: PreviewDocument) -> None:
        """Print the differences and the findings."""
        console = stdout()
        show_paged(console, preview_lines(console, document, diffs=inputs.verbose))
        print_preview_findings(console, document, files_at_hand())
