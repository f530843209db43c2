"""The command placement."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated

import typer

from kalypso_actions.cli.local import files_at_hand
from kalypso_actions.cli.output import Output, errors_as_json
from kalypso_actions.cli.streams import print_json, stderr, stdout
from kalypso_actions.commands.placement import placement as run_placement
from kalypso_actions.errors import Problem
from kalypso_actions.inputs.checking import checked_inputs
from kalypso_actions.inputs.placement import PlacementInputs
from kalypso_actions.report.documents import ProblemEntry
from kalypso_actions.report.placement_document import PlacementDocument
from kalypso_actions.report.placement_report import print_placement
from kalypso_actions.report.terminal import print_findings


def placement(
    placement: Annotated[
        str,
        typer.Argument(
            metavar="PLACEMENT",
            help="A file with one Placement, or the name of one in the folder: [NAMESPACE/]NAME.",
        ),
    ],
    fleet: Annotated[
        Path,
        typer.Option(
            metavar="FOLDER",
            help="The documents of an environment, or of a hub as kubectl get -o yaml writes them.",
        ),
    ],
    now: Annotated[
        str | None,
        typer.Option(metavar="TIME", help="The time, such as 2026-03-01T12:00:00Z. Default: now."),
    ] = None,
    spread: Annotated[
        bool, typer.Option("--spread", help="Execute spreadPolicy, which OCM ignores.")
    ] = False,
    output: Output = "text",
) -> None:
    """Show which clusters a Placement of Open Cluster Management selects, and why.

    It decides exactly as OCM's scheduler, and writes nothing anywhere.
    """
    options = locals()

    def failed(problems: Sequence[Problem]) -> PlacementDocument:
        return PlacementDocument(problems=ProblemEntry.all_of(problems))

    with errors_as_json(output, failed):
        document = run_placement(checked_inputs(PlacementInputs, options), datetime.now(UTC))
    if output == "json":
        print_json(document)
    else:
        print_placement(stdout(), document)
        print_findings(stderr(), (), document.problems, files_at_hand())
    raise typer.Exit(1 if document.problems or document.panic else 0)
