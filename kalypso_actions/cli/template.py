"""The command template."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from kalypso_actions.cli.output import Output, errors_as_json
from kalypso_actions.cli.streams import print_json, stderr, stdout
from kalypso_actions.clients.files_at_hand import FilesAtHand
from kalypso_actions.clients.process import Programs
from kalypso_actions.commands.template import template as run_template
from kalypso_actions.errors import Problem
from kalypso_actions.inputs.checking import checked_inputs
from kalypso_actions.inputs.local import TemplateInputs
from kalypso_actions.report.documents import Document
from kalypso_actions.report.render_document import (
    TemplateDocument,
    TemplateProblemEntry,
    print_template,
)


def template(
    file: Annotated[
        Path,
        typer.Argument(
            metavar="FILE",
            help="A YAML file with Template documents; any other file is one Go template.",
        ),
    ],
    values: Annotated[
        Path | None, typer.Option(metavar="FILE", help="The data, as JSON or YAML.")
    ] = None,
    name: Annotated[
        str | None, typer.Option(metavar="NAME", help="The Template, if FILE has several.")
    ] = None,
    output: Output = "text",
) -> None:
    """Render one Template with given data, for its author.

    The data have the names that templates use. The defaults are:

    Environment            dev
    Workspace              team
    Workload               app
    ClusterType            large
    DeploymentTargetName   <Workload>-target
    Namespace              <Environment>-<ClusterType>-<DeploymentTargetName>
    Labels                 workload and workspace
    Manifests, ConfigData  empty

    A string in ConfigData is read like a value of a ConfigMap; lists and
    objects are also possible.
    """
    options = locals()

    def failed(problems: Sequence[Problem]) -> Document:
        entries = TemplateProblemEntry.all_of(problems)
        return TemplateDocument(template=name or "", problems=entries)

    with errors_as_json(output, failed):
        document = run_template(checked_inputs(TemplateInputs, options))
    if output == "json":
        print_json(document)
    else:
        print_template(stdout(), stderr(), document, FilesAtHand(Programs(os.environ)))
    raise typer.Exit(1 if document.problems else 0)
