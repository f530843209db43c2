"""The command schemas."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from kalypso_actions.cli.output import Output, errors_as_json
from kalypso_actions.cli.streams import print_json
from kalypso_actions.commands.schemas import schemas as run_schemas
from kalypso_actions.errors import Problem
from kalypso_actions.fleet import ANY_KIND
from kalypso_actions.model.counts import counted
from kalypso_actions.report.documents import ProblemEntry, SchemasDocument


def schemas(
    out: Annotated[Path, typer.Option(metavar="DIR", help="The folder for the schemas.")],
    output: Output = "text",
) -> None:
    """Write JSON Schemas of all kinds, for editors to complete and check documents."""

    def failed(problems: Sequence[Problem]) -> SchemasDocument:
        return SchemasDocument(dir=str(out), problems=ProblemEntry.all_of(problems))

    with errors_as_json(output, failed):
        document = run_schemas(out)
    if output == "json":
        print_json(document)
    else:
        typer.echo(f"{counted(len(document.files), 'schema')} written to {out}")
        typer.echo(
            f"{out / ANY_KIND} is for files with any kinds. In an editor, as the first line:"
        )
        typer.echo(f"# yaml-language-server: $schema={(out / ANY_KIND).as_posix()}")
