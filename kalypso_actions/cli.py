"""The command line: builds what a command needs, runs it, and is the only place that catches.

Exit codes: 0 done; 1 problems found; 2 wrong usage or inputs.
"""

from __future__ import annotations

import logging
import os
import sys
import traceback
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from io import TextIOWrapper
from pathlib import Path
from typing import Annotated, Any, Literal, NoReturn, TypeVar

import typer
from pydantic import BaseModel, ValidationError
from rich.console import Console

from kalypso_actions import ISSUES_URL, __version__, inputs
from kalypso_actions.clients.process import Programs
from kalypso_actions.commands.render import render as run_render
from kalypso_actions.commands.session import Session
from kalypso_actions.commands.template import template as run_template
from kalypso_actions.commands.validate import validate as run_validate
from kalypso_actions.errors import KalypsoError, Problem, UsageError
from kalypso_actions.report.documents import (
    Document,
    ProblemEntry,
    RenderDocument,
    TemplateDocument,
    TemplateProblemEntry,
    ValidateDocument,
)
from kalypso_actions.report.findings import print_findings
from kalypso_actions.report.progress import ProgressDisplay
from kalypso_actions.report.render_report import print_render
from kalypso_actions.report.template_report import print_template
from kalypso_actions.report.validate_report import print_validate

app = typer.Typer(
    help="Kalypso: schedule, render and promote workloads for many clusters with GitOps.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)

Model = TypeVar("Model", bound=BaseModel)
Output = Annotated[Literal["text", "json"], typer.Option(help="What goes to standard output.")]
Verbose = Annotated[bool, typer.Option("--verbose", help="Show each program that is started.")]
SourceOption = Annotated[
    list[str],
    typer.Option(
        "--source",
        metavar="URL[@BRANCH]=PATH",
        help="Use PATH, a git repository or a plain folder, wherever URL is referred to; it is "
        "never looked for on the network then. Repeatable.",
    ),
]


def main() -> NoReturn:
    """Run the command that the arguments name, and exit."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")  # not every terminal has every character
    try:
        # Ends by itself: with a command's code, or with 2 for arguments that it cannot read.
        app(prog_name="kalypso")
    except KalypsoError as error:
        print_findings(_stderr(), (), ProblemEntry.all_of(error.problems))
        sys.exit(error.exit_code)
    except Exception:  # noqa: BLE001 - the only catch: anything that comes this far is our bug
        traceback.print_exc()
        _stderr().print(f"\nThis is a bug in kalypso {__version__}. Please report it: {ISSUES_URL}")
        sys.exit(1)
    sys.exit(0)


@app.callback(invoke_without_command=True)
def _root(
    version: Annotated[
        bool, typer.Option("--version", is_eager=True, help="Print the version and exit.")
    ] = False,
) -> None:
    if version:
        typer.echo(__version__)
        raise typer.Exit


@app.command()
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

    with _told(output, failed):
        given = _inputs(inputs.RenderInputs, options)
        with ProgressDisplay(_stderr(), "rendering") as progress:
            document = run_render(given, _session(progress, verbose=verbose))
    if output == "json":
        _print_json(document)
    else:
        print_render(_stdout(), document)
        if out and not document.problems:
            typer.echo(f"written to {out}")
    raise typer.Exit(1 if document.problems else 0)


@app.command()
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

    with _told(output, failed):
        given = _inputs(inputs.ValidateInputs, options)
        with ProgressDisplay(_stderr(), "validating") as progress:
            document = run_validate(given, _session(progress, verbose=verbose))
    if output == "json":
        _print_json(document)
    else:
        print_validate(_stdout(), document)
    raise typer.Exit(1 if document.problems else 0)


@app.command()
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

    with _told(output, failed):
        document = run_template(_inputs(inputs.TemplateInputs, options))
    if output == "json":
        _print_json(document)
    else:
        print_template(_stdout(), _stderr(), document)
    raise typer.Exit(1 if document.problems else 0)


def _inputs(model: type[Model], given: dict[str, Any]) -> Model:
    """The checked inputs; every fault is told, with the name of its option."""
    try:
        return model.model_validate(given)
    except ValidationError as error:
        faults = []
        for details in error.errors(include_url=False):
            option = "--" + str(details["loc"][0]).replace("_", "-") if details["loc"] else ""
            faults.append(f"{option}: {details['msg']}" if option else details["msg"])
        raise UsageError("; ".join(faults)) from error


@contextmanager
def _told(output: str, failed: Callable[[Sequence[Problem]], Document]) -> Iterator[None]:
    """With `json`, an error that ends the run is told by the command's document as well."""
    try:
        yield
    except KalypsoError as error:
        if output != "json":
            raise
        _print_json(failed(error.problems))
        raise typer.Exit(error.exit_code) from error


def _session(progress: ProgressDisplay, *, verbose: bool) -> Session:
    if verbose:
        logging.basicConfig(level=logging.DEBUG, format="%(asctime)s %(message)s")
    return Session(Programs(os.environ), progress.update)


def _print_json(document: Document) -> None:
    if isinstance(sys.stdout, TextIOWrapper):
        sys.stdout.reconfigure(encoding="utf-8")  # as JSON has it, whatever the terminal's is
    sys.stdout.write(document.to_json() + "\n")


def _stdout() -> Console:
    """As wide as the terminal; where there is none, wide enough that nothing is folded."""
    return Console(width=None if sys.stdout.isatty() else 200, highlight=False)


def _stderr() -> Console:
    return Console(stderr=True, highlight=False)
