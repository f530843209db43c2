"""The commands that look at a control plane on GitHub: doctor, status and check-pages."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from typing import Any

import typer
from rich.live import Live

from kalypso_actions.cli.command import Command, DocumentT, Given
from kalypso_actions.cli.github_inputs import Model, github_inputs
from kalypso_actions.cli.streams import stderr, stdout
from kalypso_actions.commands.check_pages import check_pages as run_check_pages
from kalypso_actions.commands.doctor import doctor as run_doctor
from kalypso_actions.commands.shared.context import Runtime, open_context
from kalypso_actions.commands.status import status as read_status
from kalypso_actions.commands.status import watch
from kalypso_actions.doctor_rules.probe import BRANCH_PREFIX
from kalypso_actions.errors import UsageError
from kalypso_actions.inputs.check_pages import CheckPagesInputs
from kalypso_actions.inputs.doctor import DoctorInputs
from kalypso_actions.inputs.status import StatusInputs
from kalypso_actions.model.counts import counted
from kalypso_actions.report.chain_document import DRY_RUN
from kalypso_actions.report.doctor_document import DoctorDocument, print_checks
from kalypso_actions.report.report_document import CheckPagesDocument
from kalypso_actions.report.status_document import StatusDocument, pipeline, print_status
from kalypso_actions.report.terminal import ProgressDisplay, print_findings, print_line


class GitHubCommand(Command[Model, DocumentT]):
    """A command whose inputs are those of an action."""

    doing = "reading"
    """What the display of the progress says."""

    def compute(self, given: Given) -> tuple[Model, DocumentT]:
        """Return the checked inputs, and their document. Raises KalypsoError."""
        options = {key: given[key] for key in given if key != "verbose"}
        with ProgressDisplay(stderr, self.doing) as progress:
            inputs, runtime = github_inputs(self.model, options, progress.update)
            return inputs, self.compute_with(inputs, runtime, progress)

    def compute_with(self, inputs: Model, runtime: Runtime, progress: ProgressDisplay) -> DocumentT:
        """Return the document; each command defines it. Raises KalypsoError."""
        raise NotImplementedError


class Doctor(GitHubCommand[DoctorInputs, DoctorDocument]):
    """Check the set-up of a control plane and its GitOps repositories.

    Checks branches, workflow files, names of secrets and variables, permissions
    of the GitHub App, rules of branches, approvals, registrations, rendering, and
    the answers of Azure. Writes nothing without --probe. The token (KALYPSO_TOKEN,
    GH_TOKEN or GITHUB_TOKEN) must be one that can read the repositories' settings.
    With KALYPSO_APP_ID and KALYPSO_APP_PRIVATE_KEY, the App is checked, too, and
    the probe uses it. In a clone of the control plane, --control-plane is not
    needed.
    """

    model, document = DoctorInputs, DoctorDocument
    doing = "checking"

    def __init__(self) -> None:
        self._shown = False

    def compute_with(
        self, inputs: DoctorInputs, runtime: Runtime, progress: ProgressDisplay
    ) -> DoctorDocument:
        """Check, and probe if the person agrees."""
        if inputs.probe and not (inputs.yes or inputs.dry_run):
            _check_consent_possible(inputs.output)

        def consent(checks: DoctorDocument, repositories: Sequence[str]) -> bool:
            progress.stop()
            if inputs.output == "text":
                self._shown = True
                print_checks(stdout(), checks.checks)
            return inputs.yes or typer.confirm(_question(repositories), err=True)

        return run_doctor(inputs, runtime, consent=consent)

    def echo(self, given: Given) -> Mapping[str, Any]:
        """Return the control plane."""
        return {"control_plane": given.get("control-plane", "")}

    def exit_code(self, inputs: DoctorInputs, document: DoctorDocument) -> int:
        """Return 1 for failed checks."""
        del inputs
        return 1 if document.fails else 0

    def show(self, inputs: DoctorInputs, document: DoctorDocument) -> None:
        """Print the checks, unless the question showed them, and the probe."""
        del inputs
        if not self._shown:
            print_checks(stdout(), document.checks)
        if document.probe:
            stdout().print("\n[bold]The probe[/bold]\n")
            print_checks(stdout(), document.probe)
        for entry in document.writes:
            print_line(stdout(), f"Would {entry.line}")
        if document.writes:
            print_line(stdout(), f"{DRY_RUN}.")


def _check_consent_possible(output: str) -> None:
    if output == "json" or not sys.stdin.isatty():
        reason = "the output is JSON" if output == "json" else "there is no terminal"
        raise UsageError(f"doctor cannot ask whether to probe: {reason}", advice="agree with --yes")


def _question(repositories: Sequence[str]) -> str:
    names = "".join(f"  {name}\n" for name in repositories)
    return (
        f"\nThe probe tries what GitHub accepts. In each of these repositories:\n\n{names}\n"
        f"it pushes two branches {BRANCH_PREFIX}…, opens a pull request between them, labels it,\n"
        "comments on it, posts a status and merges it. No workflow of Kalypso starts. At the end\n"
        "it deletes the branches; the closed pull requests remain.\n\nProbe?"
    )


class Status(GitHubCommand[StatusInputs, StatusDocument]):
    """Show the pipeline: what each environment has, its state, and what waits for whom.

    From GitHub's statuses, branches, pull requests and issues; --clusters also
    asks the cluster reports. The token (KALYPSO_TOKEN, GH_TOKEN or GITHUB_TOKEN)
    needs contents, statuses, pull requests and issues: read. In a clone of the
    control plane, --control-plane is not needed.
    """

    model, document = StatusInputs, StatusDocument

    def compute_with(
        self, inputs: StatusInputs, runtime: Runtime, progress: ProgressDisplay
    ) -> StatusDocument:
        """Read the pipeline; with --watch, until Ctrl-C."""
        if inputs.watch and inputs.output == "json":
            raise UsageError("--watch is for people: it prints text only")
        if inputs.watch:
            progress.stop()
            with Live(console=stdout(), auto_refresh=False) as live:
                watch(inputs, runtime, lambda shown: live.update(pipeline(shown), refresh=True))
        with open_context(inputs, runtime) as context:
            return read_status(inputs, context)

    def echo(self, given: Given) -> Mapping[str, Any]:
        """Return the control plane."""
        return {"control_plane": given.get("control-plane", "")}

    def exit_code(self, inputs: StatusInputs, document: StatusDocument) -> int:
        """Return 1 for problems of environments."""
        del inputs
        return 1 if any(entry.problems for entry in document.environments) else 0

    def show(self, inputs: StatusInputs, document: StatusDocument) -> None:
        """Print the pipeline."""
        del inputs
        print_status(stdout(), document)


class CheckPages(GitHubCommand[CheckPagesInputs, CheckPagesDocument]):
    """Stop a job before it publishes a report to people who may not see all of it.

    Asks GitHub who may read the site of GitHub Pages, the control plane, and
    each repository that the report shows. What GitHub does not tell counts as
    the worst case. The token needs pages: read, and nothing for public
    repositories.
    """

    model, document = CheckPagesInputs, CheckPagesDocument

    def compute_with(
        self, inputs: CheckPagesInputs, runtime: Runtime, progress: ProgressDisplay
    ) -> CheckPagesDocument:
        """Ask GitHub."""
        del progress
        with open_context(inputs, runtime) as context:
            return run_check_pages(inputs, context)

    def show(self, inputs: CheckPagesInputs, document: CheckPagesDocument) -> None:
        """Print the verdict, and to standard error the findings."""
        del inputs
        print_findings(stderr(), document.findings)
        number = counted(len(document.repositories), "repository", "repositories")
        verdict = "must not" if document.problems else "may"
        typer.echo(f"the site {verdict} show the report of {number}")
