"""The command report."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Annotated

import typer

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
    repository_of_job,
)
from kalypso_actions.cli.output import MaskOption, Output, Verbose, errors_as_json
from kalypso_actions.cli.runtime import make_runtime
from kalypso_actions.cli.streams import log_line, print_json, stderr
from kalypso_actions.commands.report import report as run_report
from kalypso_actions.commands.report.pipeline import read_pipeline
from kalypso_actions.errors import Problem
from kalypso_actions.inputs.checking import checked_inputs
from kalypso_actions.inputs.local import ReportInputs
from kalypso_actions.model.counts import counted
from kalypso_actions.model.delivery import MAX_TARGETS
from kalypso_actions.report.documents import ProblemEntry, finding_counts
from kalypso_actions.report.report_document import ReportDocument
from kalypso_actions.report.terminal import ProgressDisplay, print_findings


def report(
    out: Annotated[Path, typer.Option(metavar="DIR", help="The folder for the page.")],
    title: Annotated[str, typer.Option(metavar="TEXT", help="The heading of the page.")] = "",
    control_plane: ControlPlaneOption = None,
    source: SourceOption = [],  # noqa: B006 - typer reads the default, nobody changes it
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
    """Write one self-contained page about the whole fleet, and its data."""
    control_plane = control_plane or repository_of_job()
    options = dict(locals()) | {"control_plane": github_place(control_plane)}
    del options["output"]

    def failed(problems: Sequence[Problem]) -> ReportDocument:
        return ReportDocument(title=title, problems=ProblemEntry.all_of(problems))

    with errors_as_json(output, failed):
        given = checked_inputs(ReportInputs, options)
        with ProgressDisplay(stderr, "rendering") as progress:
            runtime = make_runtime(progress.of("reading"), sys.stderr, log=log_line)
            context = local_context(
                progress,
                calls=verbose,
                now=given.now,
                control_plane=control_plane,
                environment=runtime.environment,
            )
            pipeline = partial(read_pipeline, given.control_plane, runtime)
            document = run_report(given, context, datetime.now(UTC), pipeline)
    findings = [finding for each in document.environments for finding in each.findings]
    if output == "json":
        print_json(document.model_copy(update={"texts": ()}))
    else:
        shown = (each for each in findings if verbose or each.level == "error")
        print_findings(stderr(), shown, files_at_hand(given.source))
        number = counted(len(document.assignments), "assignment")
        environments = counted(len(document.environments), "environment")
        typer.echo(f"{number} of {environments}: {finding_counts(findings)}")
        for each in document.pipeline.problems:
            typer.echo(f"the pipeline is not known: {each.message}")
        typer.echo(f"written to {out / 'index.html'}")
    raise typer.Exit(any(each.level == "error" for each in findings))
