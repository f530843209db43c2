"""The commands that work on this machine alone: render, validate, template."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from kalypso_actions import inputs
from kalypso_actions.cli.speaking import (
    Output,
    Verbose,
    local_session,
    print_json,
    stderr,
    stdout,
    told,
)
from kalypso_actions.commands.render import render as run_render
from kalypso_actions.commands.template import template as run_template
from kalypso_actions.commands.validate import validate as run_validate
from kalypso_actions.errors import Problem
from kalypso_actions.inputs.checking import checked_inputs
from kalypso_actions.report.documents import (
    Document,
    ProblemEntry,
    RenderDocument,
    TemplateDocument,
    TemplateProblemEntry,
    ValidateDocument,
)
from kalypso_actions.report.progress import ProgressDisplay
from kalypso_actions.report.render_report import print_render
from kalypso_actions.report.template_report import print_template
from kalypso_actions.report.validate_report import print_validate

SourceOption = Annotated[
    list[str],
    typer.Option(
        "--source",
        metavar="URL[@BRANCH]=PATH",
        help="Use PATH, a git repository or a plain folder, wherever URL is referred to; it is "
        "never looked for on the network then. Repeatable.",
    ),
]


def render(
    environment: Annotated[str, typer.Argument(help="The environment, such as dev.")],
    control_plane: Annotated[
        str | None,
        typer.Option(metavar="REPO", help="URL or path of the control plane, a git repository."),
    ] = None,
    environment_dir: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="Instead of it: the environment branch as a folder."),
    ] = None,
    source: SourceOption = [],  # noqa: B006 - typer reads the default, nobody changes it
    base_commit: Annotated[
        str | None,
        typer.Option(metavar="SHA", help="Instead of the commit in base-repo.yaml."),
    ] = None,
    gitops: Annotated[
        str | None,
        typer.Option(
            metavar="PATH[@BRANCH]",
            help="The existing GitOps tree, a git repository or a folder, to apply the result to.",
        ),
    ] = None,
    out: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Write the resulting tree here.")
    ] = None,
    namespace_scheme: Annotated[
        inputs.NamespaceScheme,
        typer.Option(help="legacy: <environment>-<workspace>-<target>."),
    ] = "current",
    config_file: Annotated[
        inputs.ConfigFile, typer.Option(help="legacy: config.yaml for platform-config.yaml.")
    ] = "current",
    on_failure: Annotated[
        inputs.OnFailure,
        typer.Option(help="What a failing assignment does: block, or keep its folder as it is."),
    ] = "block",
    on_source_failure: Annotated[
        inputs.OnSourceFailure,
        typer.Option(help="What an unusable registered repository does."),
    ] = "last-good",
    output: Output = "text",
    verbose: Verbose = False,
) -> None:
    """Compute what belongs into the GitOps repository of one environment."""
    options = locals()

    def failed(problems: Sequence[Problem]) -> Document:
        return RenderDocument(environment=environment, problems=ProblemEntry.all_of(problems))

    with told(output, failed):
        given = checked_inputs(inputs.RenderInputs, options)
        with ProgressDisplay(stderr(), "rendering") as progress:
            document = run_render(given, local_session(progress, verbose=verbose))
    if output == "json":
        print_json(document)
    else:
        print_render(stdout(), document)
        if out and not document.problems:
            typer.echo(f"written to {out}")
    raise typer.Exit(1 if document.problems else 0)


def validate(
    places: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="REPO[@BRANCH]|DIR",
            help="Branches to check together; without any, the current folder.",
        ),
    ] = None,
    source: SourceOption = [],  # noqa: B006 - typer reads the default, nobody changes it
    output: Output = "text",
    verbose: Verbose = False,
) -> None:
    """Check every document of the given branches: schema, references, templates, names."""
    options = {"places": places or ["."], "source": source, "output": output, "verbose": verbose}

    def failed(problems: Sequence[Problem]) -> Document:
        return ValidateDocument(problems=ProblemEntry.all_of(problems))

    with told(output, failed):
        given = checked_inputs(inputs.ValidateInputs, options)
        with ProgressDisplay(stderr(), "validating") as progress:
            document = run_validate(given, local_session(progress, verbose=verbose))
    if output == "json":
        print_json(document)
    else:
        print_validate(stdout(), document)
    raise typer.Exit(1 if document.problems else 0)


def template(
    file: Annotated[
        Path,
        typer.Argument(
            metavar="FILE",
            help="A YAML file with Template documents; any other text is one Go template.",
        ),
    ],
    values: Annotated[
        Path | None, typer.Option(metavar="FILE", help="The data, as JSON or YAML.")
    ] = None,
    name: Annotated[
        str | None, typer.Option(metavar="NAME", help="Which Template, where FILE has several.")
    ] = None,
    output: Output = "text",
) -> None:
    """Render one Template with given data, for its author.

    The data have the names that a template sees. What is left out is:

    Environment            dev
    Workspace              team
    Workload               app
    ClusterType            large
    DeploymentTargetName   <Workload>-target
    Namespace              <Environment>-<ClusterType>-<DeploymentTargetName>
    Labels                 workload and workspace
    Manifests, ConfigData  empty

    A text in ConfigData is read as a ConfigMap's value; a list or an object
    can also be written out.
    """
    options = locals()

    def failed(problems: Sequence[Problem]) -> Document:
        entries = TemplateProblemEntry.all_of(problems)
        return TemplateDocument(template=name or "", problems=entries)

    with told(output, failed):
        document = run_template(checked_inputs(inputs.TemplateInputs, options))
    if output == "json":
        print_json(document)
    else:
        print_template(stdout(), stderr(), document)
    raise typer.Exit(1 if document.problems else 0)
