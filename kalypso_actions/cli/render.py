"""The command render."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import typer

from kalypso_actions.cli.local import (
    BaseCommitOption,
    ConfigFileOption,
    ControlPlaneOption,
    EnvironmentArgument,
    EnvironmentDirOption,
    EnvironmentOption,
    MaxTargetsOption,
    MissingValuesOption,
    NamespaceSchemeOption,
    NowOption,
    RegistrationTextOption,
    SchedulerOption,
    SourceOption,
    files_at_hand,
    github_place,
    local_context,
    one_environment,
)
from kalypso_actions.cli.local_result import Forms, errors_as_result, print_result
from kalypso_actions.cli.output import (
    ExitCodeOption,
    LocalOutput,
    MaskOption,
    Notes,
    StatOption,
    Verbose,
)
from kalypso_actions.cli.pager import show
from kalypso_actions.cli.streams import stderr, stdout
from kalypso_actions.commands.render import render as run_render
from kalypso_actions.errors import Problem
from kalypso_actions.inputs import values
from kalypso_actions.inputs.checking import checked_inputs
from kalypso_actions.inputs.local import RenderInputs
from kalypso_actions.model.delivery import MAX_TARGETS
from kalypso_actions.report.diff_document import shown_diffs
from kalypso_actions.report.documents import ProblemEntry
from kalypso_actions.report.render_document import (
    RenderDocument,
    print_render,
    print_render_findings,
    render_summary,
)
from kalypso_actions.report.terminal import Files, ProgressDisplay

GitopsOption = Annotated[
    str | None,
    typer.Option(
        metavar="PATH[@BRANCH]",
        help="The existing GitOps tree that changes: a git repository or a folder.",
    ),
]

OutOption = Annotated[
    Path | None, typer.Option(metavar="DIR", help="Write the resulting tree here.")
]

CommitToOption = Annotated[
    str | None,
    typer.Option(
        metavar="REPOSITORY@BRANCH",
        help="Commit the changes to a branch of a repository on this machine; its tree is the "
        "existing one.",
    ),
]

VerifyOption = Annotated[
    bool,
    typer.Option(
        "--verify",
        help="Render the assignments with unchanged inputs too, and fail if one differs from "
        "the tree of --commit-to.",
    ),
]

OnFailureOption = Annotated[
    values.OnFailure,
    typer.Option(help="For a failing assignment: block all, or keep its folder unchanged."),
]

OnSourceFailureOption = Annotated[
    values.OnSourceFailure,
    typer.Option(help="For an unusable repository: take its last good commit, or block all."),
]

DiffOption = Annotated[
    bool,
    typer.Option(
        "--diff",
        help="Show how the tree differs from --gitops, else from the branch that the "
        "GitOpsRepo names.",
    ),
]


def render(
    environment: EnvironmentArgument = "",
    environment_option: EnvironmentOption = "",
    control_plane: ControlPlaneOption = None,
    environment_dir: EnvironmentDirOption = None,
    source: SourceOption = [],  # noqa: B006 - typer reads the default, nobody changes it
    base_commit: BaseCommitOption = None,
    gitops: GitopsOption = None,
    out: OutOption = None,
    commit_to: CommitToOption = None,
    verify: VerifyOption = False,
    namespace_scheme: NamespaceSchemeOption = "current",
    config_file: ConfigFileOption = "current",
    on_failure: OnFailureOption = "block",
    on_source_failure: OnSourceFailureOption = "last-good",
    missing_values: MissingValuesOption = "warn",
    scheduler: SchedulerOption = "",
    now: NowOption = None,
    registration_text: RegistrationTextOption = "strict",
    max_targets: MaxTargetsOption = MAX_TARGETS,
    diff: DiffOption = False,
    stat: StatOption = False,
    exit_code: ExitCodeOption = False,
    mask: MaskOption = "",
    output: LocalOutput = "text",
    notes: Notes = False,
    verbose: Verbose = False,
) -> None:
    """Compute the GitOps tree of one environment."""
    options = dict(locals()) | {"control_plane": github_place(control_plane)}
    del options["output"], options["environment_option"]

    def failed(problems: Sequence[Problem]) -> RenderDocument:
        return RenderDocument(
            environment=environment or environment_option,
            compared=False,
            problems=ProblemEntry.all_of(problems),
        )

    forms = Forms("kalypso render", partial(_print_text, options), render_summary)
    with errors_as_result(output, failed, forms):
        options["environment"] = one_environment(environment, environment_option)
        given = checked_inputs(RenderInputs, options)
        with ProgressDisplay(stderr, "rendering") as progress:
            context = local_context(
                progress, calls=verbose, now=given.now, control_plane=control_plane
            )
            document = run_render(given, context)
    print_result(document, output, files_at_hand(given.source), forms)
    raise typer.Exit(1 if document.problems or (exit_code and _changes(document)) else 0)


def _print_text(options: Mapping[str, Any], document: RenderDocument, files: Files) -> None:
    diff, stat = options["diff"], options["stat"]
    with_notes = options["notes"] or options["verbose"]
    if diff or stat:
        _show_diffs(document, files, with_lines=diff, with_stat=stat, with_notes=with_notes)
    else:
        print_render(stdout(), document, files, with_notes=with_notes)
    if document.problems:
        return
    if options["out"]:
        typer.echo(f"written to {options['out']}")
    if options["commit_to"]:
        typer.echo(f"committed as {document.commit}" if document.commit else "nothing to commit")


def _changes(document: RenderDocument) -> bool:
    return bool(document.diffs)


def _show_diffs(
    document: RenderDocument, files: Files, *, with_lines: bool, with_stat: bool, with_notes: bool
) -> None:
    """Print the differences to standard output, and the findings to standard error."""
    console = stdout()
    if document.compared:
        show(console, shown_diffs(console, document.diffs, stat=with_stat, lines=with_lines))
    print_render_findings(stderr(), document, files, with_notes=with_notes)
