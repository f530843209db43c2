"""The command app render."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from functools import partial
from typing import Any

import typer

from kalypso_actions.cli.local import files_at_hand, local_context
from kalypso_actions.cli.options import with_options
from kalypso_actions.cli.output import errors_as_json
from kalypso_actions.cli.streams import print_json, stderr, stdout
from kalypso_actions.commands.app.render import app_render as run_app_render
from kalypso_actions.errors import Problem
from kalypso_actions.inputs.app import AppRenderInputs
from kalypso_actions.inputs.checking import checked_inputs
from kalypso_actions.report.documents import ProblemEntry
from kalypso_actions.report.render_document import AppRenderDocument, print_app_render
from kalypso_actions.report.terminal import ProgressDisplay

SUMMARY = "Compute the GitOps tree of an application for one environment."


def _run(options: dict[str, Any]) -> None:
    output, verbose = options.pop("output"), options.pop("verbose")
    given = {name: value for name, value in options.items() if value is not None}

    def failed(problems: Sequence[Problem]) -> AppRenderDocument:
        return AppRenderDocument(
            environment=str(given.get("environment", "")),
            compared=False,
            problems=ProblemEntry.all_of(problems),
        )

    with errors_as_json(output, failed):
        inputs = checked_inputs(AppRenderInputs, given)
        with ProgressDisplay(stderr, "rendering") as progress:
            context = local_context(progress, calls=verbose)
            document = run_app_render(inputs, context, partial(datetime.now, UTC))
    if output == "json":
        print_json(document)
    else:
        print_app_render(stdout(), document, files_at_hand(), verbose=verbose)
        if inputs.out and not document.problems:
            typer.echo(f"written to {inputs.out}")
    raise typer.Exit(1 if document.problems else 0)


render = with_options(AppRenderInputs, "render", SUMMARY, _run)
