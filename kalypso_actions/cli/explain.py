"""The command explain."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

import typer

from kalypso_actions.cli.completion import complete_cluster_type, complete_target
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
from kalypso_actions.cli.output import MaskOption, Output, Verbose, errors_as_json
from kalypso_actions.cli.pager import show
from kalypso_actions.cli.streams import print_json, stderr, stdout
from kalypso_actions.commands.explain import explain as run_explain
from kalypso_actions.errors import Problem
from kalypso_actions.inputs.checking import checked_inputs
from kalypso_actions.inputs.local import ExplainInputs
from kalypso_actions.model.delivery import MAX_TARGETS
from kalypso_actions.report.documents import ProblemEntry, finding_counts
from kalypso_actions.report.explain_document import ExplainDocument, ExplainReport
from kalypso_actions.report.terminal import ProgressDisplay, print_findings

TargetOption = Annotated[
    str,
    typer.Option(
        metavar="NAME",
        help="A deployment target, or a Workload for all of its targets.",
        autocompletion=complete_target,
    ),
]

ClusterTypeOption = Annotated[
    str,
    typer.Option(metavar="NAME", help="A cluster type.", autocompletion=complete_cluster_type),
]

KeyOption = Annotated[
    str,
    typer.Option(
        metavar="KEY",
        help="A configuration value, such as REGION, or a part of one: hosts[0].name.",
    ),
]

FileOption = Annotated[
    str,
    typer.Option(
        metavar="PATH",
        help="A file of the GitOps tree: CLUSTER_TYPE/TARGET/FILE, or FILE of a named pair.",
    ),
]


def explain(
    environment: EnvironmentArgument = "",
    environment_option: EnvironmentOption = "",
    target: TargetOption = "",
    cluster_type: ClusterTypeOption = "",
    key: KeyOption = "",
    file: FileOption = "",
    control_plane: ControlPlaneOption = None,
    environment_dir: EnvironmentDirOption = None,
    source: SourceOption = [],  # noqa: B006 - typer reads the default, nobody changes it
    base_commit: BaseCommitOption = None,
    namespace_scheme: NamespaceSchemeOption = "current",
    config_file: ConfigFileOption = "current",
    missing_values: MissingValuesOption = "warn",
    scheduler: SchedulerOption = "",
    now: NowOption = None,
    registration_text: RegistrationTextOption = "strict",
    max_targets: MaxTargetsOption = MAX_TARGETS,
    mask: MaskOption = "",
    output: Output = "text",
    verbose: Verbose = False,
) -> None:
    """Explain an environment: who selects a pair, who set a value, what made a file."""
    options = dict(locals()) | {"control_plane": github_place(control_plane)}
    del options["output"], options["environment_option"]

    def failed(problems: Sequence[Problem]) -> ExplainDocument:
        return ExplainDocument(
            environment=environment or environment_option, problems=ProblemEntry.all_of(problems)
        )

    with errors_as_json(output, failed):
        options["environment"] = one_environment(environment, environment_option)
        given = checked_inputs(ExplainInputs, options)
        with ProgressDisplay(stderr, "reading") as progress:
            context = local_context(
                progress, calls=verbose, now=given.now, control_plane=control_plane
            )
            document = run_explain(given, context)
    if output == "json":
        print_json(document)
    else:
        files = files_at_hand(given.source)
        show(stdout(), ExplainReport(stdout(), document, files).lines())
        findings = document.findings
        shown = (each for each in findings if verbose or each.level == "error")
        print_findings(stderr(), shown, files)
        if findings:
            hidden = ": --verbose shows them" if document.warnings and not verbose else ""
            stderr().print(f"{finding_counts(findings)}{hidden}")
    raise typer.Exit(1 if document.problems else 0)
