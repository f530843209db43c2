"""The command render."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from kalypso_actions import inputs
from kalypso_actions.cli.local import (
    BaseCommitOption,
    ConfigFileOption,
    ControlPlaneOption,
    EnvironmentArgument,
    EnvironmentDirOption,
    EnvironmentOption,
    MissingValuesOption,
    NamespaceSchemeOption,
    RegistrationTextOption,
    SchedulerOption,
    SourceOption,
    files_at_hand,
    local_context,
    one_environment,
)
from kalypso_actions.cli.local_result import Forms, errors_as_result, print_result
from kalypso_actions.cli.output import (
    ExitCodeOption,
    LocalOutput,
    MaskOption,
    StatOption,
    Verbose,
    stderr,
    stdout,
)
from kalypso_actions.cli.pager import show
from kalypso_actions.commands.render import render as run_render
from kalypso_actions.errors import Problem
from kalypso_actions.inputs.checking import checked_inputs
from kalypso_actions.report.diff_view import shown_diffs
from kalypso_actions.report.documents import ProblemEntry, RenderDocument
from kalypso_actions.report.local_summary import render_summary
from kalypso_actions.report.progress import ProgressDisplay
from kalypso_actions.report.render_report import print_render, print_render_findings
from kalypso_actions.report.terminal import Files


def render(
    environment: EnvironmentArgument = "",
    environment_option: EnvironmentOption = "",
    control_plane: ControlPlaneOption = None,
    environment_dir: EnvironmentDirOption = None,
    source: SourceOption = [],  # noqa: B006 - typer reads the default, nobody changes it
    base_commit: BaseCommitOption = None,
    gitops: Annotated[
        str | None,
        typer.Option(
            metavar="PATH[@BRANCH]",
            help="The existing GitOps tree that changes: a git repository or a folder.",
        ),
    ] = None,
    out: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Write the resulting tree here.")
    ] = None,
    commit_to: Annotated[
        str | None,
        typer.Option(
            metavar="REPOSITORY@BRANCH",
            help="Commit the changes to a branch of a repository on this machine; its tree is the "
            "existing one.",
        ),
    ] = None,
    namespace_scheme: NamespaceSchemeOption = "current",
    config_file: ConfigFileOption = "current",
    on_failure: Annotated[
        inputs.OnFailure,
        typer.Option(help="For a failing assignment: block all, or keep its folder unchanged."),
    ] = "block",
    on_source_failure: Annotated[
        inputs.OnSourceFailure,
        typer.Option(help="For an unusable repository: take its last good commit, or block all."),
    ] = "last-good",
    missing_values: MissingValuesOption = "warn",
    scheduler: SchedulerOption = "",
    registration_text: RegistrationTextOption = "strict",
    diff: Annotated[
        bool,
        typer.Option(
            "--diff",
            help="Show how the tree differs from --gitops, else from the branch that the "
            "GitOpsRepo names.",
        ),
    ] = False,
    stat: StatOption = False,
    exit_code: ExitCodeOption = False,
    mask: MaskOption = "",
    output: LocalOutput = "text",
    verbose: Verbose = False,
) -> None:
    """Compute the GitOps tree of one environment."""
    options = dict(locals())
    named = options.pop("environment_option")
    del options["output"]

    def failed(problems: Sequence[Problem]) -> RenderDocument:
        return RenderDocument(
            environment=environment or named,
            compared=False,
            problems=ProblemEntry.all_of(problems),
        )

    def print_text(document: RenderDocument, files: Files) -> None:
        if diff or stat:
            _show_diffs(document, files, with_lines=diff, with_stat=stat, verbose=verbose)
        else:
            print_render(stdout(), document, files, verbose=verbose)
        if out and not document.problems:
            typer.echo(f"written to {out}")
        if commit_to and not document.problems:
            done = f"committed as {document.commit}" if document.commit else "nothing to commit"
            typer.echo(done)

    forms = Forms("kalypso render", print_text, render_summary)
    with errors_as_result(output, failed, forms):
        options["environment"] = one_environment(environment, named)
        given = checked_inputs(inputs.RenderInputs, options)
        with ProgressDisplay(stderr(), "rendering") as progress:
            document = run_render(given, local_context(progress, calls=verbose))
    print_result(document, output, files_at_hand(given.source), forms)
    raise typer.Exit(1 if document.problems or (exit_code and _changes(document)) else 0)


def _changes(document: RenderDocument) -> bool:
    return bool(document.diffs)


def _show_diffs(
    document: RenderDocument, files: Files, *, with_lines: bool, with_stat: bool, verbose: bool
) -> None:
    """Print the differences alone to standard output: the findings are for people."""
    console = stdout()
    if document.compared:
        show(console, shown_diffs(console, document.diffs, stat=with_stat, lines=with_lines))
    print_render_findings(stderr(), document, files, verbose=verbose)
