"""The commands of authors: template and schemas."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

import typer

from kalypso_actions.cli.command import Command, Given
from kalypso_actions.cli.streams import stderr, stdout
from kalypso_actions.clients.files_at_hand import FilesAtHand
from kalypso_actions.clients.process import Programs
from kalypso_actions.commands.schemas import ANY_KIND
from kalypso_actions.commands.schemas import schemas as run_schemas
from kalypso_actions.commands.template import template as run_template
from kalypso_actions.inputs.local import SchemasInputs, TemplateInputs
from kalypso_actions.model.counts import counted
from kalypso_actions.report.documents import SchemasDocument
from kalypso_actions.report.render_document import TemplateDocument, print_template


class Template(Command[TemplateInputs, TemplateDocument]):
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

    model, document = TemplateInputs, TemplateDocument

    def run(self, inputs: TemplateInputs) -> TemplateDocument:
        """Render."""
        return run_template(inputs)

    def echo(self, given: Given) -> Mapping[str, Any]:
        """Return the name of the Template."""
        return {"template": given.get("name", "")}

    def show(self, inputs: TemplateInputs, document: TemplateDocument) -> None:
        """Print the text, and to standard error the findings."""
        del inputs
        print_template(stdout(), stderr(), document, FilesAtHand(Programs(os.environ)))


class Schemas(Command[SchemasInputs, SchemasDocument]):
    """Write JSON Schemas of all kinds, for editors to complete and check documents."""

    model, document = SchemasInputs, SchemasDocument

    def run(self, inputs: SchemasInputs) -> SchemasDocument:
        """Write the schemas."""
        return run_schemas(inputs.out)

    def echo(self, given: Given) -> Mapping[str, Any]:
        """Return the folder."""
        return {"dir": given["out"]}

    def show(self, inputs: SchemasInputs, document: SchemasDocument) -> None:
        """Print how to use the schemas."""
        out = inputs.out
        typer.echo(f"{counted(len(document.files), 'schema')} written to {out}")
        typer.echo(
            f"{out / ANY_KIND} is for files with any kinds. In an editor, as the first line:"
        )
        typer.echo(f"# yaml-language-server: $schema={(out / ANY_KIND).as_posix()}")
