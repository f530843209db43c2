"""The command preview: in a job as part of the chain, on a person's machine in a clone."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any, Final

import typer

from kalypso_actions.cli.job import run_in_job
from kalypso_actions.cli.local import files_at_hand, local_context
from kalypso_actions.cli.options import with_options
from kalypso_actions.cli.output import errors_as_json
from kalypso_actions.cli.pager import show
from kalypso_actions.cli.streams import print_json, stderr, stdout
from kalypso_actions.commands.preview import preview_clone
from kalypso_actions.commands.registry import COMMANDS
from kalypso_actions.errors import Problem
from kalypso_actions.inputs.checking import checked_inputs
from kalypso_actions.inputs.preview import PreviewInputs
from kalypso_actions.report.documents import ProblemEntry
from kalypso_actions.report.preview_documents import PreviewDocument
from kalypso_actions.report.preview_text import preview_lines, print_preview_findings
from kalypso_actions.report.terminal import ProgressDisplay
from kalypso_actions.runner import read_job_context

COMMAND: Final = COMMANDS["preview"]


def _run(given: dict[str, Any]) -> None:
    if read_job_context(os.environ).in_actions:
        raise typer.Exit(run_in_job(COMMAND, given))
    output, verbose = given.pop("output"), given.pop("verbose")
    with errors_as_json(output, _failed):
        options = {name: value for name, value in given.items() if value is not None}
        inputs = checked_inputs(PreviewInputs, options)
        with ProgressDisplay(stderr, "rendering") as progress:
            document = preview_clone(inputs, local_context(progress, calls=verbose, now=inputs.now))
    if output == "json":
        print_json(document)
    else:
        console = stdout()
        show(console, preview_lines(console, document, diffs=verbose))
        print_preview_findings(console, document, files_at_hand())
    raise typer.Exit(1 if document.problems else 0)


def _failed(problems: Sequence[Problem]) -> PreviewDocument:
    return PreviewDocument(compared=False, problems=ProblemEntry.all_of(problems))


preview = with_options(PreviewInputs, COMMAND.name, COMMAND.summary, _run)
