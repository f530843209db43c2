"""The command diff."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

import typer

from kalypso_actions.cli.completion import complete_environment
from kalypso_actions.cli.local import (
    ConfigFileOption,
    ControlPlaneOption,
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
)
from kalypso_actions.cli.output import (
    ExitCodeOption,
    MaskOption,
    Output,
    StatOption,
    Verbose,
    errors_as_json,
)
from kalypso_actions.cli.pager import show
from kalypso_actions.cli.streams import print_json, stderr, stdout
from kalypso_actions.commands.diff import diff as run_diff
from kalypso_actions.errors import Problem
from kalypso_actions.inputs.checking import checked_inputs
from kalypso_actions.inputs.diff import DiffInputs
from kalypso_actions.model.delivery import MAX_TARGETS
from kalypso_actions.report.diff_document import DiffDocument, diff_report
from kalypso_actions.report.documents import ProblemEntry, finding_counts
from kalypso_actions.report.terminal import ProgressDisplay, print_findings

EnvironmentsArgument = Annotated[
    list[str],
    typer.Argument(
        metavar="NEWER [OLDER]",
        help="Two environments, such as dev stage: what stage lacks of main that dev has; with "
        "--deployed, how their merged trees differ. Or one, at two commits.",
        autocompletion=complete_environment,
    ),
]

FromOption = Annotated[
    str,
    typer.Option(
        "--from",
        metavar="REV",
        help="Of one environment: a branch, tag or commit of main, or with --deployed of the "
        "GitOps branch; also dev~1. Default: the commit of main that the environment has, or with "
        "--deployed the commit before the last merge.",
    ),
]

ToOption = Annotated[
    str,
    typer.Option(metavar="REV", help="The other one. Default: the head of that branch."),
]

DeployedOption = Annotated[
    bool,
    typer.Option(
        "--deployed",
        help="Compare the merged trees of GitOps branches, not what would be rendered.",
    ),
]


def diff(
    environments: EnvironmentsArgument,
    control_plane: ControlPlaneOption = None,
    source: SourceOption = [],  # noqa: B006 - typer reads the default, nobody changes it
    from_: FromOption = "",
    to: ToOption = "",
    deployed: DeployedOption = False,
    namespace_scheme: NamespaceSchemeOption = "current",
    config_file: ConfigFileOption = "current",
    missing_values: MissingValuesOption = "warn",
    scheduler: SchedulerOption = "",
    now: NowOption = None,
    registration_text: RegistrationTextOption = "strict",
    max_targets: MaxTargetsOption = MAX_TARGETS,
    stat: StatOption = False,
    exit_code: ExitCodeOption = False,
    mask: MaskOption = "",
    output: Output = "text",
    verbose: Verbose = False,
) -> None:
    """Compare two environments, or two commits of one environment."""
    options = dict(locals()) | {"control_plane": github_place(control_plane)}
    for name in ("stat", "exit_code", "output", "from_"):
        del options[name]

    def failed(problems: Sequence[Problem]) -> DiffDocument:
        return DiffDocument(problems=ProblemEntry.all_of(problems))

    with errors_as_json(output, failed):
        given = checked_inputs(DiffInputs, {**options, "from": from_})
        with ProgressDisplay(stderr, "rendering") as progress:
            context = local_context(
                progress, calls=verbose, now=given.now, control_plane=control_plane
            )
            document = run_diff(given, context)
    if output == "json":
        print_json(document)
    else:
        show(stdout(), diff_report(stdout(), document, stat=stat))
        _print_findings(document)
    new = document.problems or document.comparison.problems
    raise typer.Exit(1 if new or (exit_code and document.differs) else 0)


def _print_findings(document: DiffDocument) -> None:
    """Print the newer side's problems, without secrets, to standard error."""
    findings = document.comparison.findings
    print_findings(stderr(), findings, files_at_hand(), with_lines=False)
    if findings:
        stderr().print(f"new: {finding_counts(findings)}")
