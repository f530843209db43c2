"""The command report."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from datetime import UTC, datetime
from functools import partial
from typing import Any

import typer

from kalypso_actions.cli.command import Command, Given
from kalypso_actions.cli.github_inputs import make_runtime
from kalypso_actions.cli.local import (
    files_at_hand,
    github_place,
    local_context,
    repository_of_job,
)
from kalypso_actions.cli.streams import log_line, print_json, stderr
from kalypso_actions.commands.report import report as run_report
from kalypso_actions.commands.report.pipeline import read_pipeline
from kalypso_actions.inputs.local import ReportInputs
from kalypso_actions.inputs.reading import checked_inputs
from kalypso_actions.model.counts import counted
from kalypso_actions.report.documents import finding_counts
from kalypso_actions.report.report_document import ReportDocument
from kalypso_actions.report.terminal import ProgressDisplay, print_findings


class Report(Command[ReportInputs, ReportDocument]):
    """Write one self-contained page about the whole fleet, and its data."""

    model, document = ReportInputs, ReportDocument

    def compute(self, given: Given) -> tuple[ReportInputs, ReportDocument]:
        """Read the fleet of the control plane, which is by default that of the job."""
        control_plane = given.get("control-plane") or repository_of_job()
        given = {**given, "control-plane": github_place(control_plane)}
        inputs = checked_inputs(ReportInputs, given)
        with ProgressDisplay(stderr, "rendering") as progress:
            runtime = make_runtime(progress.of("reading"), sys.stderr, log=log_line)
            context = local_context(
                progress,
                now=inputs.now,
                control_plane=control_plane,
                environment=runtime.environment,
            )
            pipeline = partial(read_pipeline, inputs.control_plane, runtime)
            return inputs, run_report(inputs, context, datetime.now(UTC), pipeline)

    def echo(self, given: Given) -> Mapping[str, Any]:
        """Return the title."""
        return {"title": given.get("title", "")}

    def exit_code(self, inputs: ReportInputs, document: ReportDocument) -> int:
        """Return 1 for problems of the environments."""
        del inputs
        levels = {each.level for entry in document.environments for each in entry.findings}
        return 1 if "error" in levels else 0

    def print(self, inputs: ReportInputs, document: ReportDocument) -> None:
        """Print the document, without the texts of the page."""
        if inputs.output == "json":
            print_json(document.model_copy(update={"texts": ()}))
        else:
            self.show(inputs, document)

    def show(self, inputs: ReportInputs, document: ReportDocument) -> None:
        """Print numbers, and to standard error the findings."""
        findings = [finding for each in document.environments for finding in each.findings]
        shown = (each for each in findings if inputs.verbose or each.level == "error")
        print_findings(stderr(), shown, files_at_hand(inputs.source))
        number = counted(len(document.assignments), "assignment")
        environments = counted(len(document.environments), "environment")
        typer.echo(f"{number} of {environments}: {finding_counts(findings)}")
        for each in document.pipeline.problems:
            typer.echo(f"the pipeline is not known: {each.message}")
        typer.echo(f"written to {inputs.out / 'index.html'}")
