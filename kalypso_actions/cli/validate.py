"""The command validate."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

import typer

from kalypso_actions.cli.local import SourceOption, files_at_hand, local_context
from kalypso_actions.cli.output import Output, Verbose, errors_as_json, print_json, stderr, stdout
from kalypso_actions.commands.validate import validate as run_validate
from kalypso_actions.errors import Problem
from kalypso_actions.inputs import ValidateInputs
from kalypso_actions.inputs.checking import checked_inputs
from kalypso_actions.report.documents import Document, ProblemEntry, ValidateDocument
from kalypso_actions.report.progress import ProgressDisplay
from kalypso_actions.report.validate_report import print_validate


def validate(
    places: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="REPO[@BRANCH]|DIR",
            help="The branches to check together. Default: those of the control plane of which "
            "the current folder is a clone, else the current folder.",
        ),
    ] = None,
    source: SourceOption = [],  # noqa: B006 - typer reads the default, nobody changes it
    output: Output = "text",
    verbose: Verbose = False,
) -> None:
    """Check all documents of branches: schemas, references, templates, names."""
    options = {"places": places or [], "source": source, "output": output, "verbose": verbose}

    def failed(problems: Sequence[Problem]) -> Document:
        return ValidateDocument(problems=ProblemEntry.all_of(problems))

    with errors_as_json(output, failed):
        given = checked_inputs(ValidateInputs, options)
        with ProgressDisplay(stderr(), "validating") as progress:
            document = run_validate(given, local_context(progress, verbose=verbose))
    if output == "json":
        print_json(document)
    else:
        print_validate(stdout(), document, files_at_hand(given.source), verbose=verbose)
    raise typer.Exit(1 if document.problems else 0)
