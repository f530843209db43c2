"""The commands that look at a control plane on GitHub: doctor, status, clusters, …."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from functools import partial
from typing import ClassVar, NoReturn

import typer
from rich.live import Live

from kalypso_actions.cli.command import Command, DocumentT, Given, join_names
from kalypso_actions.cli.local import github_place, local_context
from kalypso_actions.cli.runtime import Model, github_inputs, run_in_job
from kalypso_actions.cli.streams import stderr, stdout
from kalypso_actions.commands.registry import COMMANDS
from kalypso_actions.commands.shared.context import Runtime, open_context
from kalypso_actions.commands.shared.run import with_commit_id
from kalypso_actions.commands.status import watch
from kalypso_actions.doctor_rules.probe import BRANCH_PREFIX
from kalypso_actions.errors import UsageError
from kalypso_actions.inputs.app import AppStatusInputs
from kalypso_actions.inputs.chain import (
    CheckPagesInputs,
    ClustersInputs,
    DeliveryFigureInputs,
    DoctorInputs,
    DriftInputs,
    HistoryInputs,
    HoldInputs,
    HubFileInputs,
    HubLoadInputs,
    HubServeInputs,
    ReleaseInputs,
    RollbackInputs,
    StatusInputs,
    WhereInputs,
)
from kalypso_actions.inputs.local import DiffInputs
from kalypso_actions.inputs.reading import checked_inputs
from kalypso_actions.model.counts import counted
from kalypso_actions.report.app_status_document import AppStatusDocument, print_app_status
from kalypso_actions.report.chain_document import DRY_RUN
from kalypso_actions.report.clusters_document import ClustersDocument, print_clusters
from kalypso_actions.report.comparison_entries import ComparisonEntry
from kalypso_actions.report.delivery_document import DeliveryDocument, print_delivery
from kalypso_actions.report.diff_document import DiffDocument, DiffSideEntry, diff_report
from kalypso_actions.report.doctor_document import DoctorDocument, print_checks
from kalypso_actions.report.drift_document import DriftDocument, print_drift
from kalypso_actions.report.history_document import HistoryDocument, print_history
from kalypso_actions.report.hold_document import HoldDocument, print_hold
from kalypso_actions.report.hub_document import HubDocument, print_hub
from kalypso_actions.report.report_document import CheckPagesDocument
from kalypso_actions.report.rollback_document import RollbackDocument
from kalypso_actions.report.status_document import StatusDocument, pipeline, print_status
from kalypso_actions.report.terminal import ProgressDisplay, print_findings, print_line
from kalypso_actions.report.where_document import WhereDocument, print_where
from kalypso_actions.runner import read_job_context


class GitHubCommand(Command[Model, DocumentT]):
    """A command whose inputs are those of an action."""

    doing = "reading"
    """What the display of the progress says."""

    def compute(self, given: Given) -> DocumentT:
        """Check the inputs, and return their document. Raises KalypsoError."""
        options = {key: given[key] for key in given if key not in {"verbose", "debug"}}
        with ProgressDisplay(stderr, self.doing) as progress:
            self.inputs, runtime = github_inputs(self.model, options, progress.update)
            return self.run_with(runtime, progress)

    def run_with(self, runtime: Runtime, progress: ProgressDisplay) -> DocumentT:
        """Return the document. Raises KalypsoError."""
        del progress
        with open_context(self.inputs, runtime) as context:
            document: DocumentT = self.call(self.inputs, context)
            return document


class DoctorCommand(GitHubCommand[DoctorInputs, DoctorDocument]):
    """`kalypso doctor`."""

    model, document, place = DoctorInputs, DoctorDocument, "doctor:doctor"
    echoed: ClassVar = {"control_plane": "control-plane"}
    doing = "checking"
    shown = False

    def run_with(self, runtime: Runtime, progress: ProgressDisplay) -> DoctorDocument:
        """Check, and probe if the person agrees."""
        inputs = self.inputs
        has_consent = inputs.yes or inputs.dry_run or not inputs.probe
        if not has_consent and (inputs.output == "json" or not sys.stdin.isatty()):
            reason = "the output is JSON" if inputs.output == "json" else "there is no terminal"
            message = f"doctor cannot ask whether to probe: {reason}"
            raise UsageError(message, advice="agree with --yes")

        def consent(checks: DoctorDocument, repositories: Sequence[str]) -> bool:
            progress.stop()
            if inputs.output == "text":
                self.shown = True
                print_checks(stdout(), checks.checks)
            return inputs.yes or typer.confirm(_question(repositories), err=True)

        document: DoctorDocument = self.call(inputs, runtime, consent=consent)
        return document

    def exit_code(self, document: DoctorDocument) -> int:
        """Return 1 for failed checks."""
        return 1 if document.fails else 0

    def show(self, document: DoctorDocument) -> None:
        """Print the checks, unless the question showed them, and the probe."""
        if not self.shown:
            print_checks(stdout(), document.checks)
        if document.probe:
            stdout().print("\n[bold]The probe[/bold]\n")
            print_checks(stdout(), document.probe)
        for entry in document.writes:
            print_line(stdout(), f"Would {entry.line}")
        if document.writes:
            print_line(stdout(), f"{DRY_RUN}.")


def _question(repositories: Sequence[str]) -> str:
    names = "".join(f"  {name}\n" for name in repositories)
    return (
        f"\nThe probe tries what GitHub accepts. In each of these repositories:\n\n{names}\n"
        f"it pushes two branches {BRANCH_PREFIX}…, opens a pull request between them, labels it,\n"
        "comments on it, posts a status and merges it. No workflow of Kalypso starts. At the end\n"
        "it deletes the branches; the closed pull requests remain.\n\nProbe?"
    )


class StatusCommand(GitHubCommand[StatusInputs, StatusDocument]):
    """`kalypso status`."""

    model, document, place = StatusInputs, StatusDocument, "status:status"
    echoed: ClassVar = {"control_plane": "control-plane"}
    printer = print_status

    def run_with(self, runtime: Runtime, progress: ProgressDisplay) -> StatusDocument:
        """Read the pipeline; with --watch, until Ctrl-C."""
        if self.inputs.watch and self.inputs.output == "json":
            raise UsageError("--watch is for people: it prints text only")
        if self.inputs.watch:
            progress.stop()
            with Live(console=stdout(), auto_refresh=False) as live:
                watch(
                    self.inputs, runtime, lambda shown: live.update(pipeline(shown), refresh=True)
                )
        return super().run_with(runtime, progress)

    def exit_code(self, document: StatusDocument) -> int:
        """Return 1 for problems of environments."""
        return 1 if any(entry.problems for entry in document.environments) else 0


class HistoryCommand(GitHubCommand[HistoryInputs, HistoryDocument]):
    """`kalypso history`."""

    model, document, place = HistoryInputs, HistoryDocument, "history:history"
    echoed: ClassVar = {"control_plane": "control-plane", "name": "name"}
    printer = print_history


class AppStatusCommand(GitHubCommand[AppStatusInputs, AppStatusDocument]):
    """`kalypso app status`."""

    model, document, place = AppStatusInputs, AppStatusDocument, "app.status:app_status"
    echoed: ClassVar = {"source": "source-repository"}
    printer = print_app_status


class ClustersCommand(GitHubCommand[ClustersInputs, ClustersDocument]):
    """`kalypso clusters`."""

    model, document, place = ClustersInputs, ClustersDocument, "clusters:clusters"
    echoed: ClassVar = {"control_plane": "control-plane"}
    printer = print_clusters


class WhereCommand(GitHubCommand[WhereInputs, WhereDocument]):
    """`kalypso where`."""

    model, document, place = WhereInputs, WhereDocument, "where:where"
    echoed: ClassVar = {"name": "name"}
    printer = print_where


class DriftCommand(GitHubCommand[DriftInputs, DriftDocument]):
    """`kalypso drift`."""

    model, document, place = DriftInputs, DriftDocument, "drift:drift"
    printer = print_drift

    def exit_code(self, document: DriftDocument) -> int:
        """Return 1 for a kind of --fail-on."""
        return 1 if document.is_failing else 0


class DeliveryCommand(GitHubCommand[DeliveryFigureInputs, DeliveryDocument]):
    """`kalypso delivery`."""

    model, document, place = DeliveryFigureInputs, DeliveryDocument, "delivery:delivery"
    printer = print_delivery


class HubFileCommand(GitHubCommand[HubFileInputs, HubDocument]):
    """`kalypso hub file`."""

    model, document, place = HubFileInputs, HubDocument, "hub:hub_file"
    printer = print_hub


class HubLoadCommand(GitHubCommand[HubLoadInputs, HubDocument]):
    """`kalypso hub load`."""

    model, document, place = HubLoadInputs, HubDocument, "hub:hub_load"
    printer = print_hub


class HubServeCommand(GitHubCommand[HubServeInputs, HubDocument]):
    """`kalypso hub serve`."""

    model, document, place = HubServeInputs, HubDocument, "hub:hub_serve"

    def run_with(self, runtime: Runtime, progress: ProgressDisplay) -> HubDocument:
        """Serve until Ctrl-C."""
        progress.stop()
        return super().run_with(runtime, progress)

    def print(self, document: HubDocument) -> None:
        """Print nothing at the end."""


class HoldCommand(GitHubCommand[HoldInputs, HoldDocument]):
    """`kalypso hold`."""

    model, document, place = HoldInputs, HoldDocument, "hold:hold"
    echoed: ClassVar = {"environment": "environment"}
    printer = print_hold


class ReleaseCommand(GitHubCommand[ReleaseInputs, HoldDocument]):
    """`kalypso release`."""

    model, document, place = ReleaseInputs, HoldDocument, "hold:release"
    echoed: ClassVar = {"environment": "environment"}
    printer = partial(print_hold, releases=True)


class RollbackCommand(GitHubCommand[RollbackInputs, RollbackDocument]):
    """`kalypso rollback`: in a job it goes back; at a terminal it starts and follows that job."""

    model, document, place = RollbackInputs, RollbackDocument, "rollback:start_rollback"
    echoed: ClassVar = {"environment": "environment"}

    def __call__(self, given: Given) -> NoReturn:
        """Run the command with its options, and exit."""
        if read_job_context(os.environ).in_actions:
            join_names(given)
            raise typer.Exit(run_in_job(COMMANDS["rollback"], given))
        super().__call__(given)

    def run_with(self, runtime: Runtime, progress: ProgressDisplay) -> RollbackDocument:
        """Start the job and follow it, or show what it would do."""
        # The other commands of this module do not wait for these imports.
        from kalypso_actions.commands.diff import diff  # noqa: PLC0415
        from kalypso_actions.commands.rollback import show_rollback  # noqa: PLC0415

        with open_context(self.inputs, runtime) as context:
            self.inputs = with_commit_id(self.inputs, context)
            if not self.inputs.dry_run:
                document: RollbackDocument = self.call(self.inputs, context)
                return document

            def compare(environment: str, left: str, target: str) -> ComparisonEntry:
                name, variables = context.control_plane, dict(runtime.environment)
                if self.inputs.app_id:  # its key is in the environment
                    variables["KALYPSO_APP_ID"] = self.inputs.app_id
                plane = local_context(progress, control_plane=name, environment=variables)
                given: Given = {"environments": [environment], "from": left, "to": target}
                given["control-plane"] = github_place(name)
                return diff(checked_inputs(DiffInputs, given), plane).comparison

            return show_rollback(self.inputs, context, compare)

    def show(self, document: RollbackDocument) -> None:
        """Print the result, with the differences of a dry run, and the findings."""
        entries = document.environments
        if document.problems:  # a dry run has logged the headline
            entries = ()
            if not self.inputs.dry_run:
                print_line(stdout(), document.headline)
        for entry in entries:
            print_line(stdout(), entry.headline)
            if entry.hold and self.inputs.dry_run:
                print_line(stdout(), f"{entry.environment} would be {entry.hold.line}")
            if entry.changes:
                sides = [
                    DiffSideEntry(environment=entry.environment, commit=commit)
                    for commit in (entry.left, entry.commit)
                ]
                compared = DiffDocument(base=sides[0], head=sides[1], comparison=entry.changes)
                for line in diff_report(stdout(), compared, stat=not self.inputs.verbose):
                    stdout().print(line, highlight=False)
        if document.next_step and not self.inputs.dry_run:
            print_line(stdout(), document.next_step)
        print_findings(stderr(), document.findings)


class CheckPagesCommand(GitHubCommand[CheckPagesInputs, CheckPagesDocument]):
    """`kalypso check-pages`."""

    model, document, place = CheckPagesInputs, CheckPagesDocument, "check_pages:check_pages"

    def show(self, document: CheckPagesDocument) -> None:
        """Print the verdict, and to standard error the findings."""
        print_findings(stderr(), document.findings)
        number = counted(len(document.repositories), "repository", "repositories")
        verdict = "must not" if document.problems else "may"
        typer.echo(f"the site {verdict} show the report of {number}")
