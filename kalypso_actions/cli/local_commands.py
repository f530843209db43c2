"""The commands that read a control plane on this machine, each with the printer of its document."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import ClassVar, NoReturn

import typer

from kalypso_actions.cli.command import Command, Given
from kalypso_actions.cli.local import (
    LocalCommand,
    ReportedCommand,
    files_at_hand,
    github_place,
    local_context,
    repository_of_job,
    with_workflow_options,
)
from kalypso_actions.cli.streams import (
    log_line,
    print_json,
    report_error,
    show_paged,
    stderr,
    stdout,
)
from kalypso_actions.clients.git import enclosing_clone
from kalypso_actions.commands.registry import COMMANDS
from kalypso_actions.commands.shared.local_context import LocalContext
from kalypso_actions.errors import KalypsoError, UsageError
from kalypso_actions.inputs.app import AppRenderInputs
from kalypso_actions.inputs.chain import ClusterSources, PreviewInputs, ValidateWorkloadInputs
from kalypso_actions.inputs.local import (
    DiffInputs,
    ExplainInputs,
    RenderInputs,
    ReportInputs,
    ValidateInputs,
)
from kalypso_actions.inputs.paths import PathAtBranch
from kalypso_actions.inputs.reading import (
    ACTION_INPUTS,
    action_inputs,
    checked_inputs,
    input_from_environment,
)
from kalypso_actions.inputs.values import kebab
from kalypso_actions.model.counts import counted
from kalypso_actions.report.diff_document import DiffDocument, diff_report, shown_diffs
from kalypso_actions.report.documents import finding_counts
from kalypso_actions.report.explain_document import ExplainDocument, ExplainReport
from kalypso_actions.report.preview_document import PreviewDocument
from kalypso_actions.report.preview_text import preview_lines, print_preview_findings
from kalypso_actions.report.render_document import (
    AppRenderDocument,
    RenderDocument,
    print_app_render,
    print_render,
    print_render_findings,
    render_summary,
)
from kalypso_actions.report.report_document import ReportDocument
from kalypso_actions.report.terminal import ProgressDisplay, print_findings
from kalypso_actions.report.validate_document import (
    ValidateDocument,
    print_validate,
    validate_outputs,
    validate_summary,
)
from kalypso_actions.runner import Runner, read_job_context


class RenderCommand(ReportedCommand[RenderInputs, RenderDocument]):
    """`kalypso render`."""

    model, document, place = RenderInputs, RenderDocument, "render:render"
    echoed: ClassVar = {"environment": "environment"}

    def summary(self, document: RenderDocument) -> str:
        """Return the step summary."""
        return render_summary(document)

    def exit_code(self, document: RenderDocument) -> int:
        """Return 1 for problems, and with --exit-code for differences."""
        return 1 if document.failed or (self.inputs.exit_code and document.diffs) else 0

    def show(self, document: RenderDocument) -> None:
        """Print the tree, or its differences, and the findings."""
        inputs, files = self.inputs, files_at_hand(self.inputs.source)
        with_notes = inputs.notes or inputs.verbose
        if inputs.diff or inputs.stat:
            console = stdout()
            if document.compared:
                diffs = shown_diffs(console, document.diffs, stat=inputs.stat, lines=inputs.diff)
                show_paged(console, diffs)
            print_render_findings(stderr(), document, files, with_notes=with_notes)
        else:
            print_render(stdout(), document, files, with_notes=with_notes)
        if document.failed:
            return
        if inputs.out:
            typer.echo(f"written to {inputs.out}")
        if inputs.commit_to:
            commit = document.commit
            typer.echo(f"committed as {commit}" if commit else "nothing to commit")


class AppRenderCommand(LocalCommand[AppRenderInputs, AppRenderDocument]):
    """`kalypso app render`."""

    model, document, place = AppRenderInputs, AppRenderDocument, "app.render:app_render"
    echoed: ClassVar = {"environment": "environment"}

    def compute(self, given: Given) -> AppRenderDocument:
        """Take the credentials from the environment. Raises KalypsoError."""
        credentials = input_from_environment("chart-credentials", os.environ)
        return super().compute({"chart-credentials": credentials, **given})

    def run_in(self, context: LocalContext) -> AppRenderDocument:
        """Render."""
        document: AppRenderDocument = self.call(self.inputs, context, partial(datetime.now, UTC))
        return document

    def show(self, document: AppRenderDocument) -> None:
        """Print the tree and the findings."""
        print_app_render(stdout(), document, files_at_hand(), verbose=self.inputs.verbose)
        if self.inputs.out and not document.problems:
            typer.echo(f"written to {self.inputs.out}")


class DiffCommand(LocalCommand[DiffInputs, DiffDocument]):
    """`kalypso diff`."""

    model, document, place = DiffInputs, DiffDocument, "diff:diff"

    def exit_code(self, document: DiffDocument) -> int:
        """Return 1 for new problems, and with --exit-code for differences."""
        new = document.problems or document.comparison.problems
        return 1 if new or (self.inputs.exit_code and document.differs) else 0

    def show(self, document: DiffDocument) -> None:
        """Print the differences, and to standard error the newer side's problems, no secrets."""
        show_paged(stdout(), diff_report(stdout(), document, stat=self.inputs.stat))
        findings = document.comparison.findings
        print_findings(stderr(), findings, files_at_hand(), with_lines=False)
        if findings:
            stderr().print(f"new: {finding_counts(findings)}")


class ExplainCommand(LocalCommand[ExplainInputs, ExplainDocument]):
    """`kalypso explain`."""

    model, document, place = ExplainInputs, ExplainDocument, "explain:explain"
    echoed: ClassVar = {"environment": "environment"}
    doing = "reading"

    def show(self, document: ExplainDocument) -> None:
        """Print the explanation, and to standard error the findings."""
        files = files_at_hand(self.inputs.source)
        show_paged(stdout(), ExplainReport(stdout(), document, files).lines())
        findings, verbose = document.findings, self.inputs.verbose
        shown = (each for each in findings if verbose or each.level == "error")
        print_findings(stderr(), shown, files)
        if findings:
            hidden = ": --verbose shows them" if document.warnings and not verbose else ""
            stderr().print(f"{finding_counts(findings)}{hidden}")


class PreviewCommand(LocalCommand[PreviewInputs, PreviewDocument]):
    """`kalypso preview`: in a job as part of the chain, on a person's machine in a clone."""

    model, document, place = PreviewInputs, PreviewDocument, "preview:preview_clone"

    def __call__(self, given: Given) -> NoReturn:
        """Run the command with its options, and exit."""
        if read_job_context(os.environ).in_actions:
            # A run in a clone does not wait for the imports of GitHub's client.
            from kalypso_actions.cli.runtime import run_in_job  # noqa: PLC0415

            raise typer.Exit(run_in_job(COMMANDS["preview"], given))
        super().__call__(given)

    def show(self, document: PreviewDocument) -> None:
        """Print the differences and the findings."""
        console = stdout()
        show_paged(console, preview_lines(console, document, diffs=self.inputs.verbose))
        print_preview_findings(console, document, files_at_hand())


class ReportCommand(Command[ReportInputs, ReportDocument]):
    """`kalypso report`."""

    model, document, place = ReportInputs, ReportDocument, "report:report"
    echoed: ClassVar = {"title": "title"}

    def compute(self, given: Given) -> ReportDocument:
        """Read the fleet of the control plane, which is by default that of the job."""
        # Few commands connect to GitHub, but all would wait for its client.
        from kalypso_actions.cli.runtime import make_runtime  # noqa: PLC0415
        from kalypso_actions.commands.report import read_observed, read_pipeline  # noqa: PLC0415

        control_plane = given.get("control-plane") or repository_of_job()
        given = {**given, "control-plane": github_place(control_plane)}
        self.inputs = checked_inputs(ReportInputs, given)
        with ProgressDisplay(stderr, "rendering") as progress:
            runtime = make_runtime(progress.of("reading"), sys.stderr, log=log_line)
            context = local_context(
                progress,
                now=self.inputs.now,
                control_plane=control_plane,
                environment=runtime.environment,
            )
            self.inputs = with_workflow_options(self.inputs, given, context)
            names = map(kebab, ("clusters", *ClusterSources.__annotations__))
            asked = {name: given[name] for name in names if name in given}
            pipeline = partial(read_pipeline, self.inputs.control_plane, runtime, asked)
            observed = None
            if self.inputs.record:
                observed = partial(read_observed, self.inputs, self.inputs.control_plane, runtime)
            document: ReportDocument = self.call(
                self.inputs, context, datetime.now(UTC), pipeline, observed
            )
            return document

    def exit_code(self, document: ReportDocument) -> int:
        """Return 1 for problems."""
        return 1 if any(each.level == "error" for each in document.every_finding) else 0

    def print(self, document: ReportDocument) -> None:
        """Print the document, without the texts of the page."""
        if self.inputs.output == "json":
            print_json(document.model_copy(update={"texts": ()}))
        else:
            self.show(document)

    def show(self, document: ReportDocument) -> None:
        """Print numbers, and to standard error the findings."""
        findings = document.every_finding
        shown = (each for each in findings if self.inputs.verbose or each.level == "error")
        print_findings(stderr(), shown, files_at_hand(self.inputs.source))
        number = counted(len(document.assignments), "assignment")
        environments = counted(len(document.environments), "environment")
        typer.echo(f"{number} of {environments}: {finding_counts(findings)}")
        for each in document.pipeline.problems:
            known = "fully " if document.pipeline.environments else ""
            typer.echo(f"the pipeline is not {known}known: {each.message}")
        for line in document.observed.left_out if document.observed else ():
            typer.echo(line)
        typer.echo(f"written to {self.inputs.out / 'index.html'}")


class ValidateCommand(ReportedCommand[ValidateInputs, ValidateDocument]):
    """`kalypso validate`, and the action validate-workload."""

    model, document, place = ValidateInputs, ValidateDocument, "validate:validate"
    doing = "validating"

    def __call__(self, given: Given) -> NoReturn:
        """Run the command with its options, and exit; with --watch, at Ctrl-C."""
        if given.get("watch"):
            self._watch(given)
        super().__call__(given)

    def summary(self, document: ValidateDocument) -> str:
        """Return the step summary."""
        return validate_summary(document)

    def show(self, document: ValidateDocument) -> None:
        """Print the findings."""
        with_notes = self.inputs.notes or self.inputs.verbose
        files = files_at_hand(self.inputs.source)
        print_validate(stdout(), document, files, with_notes=with_notes)

    def _watch(self, given: Given) -> NoReturn:
        """Validate now, and whenever a file or branch that it reads changes; Ctrl-C ends it."""
        if given["output"] != "text":
            raise UsageError("--watch is for people: it prints text only")
        if given.get("control-plane"):
            raise UsageError("--watch follows the files of places, not a --control-plane")
        # Few runs watch, but every run would wait for this import.
        from kalypso_actions.clients.folder import FileWatch  # noqa: PLC0415

        self.log(calls=given.get("debug", False))
        files = FileWatch(_folders(checked_inputs(ValidateInputs, given)))
        while True:
            seen = files.state()
            if stdout().is_terminal:
                stdout().clear()
            try:
                self.print(self.compute_or_fail(dict(given)))
            except KalypsoError as error:
                report_error(error)
            stderr().print("waiting for a change; Ctrl-C ends", style="dim")
            files.wait(seen)


def _folders(inputs: ValidateInputs) -> Iterator[Path]:
    """Yield the folders on this machine to watch: those of the places, else the clone."""
    for place in inputs.places:
        path = PathAtBranch.parse(place).path
        if path.is_dir():
            yield path
    if not inputs.places:
        yield enclosing_clone(Path()) or Path()
    yield from (source.path for source in inputs.source)


def validate_workload() -> None:
    """Check the Workloads in the checkout of a job: the action of this name."""
    inputs = checked_inputs(ValidateWorkloadInputs, action_inputs(os.environ))
    os.environ.pop(ACTION_INPUTS, None)
    validate = ValidateCommand()
    document = validate.compute_or_fail(
        {
            "places": [inputs.path],
            "workload": True,
            "registration-text": inputs.registration_text,
            "strict": inputs.strict,
            "output": "text",
        }
    )
    validate.print(document)
    Runner(os.environ, sys.stdout).outputs(validate_outputs(document))
    raise typer.Exit(validate.exit_code(document))
