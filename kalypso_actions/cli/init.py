"""The commands init, app init and app register."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from typing import ClassVar, TypeVar, get_args

import typer

from kalypso_actions.cli.command import Command, Given
from kalypso_actions.cli.runtime import make_runtime
from kalypso_actions.cli.streams import stderr, stdout
from kalypso_actions.commands.init import given_consent
from kalypso_actions.commands.init.repositories import check_token
from kalypso_actions.errors import UsageError
from kalypso_actions.inputs.local import (
    AppInitInputs,
    AppRegisterInputs,
    DemoClusterReports,
    InitInputs,
    OnboardingInputs,
)
from kalypso_actions.inputs.reading import checked_inputs, input_from_environment
from kalypso_actions.model.counts import counted
from kalypso_actions.model.processes import no_progress
from kalypso_actions.onboarding.branches import Consent
from kalypso_actions.report.init_document import (
    AppInitDocument,
    AppRegisterDocument,
    InitDocument,
    OnboardingDocument,
    print_preview,
    print_registration,
    print_remaining,
    print_result,
)
from kalypso_actions.report.terminal import print_findings

Ask = Callable[[str], bool]
OnboardingModel = TypeVar("OnboardingModel", bound=OnboardingInputs)
OnboardingDocumentT = TypeVar("OnboardingDocumentT", bound=OnboardingDocument)


class OnboardingCommand(Command[OnboardingModel, OnboardingDocumentT]):
    """A command that shows the changes of repositories, and writes them with consent."""

    in_clones = False

    def ask_for_missing(self, given: Given) -> None:
        """Ask for the inputs that the options do not give."""

    def compute(self, given: Given) -> OnboardingDocumentT:
        """Ask for what is missing, show the changes, and write them with consent."""
        _check_consent_possible(given, self.model)
        given["token"] = input_from_environment("token", os.environ)
        if _is_interactive(given):
            self.ask_for_missing(given)
        self.inputs = checked_inputs(self.model, given)
        runtime = make_runtime(no_progress, sys.stderr, log=lambda _: None)
        document: OnboardingDocumentT = self.call(self.inputs, runtime, _decision(self.inputs))
        return document

    def exit_code(self, document: OnboardingDocumentT) -> int:
        """Return 1 if the person did not consent to changes."""
        inputs = self.inputs
        asks = _is_interactive(
            {"yes": inputs.yes, "dry-run": inputs.dry_run, "output": inputs.output}
        )
        has_changes = any(branch.files for branch in document.branches)
        return 1 if asks and has_changes and not document.written else 0

    def show(self, document: OnboardingDocumentT) -> None:
        """Print what was written, and the tasks that are left."""
        print_result(stdout(), document, in_clones=self.in_clones)
        print_remaining(stdout(), document.remaining)
        print_findings(stderr(), document.findings)


class InitCommand(OnboardingCommand[InitInputs, InitDocument]):
    """`kalypso init`."""

    model, document, place = InitInputs, InitDocument, "init:init"
    echoed: ClassVar = {"control_plane": "control-plane", "gitops": "gitops"}

    def ask_for_missing(self, given: Given) -> None:
        """Ask for the repositories, and where the clusters report."""
        _ask_for_missing(given)

    def show(self, document: InitDocument) -> None:
        """Print what was written, also to clones."""
        self.in_clones = self.inputs.in_clones
        super().show(document)


class AppInitCommand(OnboardingCommand[AppInitInputs, AppInitDocument]):
    """`kalypso app init`."""

    model, document, place = AppInitInputs, AppInitDocument, "app.init:app_init"
    echoed: ClassVar = {
        "source": "source-repository",
        "configs": "configs-repository",
        "gitops": "gitops-repository",
    }


class AppRegisterCommand(Command[AppRegisterInputs, AppRegisterDocument]):
    """`kalypso app register`."""

    model, document, place = AppRegisterInputs, AppRegisterDocument, "app.init:app_register"
    printer = print_registration

    def run(self) -> AppRegisterDocument:
        """Return the registration."""
        document: AppRegisterDocument = self.call(self.inputs, dict(os.environ))
        return document


def _is_interactive(given: Given) -> bool:
    return not (given.get("yes") or given.get("dry-run")) and given["output"] == "text"


def _check_consent_possible(given: Given, model: type[OnboardingInputs]) -> None:
    if given.get("yes") or given.get("dry-run"):
        return
    if given["output"] == "json" or not is_terminal():
        reason = "the output is JSON" if given["output"] == "json" else "there is no terminal"
        if model is not InitInputs or _names_repositories(given):
            question, advice = "ask for consent", ""
        else:
            question = "ask which repositories to set up"
            advice = "name them with --control-plane OWNER/NAME and --gitops OWNER/NAME, and "
        raise UsageError(
            f"init cannot {question}: {reason}",
            advice=f"{advice}agree with --yes, or preview with --dry-run",
        )


def _names_repositories(given: Given) -> bool:
    return bool(
        given.get("control-plane-dir")
        or given.get("gitops-dir")
        or (given.get("control-plane") and given.get("gitops"))
    )


def is_terminal() -> bool:
    """Whether a person can answer questions."""
    return sys.stdin.isatty()


def _ask_for_missing(given: Given) -> None:
    """Ask for the names that the options do not give."""
    if _names_repositories(given):
        return
    check_token(given["token"])
    for name, question in (
        ("control-plane", "Control plane (OWNER/NAME)"),
        ("gitops", "GitOps repository (OWNER/NAME)"),
    ):
        given[name] = given.get(name) or typer.prompt(question, err=True)
    if not given.get("cluster-reports"):
        sources = ", ".join([*get_args(DemoClusterReports), "none"])
        question = f"Where do the clusters report ({sources})"
        given["cluster-reports"] = typer.prompt(question, default="none", err=True)
    if given["cluster-reports"] != "none" and not given.get("clusters"):
        given["clusters"] = typer.prompt(
            "Clusters (ENVIRONMENT=NAME, …; empty: none yet)", default="", err=True
        )


def _decision(inputs: OnboardingInputs) -> Callable[[OnboardingDocument], Consent | None]:
    """Return a function that shows the preview and asks for consent."""
    agreed = given_consent(inputs)

    def decide(preview: OnboardingDocument) -> Consent | None:
        if inputs.output == "text":
            print_preview(stdout(), preview)
        if inputs.dry_run or not any(branch.files for branch in preview.branches):
            return None
        if inputs.yes:
            return agreed
        return _ask_consent(preview, agreed, lambda question: typer.confirm(question, err=True))

    return decide


def _ask_consent(preview: OnboardingDocument, agreed: Consent, ask: Ask) -> Consent | None:
    """Ask for consent to the changes, except those that options have `agreed` to."""
    actions = [file.action for branch in preview.branches for file in branch.files]
    updates, deletions = actions.count("update"), actions.count("delete")
    consent = Consent(
        agreed.update_workflows
        or (updates > 0 and ask(f"Overwrite the workflow files that differ ({updates})?")),
        agreed.delete_upstream_workflows
        or (deletions > 0 and ask(f"Delete upstream's unused workflow files ({deletions})?")),
    )
    files = [
        file for branch in preview.branches for file in branch.files if consent.covers(file.action)
    ]
    if not files or not ask(f"Write this ({counted(len(files), 'file')})?"):
        return None
    return consent
