"""The command app render."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from functools import partial
from typing import Any

import typer

from kalypso_actions.cli.command import Given
from kalypso_actions.cli.local import LocalCommand, files_at_hand
from kalypso_actions.cli.streams import stdout
from kalypso_actions.commands.app.render import app_render as run_app_render
from kalypso_actions.commands.shared.local_context import LocalContext
from kalypso_actions.inputs.app import AppRenderInputs
from kalypso_actions.report.render_document import AppRenderDocument, print_app_render


class Render(LocalCommand[AppRenderInputs, AppRenderDocument]):
    """Compute the GitOps tree of an application for one environment."""

    model, document = AppRenderInputs, AppRenderDocument

    def compute_in(self, inputs: AppRenderInputs, context: LocalContext) -> AppRenderDocument:
        """Render."""
        return run_app_render(inputs, context, partial(datetime.now, UTC))

    def echo(self, given: Given) -> Mapping[str, Any]:
        """Return the environment, and that nothing was compared."""
        return {"environment": given.get("environment", ""), "compared": False}

    def show(self, inputs: AppRenderInputs, document: AppRenderDocument) -> None:
        """Print the tree and the findings."""
        print_app_render(stdout(), document, files_at_hand(), verbose=inputs.verbose)
        if inputs.out and not document.problems:
            typer.echo(f"written to {inputs.out}")
